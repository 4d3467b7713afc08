"""From what the user wrote to what the runners call: a message or a batch in, done or an exception out.

What a handler is given follows from its annotations:

    def handler(message: Message)                     one message (or no annotation at all)
    def handler(order: Order)                         its body, as a pydantic model
    def handler(order: Order, message: Message)       both, in either order
    def handler(messages: list[Message])              several, in one call
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack, ExitStack
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from tidegate.errors import ConfigError, Fault
from tidegate.worker.handlers.bodies import BodyReader
from tidegate.worker.handlers.kinds import Handler, check_finished, check_handler, handler_name, is_async
from tidegate.worker.message import Batch, Message
from tidegate.worker.outcomes import PartialFailure, outcome_in

__all__ = ["Bound", "Middleware", "bind"]

Middleware = Callable[[Any], AbstractContextManager[Any] | AbstractAsyncContextManager[Any]]
"""Called with what the handler is called about (a message, or the list of a batch) just before it, in its thread or
task; what it gives is entered before the handler and left after it, the first of several outermost. It sees what the
handler raises; if it swallows that, the message counts as done."""

_HOW = "write handler(message), handler(order: Order, message: Message) or handler(messages: list[Message])"


class _Gets(Enum):
    MESSAGE = auto()
    BODY = auto()
    BATCH = auto()


@dataclass(frozen=True, slots=True)
class Bound:
    """A handler as the runners call it: with a `Message`, or with a `Batch` where it takes several."""

    call: Callable[[Any], Any]
    is_async: bool
    is_batch: bool


def bind(handler: Handler, *, model: Any = None, middleware: Iterable[Middleware] = (), name: str = "") -> Bound:
    """Reads the handler's signature, once. `model` is for bodies that no annotation names.

    Raises ConfigError when the handler could not do the work, or can't be called with what there is.
    """
    check_handler(handler, name)
    gets, annotated = _gets(handler, name or handler_name(handler), model)
    if _Gets.BATCH in gets.values() and (len(gets) > 1 or model is not None):
        raise _refused(name or handler_name(handler), "takes a batch and something else", "give it list[Message] alone")
    reader = BodyReader(annotated) if annotated is not None else None
    around = tuple(middleware)
    batch = _Gets.BATCH in gets.values()
    if reader is None and not around and not batch:
        return Bound(handler, is_async(handler), is_batch=False)
    calls = _Calls(handler, gets, reader, around)
    return Bound(calls.run_async if is_async(handler) else calls.run, is_async(handler), batch)


class _Calls:
    """One handler with its body model and its middleware. Picklable when those are."""

    def __init__(
        self, handler: Handler, gets: dict[str, _Gets], reader: BodyReader | None, around: Sequence[Middleware]
    ) -> None:
        self._handler = handler
        self._gets = gets
        self._reader = reader
        self._around = around

    def run(self, given: Message | Batch) -> object:
        subject = _subject(given)
        with ExitStack() as stack:
            for each in self._around:
                stack.enter_context(_sync(each(subject)))
            return _judged(self._handler(*self._arguments(given)), given)
        return None

    async def run_async(self, given: Message | Batch) -> object:
        subject = _subject(given)
        async with AsyncExitStack() as stack:
            for each in self._around:
                context = each(subject)
                if isinstance(context, AbstractAsyncContextManager):
                    await stack.enter_async_context(context)
                else:
                    stack.enter_context(context)
            result: Any = self._handler(*self._arguments(given))
            return _judged(await result, given)
        return None

    def _arguments(self, given: Message | Batch) -> list[object]:
        """The body is read here, within the middleware, so that a rejection is seen by it."""
        if isinstance(given, Batch):
            return [list(given.messages)]
        body = None if self._reader is None else self._reader.read(given)
        return [body if gets is _Gets.BODY else given for gets in self._gets.values()]


def _subject(given: Message | Batch) -> Message | list[Message]:
    return list(given.messages) if isinstance(given, Batch) else given


def _sync(context: Any) -> AbstractContextManager[Any]:
    if not isinstance(context, AbstractContextManager):
        raise TypeError(f"a sync handler needs sync middleware, and this is {type(context).__name__}")
    return context


def _judged(result: object, given: Message | Batch) -> object:
    """What a batch handler returned, per message: an exception (`return_exceptions=True`), a Retry or Reject is one.

    Raises TypeError for what says nothing of each message: that all are done must not be read into a mistake.
    """
    check_finished(result)
    if not isinstance(given, Batch) or result is None or outcome_in(result) is not None:
        return result
    if not isinstance(result, list | tuple):
        raise TypeError(
            f"the batch handler returned {type(result).__name__}; "
            "return a list with one outcome for each message, in their order, or None when all are done"
        )
    if len(result) != len(given.messages):
        raise TypeError(
            f"the batch handler returned {len(result)} outcomes for {len(given.messages)} messages; "
            "return one for each, in their order, or None when all are done"
        )
    outcomes = [each if isinstance(each, BaseException) else outcome_in(each) for each in result]
    if any(outcome is not None for outcome in outcomes):
        raise PartialFailure(outcomes)
    return None


def _gets(handler: Handler, name: str, model: Any) -> tuple[dict[str, _Gets], Any]:
    """What each of the handler's parameters gets, and the model of the body if one gets that."""
    parameters = _parameters(handler, name)
    if parameters is None:
        return {"message": _Gets.MESSAGE}, None
    gets: dict[str, _Gets] = {}
    for parameter, kind in parameters.items():
        if _is_model(kind) or (model is not None and kind in (model, inspect.Parameter.empty)):
            model = kind if _is_model(kind) else model
            gets[parameter] = _Gets.BODY
        elif get_args(kind) == (Message,) and issubclass(get_origin(kind) or object, Sequence):
            gets[parameter] = _Gets.BATCH
        elif kind is Message or len(parameters) == 1:
            gets[parameter] = _Gets.MESSAGE
        else:
            raise _refused(name, f"nobody can tell what its parameter {parameter} is to be given", _HOW)
    if len(set(gets.values())) < len(gets):
        raise _refused(name, "two of its parameters would be given the same", _HOW)
    return gets, model


def _parameters(handler: Handler, name: str) -> dict[str, Any] | None:
    """The annotation of each parameter that must be given, by position; None when Python can't tell the signature."""
    try:
        signature = inspect.signature(handler, eval_str=True)
    except NameError as error:
        fix = "import it where the handler is, outside `if TYPE_CHECKING:`, or pass model=…"
        raise _refused(name, f"its annotation {error.name} can't be found", fix) from error
    except (TypeError, ValueError):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wanted = {
        each.name: each.annotation for each in signature.parameters.values() if each.kind in kinds and _must(each)
    }
    if wanted:
        return wanted
    takes_any = any(each.kind is each.VAR_POSITIONAL or each.kind in kinds for each in signature.parameters.values())
    if not takes_any:
        raise _refused(name, "takes no message", _HOW)
    return None


def _must(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty


def _is_model(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _refused(name: str, problem: str, fix: str) -> ConfigError:
    return ConfigError([Fault("handler", name, problem, fix)])
