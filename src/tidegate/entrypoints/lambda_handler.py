"""`handler`: what AWS Lambda calls. All that it does is in `invocation`; here is only how that is loaded."""

from collections.abc import Callable

from tidegate.entrypoints.collector import paused

__all__ = ["handler"]


def _load() -> Callable[[object, object], dict[str, int]]:
    with paused():
        from tidegate.entrypoints.invocation import handler
    return handler


handler = _load()
