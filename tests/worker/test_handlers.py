"""What can be a handler, and what it may return: no message is deleted whose work nobody has done."""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from unittest.mock import AsyncMock, Mock

import pytest

from tests.worker.conftest import until, working
from tidegate import Worker
from tidegate.errors import ConfigError
from tidegate.testing import FakeWorkQueue
from tidegate.worker.handlers.kinds import check_finished, check_handler, is_async
from tidegate.worker.message import Message


def sync(message: Message) -> None: ...


async def plain(message: Message) -> None: ...


def generator(message: Message) -> Iterator[int]:
    yield 1


async def async_generator(message: Message) -> AsyncIterator[int]:
    yield 1


class AsyncObject:
    async def __call__(self, message: Message) -> None: ...


class Job:
    """An object that does the work; its secret must not be in what is said of it."""

    secret = "hunter2"

    def __repr__(self) -> str:
        return self.secret

    def __call__(self, message: Message) -> None: ...

    def steps(self, message: Message) -> Iterator[int]:
        yield 1


class GeneratorObject(Job):
    def __call__(self, message: Message) -> Iterator[int]:  # type: ignore[override]  # the mistake
        yield 1


def test_async_handlers_are_told_from_sync_ones() -> None:
    asyncs = (plain, AsyncObject(), functools.partial(plain), functools.partial(AsyncObject()), AsyncMock())
    assert [is_async(each) for each in asyncs] == [True] * 5
    assert [is_async(each) for each in (sync, functools.partial(sync), lambda _: None, Job(), Mock())] == [False] * 5


@pytest.mark.parametrize("handler", [sync, plain, AsyncObject(), Job(), functools.partial(plain), print, Mock(), dict])
def test_whatever_can_do_the_work_when_it_is_called_is_a_handler(handler: object) -> None:
    check_handler(handler)


GENERATORS = [
    generator,
    async_generator,
    functools.partial(generator),
    functools.partial(functools.partial(async_generator)),
    Job().steps,
    GeneratorObject(),
    functools.partial(GeneratorObject()),
]


@pytest.mark.parametrize("handler", GENERATORS)
def test_a_generator_function_is_refused_when_the_worker_is_made(handler: Callable[[Message], object]) -> None:
    with pytest.raises(ConfigError, match=r"a generator function: calling it does nothing yet.*; make it a function"):
        Worker("orders", handler=handler)


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (generator, f"handler = '{__name__}:generator': a generator"),
        (GeneratorObject(), f"handler = '{__name__}:GeneratorObject': a generator"),
        (Job, f"handler = '{__name__}:Job': a class whose objects do the work: calling it only makes one; pass an obj"),
        (3, "handler = 'builtins:int': int can't be called; pass a function that takes one message"),
    ],
)
def test_a_handler_that_is_refused_is_named_with_the_fix_and_without_what_it_holds(handler: object, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_handler(handler)
    assert str(caught.value).startswith(says)
    assert Job.secret not in str(caught.value)


class Later:
    def __await__(self) -> Iterator[None]:
        yield


class FutureOfAnotherKind:
    def add_done_callback(self, call: Callable[[object], object]) -> None: ...


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: plain(Mock()), "make it async def and await it"),
        (Later, "an awaitable, which nobody awaited"),
        (lambda: asyncio.get_running_loop().create_future(), "an awaitable"),
        (lambda: generator(Mock()), "a generator, which nobody iterated"),
        (lambda: async_generator(Mock()), "a generator, which nobody iterated"),
        (Future, "a future that may not be done; return its result"),
        (FutureOfAnotherKind, "a future"),
    ],
    ids=["coroutine", "awaitable", "asyncio future", "generator", "async generator", "future", "another's future"],
)
async def test_work_that_is_still_to_be_done_is_no_result(make: Callable[[], object], says: str) -> None:
    """A coroutine left unclosed would be a warning here, hence a failure."""
    with pytest.raises(TypeError, match=says):
        check_finished(make())


@pytest.mark.parametrize("result", [None, 0, "done", [1], iter([1]), {"a": 1}, Mock()])
def test_everything_else_that_is_returned_means_done(result: object) -> None:
    check_finished(result)


@pytest.mark.looptime
@pytest.mark.parametrize("make", [lambda: plain(Mock()), lambda: generator(Mock()), Future])
async def test_a_message_whose_handler_returns_unfinished_work_is_not_deleted_but_retried(
    make: Callable[[], object],
) -> None:
    tries: list[int] = []

    async def handler(message: Message) -> object:
        tries.append(message.receive_count)
        return make() if len(tries) < 3 else None

    async with working(handler, FakeWorkQueue(visibility_s=600)) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert tries == [1, 2, 3]
