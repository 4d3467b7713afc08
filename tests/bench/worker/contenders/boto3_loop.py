"""The loop that everybody writes first: receive ten, handle them in threads, delete ten."""

import threading
from concurrent.futures import ThreadPoolExecutor

import boto3
import work
from botocore.config import Config


def loop(client, handlers: ThreadPoolExecutor) -> None:
    while True:
        answer = client.receive_message(QueueUrl=work.QUEUE, MaxNumberOfMessages=10, WaitTimeSeconds=5)
        messages = answer.get("Messages", [])
        list(handlers.map(lambda _: work.handle(), messages))
        if messages:
            entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
            client.delete_message_batch(QueueUrl=work.QUEUE, Entries=entries)


loops = max(1, work.CONCURRENCY // 10)
client = boto3.client("sqs", config=Config(max_pool_connections=loops))
with ThreadPoolExecutor(work.CONCURRENCY) as handlers:
    threads = [threading.Thread(target=loop, args=(client, handlers)) for _ in range(loops)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
