"""taskiq with taskiq-aio-sqs: its receiver in this process, async tasks."""

import asyncio
import os
import sys

import work
from taskiq.api import run_receiver_task
from taskiq_aio_sqs import SQSBroker

broker = SQSBroker(
    endpoint_url=os.environ["AWS_ENDPOINT_URL_SQS"],
    sqs_queue_name=work.QUEUE.rpartition("/")[2],
    max_number_of_messages=10,
    wait_time_seconds=5,
)


@broker.task(task_name="bench.task")
async def task() -> None:
    await work.handle_async()


async def main() -> None:
    await broker.startup()
    if sys.argv[1:] == ["sample"]:
        await task.kiq()
        await broker.shutdown()
    else:
        await run_receiver_task(broker, max_async_tasks=work.CONCURRENCY, run_startup=False)


asyncio.run(main())
