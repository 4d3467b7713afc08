"""A worker's handler: `tidegate work jobs:handle --queue orders`."""

import logging

from tidegate import Message

log = logging.getLogger("jobs")


async def handle(message: Message) -> None:
    """Do the work of one message. It is deleted when this returns, and comes back later when this raises."""
    order = message.json()
    log.info("message %s has %d fields", message.id, len(order))
