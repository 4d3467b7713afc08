"""celery on kombu's SQS transport: the thread pool, late acknowledgement, no results."""

import sys

import work
from celery import Celery

app = Celery("bench", broker="sqs://")
app.conf.update(
    task_default_queue="celery",
    task_acks_late=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=2,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    broker_transport_options={"predefined_queues": {"celery": {"url": work.QUEUE}}, "wait_time_seconds": 5},
)


@app.task(name="bench.task")
def task() -> None:
    work.handle()


if sys.argv[1:] == ["sample"]:
    task.delay()
else:
    options = ["--pool=threads", f"--concurrency={work.CONCURRENCY}", "--without-mingle", "--without-gossip"]
    app.worker_main(["worker", "--loglevel=ERROR", "--without-heartbeat", *options])
