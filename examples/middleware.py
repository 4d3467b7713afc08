"""Middleware is a context manager around the handler: here the trace that the sender began, and log lines with an id.

tidegate work examples.middleware:handle …      has no middleware: only a program of your own can pass it
python examples/middleware.py                   works on the queue that TIDEGATE_WORKER_QUEUE names
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from tidegate import Message, Worker

log = logging.getLogger("shop")
handled: ContextVar[str] = ContextVar("handled", default="-")


class WithMessage(logging.Filter):
    """Adds the id of the message that is handled in this thread or task to each record, as `%(message_id)s`."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keeps every record."""
        record.message_id = handled.get()
        return True


@contextmanager
def log_context(message: Message) -> Iterator[None]:
    """Whatever the handler logs says of which message."""
    token = handled.set(message.id)
    try:
        yield
    finally:
        handled.reset(token)


@contextmanager
def trace(message: Message) -> Iterator[None]:
    """A span that goes on the sender's trace (its `traceparent` attribute), where OpenTelemetry is installed."""
    try:
        from opentelemetry import propagate
        from opentelemetry import trace as tracing
    except ModuleNotFoundError:
        yield
        return
    sent = {name: str(each.get("StringValue", "")) for name, each in message.message_attributes.items()}
    with tracing.get_tracer("shop").start_as_current_span(
        f"process {message.queue}", context=propagate.extract(sent), kind=tracing.SpanKind.CONSUMER
    ):
        yield


def handle(message: Message) -> None:
    """The work."""
    log.info("handled after %.1f s", message.age_s)


if __name__ == "__main__":
    handler = logging.StreamHandler()
    handler.addFilter(WithMessage())
    logging.basicConfig(level=logging.INFO, handlers=[handler], format="%(message_id)s %(name)s: %(message)s")
    Worker(handler=handle, middleware=[trace, log_context]).run()
