"""dramatiq with dramatiq-sqs: one process, as many threads as the concurrency says."""

import sys
import threading

import dramatiq
import work
from dramatiq_sqs import SQSBroker

broker = SQSBroker(middleware=[], retention=345_600)  # what the queue has already
dramatiq.set_broker(broker)


@dramatiq.actor(queue_name="dramatiq")
def task() -> None:
    work.handle()


if sys.argv[1:] == ["sample"]:
    task.send()
else:
    worker = dramatiq.Worker(broker, worker_threads=work.CONCURRENCY)
    worker.start()
    threading.Event().wait()
