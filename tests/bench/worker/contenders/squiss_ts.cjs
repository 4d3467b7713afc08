// squiss-ts: its own polling and batched deletes, bounded by maxInFlight.
const { Squiss } = require("squiss-ts");
const { SQS } = require("@aws-sdk/client-sqs");
const { nextTakesMs } = require("./work.cjs");

const sqs = new SQS({ endpoint: process.env.AWS_ENDPOINT_URL_SQS, region: "us-east-1" });
const squiss = new Squiss({
  SQS: sqs,
  queueUrl: process.env.BENCH_QUEUE,
  maxInFlight: Number(process.env.BENCH_CONCURRENCY),
  receiveWaitTimeSecs: 5,
});
squiss.on("message", (message) => {
  const ms = nextTakesMs();
  if (ms) setTimeout(() => message.del(), ms);
  else message.del();
});
squiss.start();
