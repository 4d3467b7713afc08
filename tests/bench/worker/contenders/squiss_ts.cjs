// squiss-ts: its own polling and batched deletes, bounded by maxInFlight.
const { Squiss } = require("squiss-ts");
const { SQS } = require("@aws-sdk/client-sqs");

const takesMs = 1000 * Number(process.env.BENCH_TAKES_S);
const sqs = new SQS({ endpoint: process.env.AWS_ENDPOINT_URL_SQS, region: "us-east-1" });
const squiss = new Squiss({
  SQS: sqs,
  queueUrl: process.env.BENCH_QUEUE,
  maxInFlight: Number(process.env.BENCH_CONCURRENCY),
  receiveWaitTimeSecs: 5,
});
squiss.on("message", (message) => (takesMs ? setTimeout(() => message.del(), takesMs) : message.del()));
squiss.start();
