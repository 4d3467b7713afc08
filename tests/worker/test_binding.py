"""What a handler is given, by its annotations; models, batches and middleware around it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from pydantic import BaseModel, field_validator

from tests.worker.conftest import PLAN, until, working
from tidegate.errors import ConfigError
from tidegate.ports import Received
from tidegate.testing import FakeWorkQueue
from tidegate.worker.handlers.binding import bind
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.message import Batch, Message, message_from
from tidegate.worker.outcomes import PartialFailure, Reject, Retry


class Order(BaseModel):
    number: int
    note: str = ""

    @field_validator("note")
    @classmethod
    def _short(cls, note: str) -> str:
        if len(note) > 20:
            raise ValueError(f"too long: {note}")
        return note


def message(body: str = '{"number": 7}', id_: str = "m1") -> Message:
    return message_from(Received(id_, "r1", body, {}), now_s=0.0)


def given_to(handler: Callable[..., object], model: Any = None) -> Any:
    return bind(handler, model=model).call(message())


def takes_message(m: Message) -> object:
    return m.id


def takes_anything(m) -> object:  # type: ignore[no-untyped-def]  # what is tested
    return m.id


def takes_order(order: Order) -> object:
    return order.number


def takes_both(message: Message, order: Order) -> object:
    return message.id, order.number


def takes_both_the_other_way(order: Order, message: Message, extra: int = 1) -> object:
    return order.number, message.id, extra


def takes_unannotated_body(order) -> object:  # type: ignore[no-untyped-def]  # what is tested
    return order.number


@pytest.mark.parametrize(
    ("handler", "model", "result"),
    [
        (takes_message, None, "m1"),
        (takes_anything, None, "m1"),
        (takes_order, None, 7),
        (takes_both, None, ("m1", 7)),
        (takes_both_the_other_way, None, (7, "m1", 1)),
        (takes_unannotated_body, Order, 7),
        (lambda m: m.id, None, "m1"),
    ],
)
def test_a_handler_is_given_what_its_annotations_say(
    handler: Callable[..., object], model: Any, result: object
) -> None:
    assert given_to(handler, model) == result


@pytest.mark.parametrize("handler", [print, Mock(), dict])
def test_what_has_no_signature_to_read_is_given_the_message(handler: Callable[..., object]) -> None:
    assert not bind(handler).is_batch


def two_unknown(a, b) -> None:  # type: ignore[no-untyped-def]  # the mistake
    ...


def two_messages(a: Message, b: Message) -> None: ...


def takes_none() -> None: ...


def batch_and_more(messages: list[Message], order: Order) -> None: ...


def not_found(a: "Missing", b: Message) -> None:  # type: ignore[name-defined]  # noqa: F821  the mistake
    ...


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (two_unknown, "nobody can tell what its parameter a is to be given; write handler(message)"),
        (two_messages, "two of its parameters would be given the same"),
        (takes_none, "takes no message"),
        (batch_and_more, "takes a batch and something else"),
        (not_found, "its annotation Missing can't be found; import it where the handler is"),
    ],
)
def test_a_handler_that_can_not_be_called_is_refused_with_the_fix(handler: Callable[..., object], says: str) -> None:
    with pytest.raises(ConfigError, match=says.replace("(", r"\(").replace(")", r"\)")):
        bind(handler)


def test_a_model_that_pydantic_cannot_check_is_refused() -> None:
    with pytest.raises(ConfigError, match="model = 'Event': pydantic can't check it"):
        bind(takes_unannotated_body, model=asyncio.Event)


SECRET = "card 4111-1111-1111-1111"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{", "the body is no Order: body (json_invalid)"),
        ("{}", "the body is no Order: number (missing)"),
        (f'{{"number": "{SECRET}"}}', "the body is no Order: number (int_parsing)"),
        (f'{{"number": 1, "note": "{SECRET}"}}', "the body is no Order: note (value_error)"),
        (f'["{SECRET}"]', "the body is no Order: body (model_type)"),
    ],
)
def test_a_body_that_does_not_fit_is_rejected_with_a_reason_that_quotes_nothing_of_it(body: str, reason: str) -> None:
    with pytest.raises(Reject) as caught:
        bind(takes_order).call(message(body))
    assert caught.value.reason == reason


def test_keys_of_the_body_are_not_quoted_either() -> None:
    class Strict(BaseModel, extra="forbid"):
        number: int

    def handler(order: Any) -> None: ...

    handler.__annotations__["order"] = Strict
    with pytest.raises(Reject) as caught:
        bind(handler).call(message(f'{{"number": 1, "{SECRET}": 2}}'))
    assert caught.value.reason == "the body is no Strict: body (extra_forbidden)"


def batch(size: int) -> Batch:
    return Batch(tuple(message(id_=f"m{n}") for n in range(size)))


def failing(*failed: int) -> Callable[[list[Message]], list[object]]:
    def handler(messages: list[Message]) -> list[object]:
        return [ValueError(n) if n in failed else n for n in range(len(messages))]

    return handler


def test_a_batch_handler_says_for_each_message_how_it_ended() -> None:
    with pytest.raises(PartialFailure, match="2 of 4 messages are not done") as caught:
        bind(failing(1, 3)).call(batch(4))
    assert [type(each).__name__ for each in caught.value.outcomes] == [
        "NoneType",
        "ValueError",
        "NoneType",
        "ValueError",
    ]


def test_a_batch_whose_messages_are_all_done_is_done() -> None:
    assert bind(failing()).call(batch(3)) is None


def test_a_list_of_another_length_is_a_failure_of_all() -> None:
    def handler(messages: list[Message]) -> list[object]:
        return [None]

    with pytest.raises(TypeError, match="returned 1 outcomes for 3 messages; return one for each"):
        bind(handler).call(batch(3))


@pytest.mark.parametrize("returned", [{"batchItemFailures": []}, "abc", 3, True, {1, 2, 3}, ValueError("all of it")])
def test_what_says_nothing_of_each_message_is_a_failure_of_all(returned: object) -> None:
    def handler(messages: list[Message]) -> object:
        return returned

    with pytest.raises(TypeError, match=f"returned {type(returned).__name__}; return a list with one outcome for each"):
        bind(handler).call(batch(3))


def test_a_tuple_of_outcomes_is_as_good_as_a_list() -> None:
    def handler(messages: list[Message]) -> object:
        return None, Retry(3), None

    with pytest.raises(PartialFailure, match="1 of 3 messages are not done"):
        bind(handler).call(batch(3))


def test_one_outcome_in_place_of_the_list_is_that_of_all() -> None:
    def handler(messages: list[Message]) -> object:
        return Retry(3)

    assert isinstance(bind(handler).call(batch(3)), Retry)


def test_the_class_reject_without_a_reason_deletes_nothing() -> None:
    def handler(messages: list[Message]) -> object:
        return [None, Reject, None]

    with pytest.raises(TypeError, match="Reject needs a reason"):
        bind(handler).call(batch(3))


def middleware(name: str, said: list[str]) -> Callable[[Any], Any]:
    @contextmanager
    def around(subject: Any) -> Iterator[None]:
        said.append(f"{name} in")
        try:
            yield
        except Exception as error:
            said.append(f"{name} saw {type(error).__name__}")
            raise
        finally:
            said.append(f"{name} out")

    return around


def test_middleware_is_an_onion_around_the_handler_and_sees_what_it_raises() -> None:
    said: list[str] = []

    def handler(m: Message) -> None:
        said.append("handler")
        raise ValueError

    bound = bind(handler, middleware=[middleware("outer", said), middleware("inner", said)])
    with pytest.raises(ValueError):  # noqa: PT011  which is what the handler raised
        bound.call(message())
    assert said == [
        *("outer in", "inner in", "handler"),
        *("inner saw ValueError", "inner out", "outer saw ValueError", "outer out"),
    ]


def test_middleware_sees_a_body_that_is_rejected() -> None:
    said: list[str] = []
    with pytest.raises(Reject):
        bind(takes_order, middleware=[middleware("m", said)]).call(message("{"))
    assert "m saw Reject" in said


async def test_async_handlers_take_both_kinds_of_middleware_in_their_own_task() -> None:
    said: list[str] = []

    @asynccontextmanager
    async def timed(subject: Message) -> AsyncIterator[None]:
        said.append(f"async in {subject.id}")
        yield
        said.append("async out")

    async def handler(order: Order) -> None:
        said.append(f"handler {order.number}")

    await bind(handler, middleware=[middleware("sync", said), timed]).call(message())
    assert said == ["sync in", "async in m1", "handler 7", "async out", "sync out"]


def test_a_sync_handler_with_async_middleware_fails_with_a_word_about_it() -> None:
    @asynccontextmanager
    async def timed(subject: Message) -> AsyncIterator[None]:
        yield

    with pytest.raises(TypeError, match="a sync handler needs sync middleware"):
        bind(takes_message, middleware=[timed]).call(message())


@pytest.mark.looptime
async def test_of_a_batch_the_done_are_deleted_the_failed_retried_and_the_rejected_dead_lettered() -> None:
    sizes: list[int] = []

    async def handler(messages: list[Message]) -> list[object]:
        sizes.append(len(messages))
        outcomes: dict[str, object] = {"bad": Reject("never"), "later": Retry(100)}
        return [outcomes.get(each.body) if each.receive_count == 1 else None for each in messages]

    plan = replace(PLAN, slots=1, sorting=Sorting(batch=10))
    queue = FakeWorkQueue(visibility_s=600)
    good, bad, later = queue.send("good"), queue.send("bad"), queue.send("later")
    async with working(bind(handler).call, queue, plan) as bench:
        await until(lambda: len(queue.deleted) == 2)
        assert (sizes, set(queue.deleted), queue.dead_letters) == ([3], {good, bad}, [(bad, "never")])
        await until(lambda: later in queue.deleted)
        assert asyncio.get_running_loop().time() > 100
        await bench.stop()
        total = bench.sink.reports[-1].total
        assert (total.starts, total.completions, total.failures) == (4, 2, 2)


@pytest.mark.looptime
async def test_a_batch_takes_one_slot_and_its_time_is_shared_among_its_messages() -> None:
    async def handler(messages: list[Message]) -> None:
        await asyncio.sleep(5)

    queue = FakeWorkQueue(visibility_s=600)
    for _ in range(5):
        queue.send()
    async with working(bind(handler).call, queue, replace(PLAN, slots=1, sorting=Sorting(batch=5))) as bench:
        await until(lambda: len(queue.deleted) == 5)
        await bench.stop()
        total = bench.sink.reports[-1].total
        assert total.service_time_sum_s == pytest.approx(5.0, abs=0.01)


@pytest.mark.looptime
async def test_a_batch_goes_on_when_one_of_its_messages_loses_its_lease_and_only_that_one_is_told() -> None:
    told: list[list[bool]] = []

    async def handler(messages: list[Message]) -> None:
        await asyncio.sleep(100)
        told.append([each.lease_lost.is_set() for each in messages])

    queue = FakeWorkQueue(visibility_s=30)
    first, second = queue.send(), queue.send()
    async with working(
        bind(handler).call, queue, replace(PLAN, slots=1, grace_s=200, sorting=Sorting(batch=2))
    ) as bench:
        await until(lambda: queue.of("receive"))
        await asyncio.sleep(1)
        queue.show_again(first)
        await until(lambda: told)
        await bench.stop()
    assert told[0] == [True, False]
    assert second in queue.deleted
