"""What can be a handler, and whether what one returned means "done".

Returning deletes the message. So whatever a handler could return that is work still to be done (a coroutine that nobody
awaits, a generator that nobody iterates, a future of a pool) must never be taken for done: that would lose the message.
"""

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from typing import Final

from tidegate.errors import ConfigError, Fault

__all__ = ["AsyncHandler", "Handler", "SyncHandler", "check_finished", "check_handler", "handler_name", "is_async"]

AsyncHandler = Callable[..., Awaitable[object]]
SyncHandler = Callable[..., object]
Handler = AsyncHandler | SyncHandler
"""What a user writes: returns when the work is done, raises when it is to be tried again. What it gets: `binding`."""

_DO_THE_WORK: Final = "make it a function that does the work before it returns"


def is_async(handler: Handler) -> bool:
    """True for `async def`, for a partial of one, and for an object whose `__call__` is one."""
    return any(map(inspect.iscoroutinefunction, _behind(handler)))


def check_handler(handler: object, name: str = "") -> None:
    """Raises ConfigError when calling it could not do the work of a message. `name` is how its user calls it."""
    fault = _fault(handler)
    if fault is not None:
        raise ConfigError([Fault("handler", name or handler_name(handler), *fault)])


def check_finished(result: object) -> None:
    """Raises TypeError when what a handler returned is work that has yet to be done; a coroutine is closed."""
    if isinstance(result, Coroutine):
        result.close()  # which would otherwise warn that it was never awaited
    if isinstance(result, Awaitable):
        raise TypeError("the handler returned an awaitable, which nobody awaited; make it async def and await it there")
    if isinstance(result, Generator | AsyncGenerator):
        raise TypeError(f"the handler returned a generator, which nobody iterated; {_DO_THE_WORK}")
    if hasattr(type(result), "add_done_callback"):  # concurrent.futures', and those that are made like it
        raise TypeError("the handler returned a future that may not be done; return its result() instead")


def _fault(handler: object) -> tuple[str, str] | None:
    """Problem and fix."""
    if not callable(handler):
        return f"{type(handler).__name__} can't be called", "pass a function that takes one message"
    if inspect.isclass(handler) and any("__call__" in vars(base) for base in inspect.getmro(handler)):
        return "a class whose objects do the work: calling it only makes one", "pass an object of it"
    if any(inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each) for each in _behind(handler)):
        return "a generator function: calling it does nothing yet, and the message would be deleted", _DO_THE_WORK
    return None


def _behind(handler: object) -> tuple[object, object]:
    """What is behind partials, and how it is called if it is an object."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    return handler, getattr(handler, "__call__", None)  # noqa: B004  wants the method itself


def handler_name(handler: object) -> str:
    """Never the repr, which may hold what an object was made with."""
    behind, _ = _behind(handler)
    named = behind if inspect.isroutine(behind) or inspect.isclass(behind) else type(behind)
    return f"{named.__module__}:{named.__qualname__}"
