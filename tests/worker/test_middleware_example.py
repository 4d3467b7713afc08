"""The example of middleware does what it says: log lines carry the message's id, spans go on the sender's trace."""

import importlib.util
import logging
from pathlib import Path
from types import ModuleType

import pytest

from tidegate.ports import Received
from tidegate.worker.handlers.binding import bind
from tidegate.worker.message import Message, message_from

EXAMPLE = Path(__file__).parents[2] / "examples" / "middleware.py"
SENT = {"traceparent": {"DataType": "String", "StringValue": f"00-{'a1' * 16}-{'b2' * 8}-01"}}


@pytest.fixture
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("middleware_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def message() -> Message:
    return message_from(Received("m1", "r1", "{}", {}, SENT), now_s=0.0)


def test_what_a_handler_logs_says_of_which_message(example: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    caplog.handler.addFilter(example.WithMessage())
    with caplog.at_level(logging.INFO):
        bind(example.handle, middleware=[example.trace, example.log_context]).call(message())
        example.log.info("between messages")
    assert [record.__dict__["message_id"] for record in caplog.records] == ["m1", "-"]


def test_a_span_goes_on_the_senders_trace(example: ModuleType) -> None:
    tracing = pytest.importorskip("opentelemetry.trace", reason="OpenTelemetry is an extra")
    seen: list[int] = []

    def handler(given: Message) -> None:
        seen.append(tracing.get_current_span().get_span_context().trace_id)

    bind(handler, middleware=[example.trace]).call(message())
    assert seen == [int("a1" * 16, 16)]
