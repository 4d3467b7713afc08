"""What the commands print: decisions with their steps, overrides, and errors as one line each."""

import json
import sys
import threading
import traceback
from datetime import UTC, datetime

from tidegate.core.model import Decision, Override, OverrideKind, Scalar, Step
from tidegate.errors import TidegateError

__all__ = ["Shown", "error_text", "override_text", "say", "warn"]

_printing = threading.Lock()


def say(text: str) -> None:
    """To stdout, in one piece even from several threads."""
    with _printing:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def warn(text: str) -> None:
    """To stderr, each line under the program's name."""
    with _printing:
        for line in text.splitlines():
            sys.stderr.write(f"tidegate: {line}\n")
        sys.stderr.flush()


def error_text(error: BaseException) -> str:
    """The error's one line, with what was noted on its way up."""
    return "; ".join([str(error), *getattr(error, "__notes__", ())])


def override_text(override: Override | None) -> str:
    """In words: what holds, by whom, until when."""
    if override is None:
        return "run by the controller"
    what = "frozen" if override.kind is OverrideKind.FREEZE else f"pinned at {override.workers}"
    until = "resumed" if override.until_s is None else _time(override.until_s)
    return f"{what} by {override.who} since {_time(override.since_s)} until {until}"


class Shown:
    """The event sink of `tidegate once`: decisions to stdout, as text or as JSON lines; what failed also to stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def decided(self, decision: Decision, wrote: bool) -> None:
        """The sentence, then a line for each step."""
        if self._as_json:
            from tidegate.core.codec import to_json

            say(json.dumps({"pool": decision.pool, "wrote": wrote, "decision": json.loads(to_json(decision))}))
        else:
            say("\n".join([f"{decision.pool}: {decision.sentence}", *map(_step_line, decision.steps)]))
        for error in decision.errors:
            warn(f"{decision.pool}: {error}")

    def failed(self, pool: str, error: Exception) -> None:
        """A traceback only for what tidegate did not raise on purpose."""
        if self._as_json:
            say(json.dumps({"pool": pool, "error": error_text(error), "kind": type(error).__name__}))
        warn(f"{pool}: {error_text(error)}")
        if not isinstance(error, TidegateError):
            warn("".join(traceback.format_exception(error)))

    def overran(self, pool: str | None, missed: int) -> None:
        """Not in a single tick."""


def _step_line(step: Step) -> str:
    values = " ".join(f"{name}={_value(value)}" for name, value in step.values.items() if value is not None)
    return f"  {step.name:<10}{values}" + (f"  ({step.note})" if step.note else "")


def _value(value: Scalar) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _time(at_s: float) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
