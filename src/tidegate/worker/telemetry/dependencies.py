"""Calls of what handlers depend on: timed, and told apart by how they ended. Handlers run in any thread or loop.

with message.dependency("payments") as call:
    response = session.post(url, timeout=5)
    call.answered(response.status_code)  # for clients that raise nothing on a 429 or a 503
"""

import asyncio
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from types import TracebackType
from typing import Final, Self

from tidegate.core.reports import DependencyFigures, counted_as

__all__ = ["DependencyCall", "DependencyLog"]

_TOO_MANY: Final = 429
_TIMED_OUT: Final = frozenset({408, 504})
_SERVER_FAULT: Final = 500
_THROTTLING: Final = ("throttl", "toomanyrequests", "slowdown", "requestlimitexceeded", "provisionedthroughputexceeded")
"""In AWS's error codes and in the names of clients' errors, in small letters.

https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
"""


class _End(Enum):
    ANSWERED = "answered"
    ERROR = "error"
    TIMEOUT = "timeout"
    THROTTLED = "throttled"


class DependencyLog:
    """Totals by name since the worker started, safe to use from every thread. Names beyond the most are "other"."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._totals: dict[str, DependencyFigures] = {}

    def call(self, name: str) -> "DependencyCall":
        """A call of this dependency, to be used as a context."""
        return DependencyCall(name, self._clock, self.ended)

    def totals(self) -> Mapping[str, DependencyFigures]:
        """What has been counted so far."""
        with self._lock:
            return dict(self._totals)

    def ended(self, name: str, took_s: float, end: _End) -> None:
        """Counts one call that has ended."""
        with self._lock:
            name = counted_as(name, self._totals)
            before = self._totals.get(name, DependencyFigures())
            self._totals[name] = replace(
                before,
                calls=before.calls + 1,
                errors=before.errors + (end is _End.ERROR),
                timeouts=before.timeouts + (end is _End.TIMEOUT),
                throttled=before.throttled + (end is _End.THROTTLED),
                time_sum_s=before.time_sum_s + took_s,
            )


class DependencyCall:
    """One call, from entering the context to leaving it; what is raised inside passes through.

    Counted by what is raised: a timeout (put it inside the block), a 429 or an AWS throttling, an answer that blames
    the request (another 4xx: the dependency is well), else an error. A call that is cancelled, because the lease was
    lost or the worker leaves, says nothing of the dependency and is not counted.
    """

    def __init__(self, name: str, clock: Callable[[], float], ended: Callable[[str, float, _End], None]) -> None:
        self._name = name
        self._clock = clock
        self._ended = ended
        self._began_s = clock()
        self._status: int | None = None

    def answered(self, status: int) -> None:
        """The HTTP status that came back, for clients that raise nothing on a bad one."""
        self._status = status

    def __enter__(self) -> Self:
        self._began_s = self._clock()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, asyncio.CancelledError) or not isinstance(error, Exception | None):
            return
        end = _by_status(self._status) if error is None else _by_error(error)
        self._ended(self._name, max(0.0, self._clock() - self._began_s), end)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def _by_status(status: int | None) -> _End:
    if status is None or status < _SERVER_FAULT:
        return _End.THROTTLED if status == _TOO_MANY else _End.TIMEOUT if status in _TIMED_OUT else _End.ANSWERED
    return _End.TIMEOUT if status in _TIMED_OUT else _End.ERROR


def _by_error(error: Exception) -> _End:
    """By what clients have in common, without importing any of them: class names, a status, an AWS error's code."""
    names = " ".join(kind.__name__.lower() for kind in type(error).__mro__)
    status, code = _status_of(error), _code_of(error).lower()
    if status == _TOO_MANY or any(word in names or word in code for word in _THROTTLING):
        return _End.THROTTLED
    if isinstance(error, TimeoutError) or "timeout" in names:
        return _End.TIMEOUT
    return _End.ERROR if status is None else _by_status(status)


def _status_of(error: Exception) -> int | None:
    """Of requests and httpx (`response.status_code`), aiohttp (`status`), urllib (`code`), botocore (its metadata)."""
    response = getattr(error, "response", None)
    if isinstance(response, Mapping):
        found = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        return found if isinstance(found, int) else None
    places = ((response, "status_code"), (error, "status_code"), (error, "status"), (error, "code"))
    found = next((value for at, name in places if isinstance(value := getattr(at, name, None), int)), None)
    return found if found is not None and 100 <= found <= 599 else None


def _code_of(error: Exception) -> str:
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Code", "")) if isinstance(response, Mapping) else ""
