"""The limit: nothing but receive, handle, delete, with no lease kept and nothing counted."""

import asyncio

import work
from aiobotocore.config import AioConfig
from aiobotocore.session import get_session


async def loop(client) -> None:
    while True:
        answer = await client.receive_message(QueueUrl=work.QUEUE, MaxNumberOfMessages=10, WaitTimeSeconds=5)
        messages = answer.get("Messages", [])
        await asyncio.gather(*(work.handle_async() for _ in messages))
        if messages:
            entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
            await client.delete_message_batch(QueueUrl=work.QUEUE, Entries=entries)


async def main() -> None:
    loops = max(1, work.CONCURRENCY // 10)
    config = AioConfig(max_pool_connections=2 * loops)
    async with get_session().create_client("sqs", config=config) as client:
        await asyncio.gather(*(loop(client) for _ in range(loops)))


asyncio.run(main())
