// sqs-consumer: ten at a time and their deletes together; as many consumers as fill the concurrency.
const { Consumer } = require("sqs-consumer");
const { SQSClient } = require("@aws-sdk/client-sqs");
const { nextTakesMs } = require("./work.cjs");

const sqs = new SQSClient({ endpoint: process.env.AWS_ENDPOINT_URL_SQS, region: "us-east-1" });
for (let n = 0; n < Math.max(1, Number(process.env.BENCH_CONCURRENCY) / 10); n++) {
  Consumer.create({
    queueUrl: process.env.BENCH_QUEUE,
    sqs,
    batchSize: 10,
    waitTimeSeconds: 5,
    useQueueUrlAsEndpoint: false,
    handleMessageBatch: async (messages) => {
      const waits = messages.map(nextTakesMs).filter((ms) => ms > 0);
      if (waits.length) await Promise.all(waits.map((ms) => new Promise((done) => setTimeout(done, ms))));
      return messages;
    },
  }).start();
}
