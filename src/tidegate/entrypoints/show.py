"""What the commands print: decisions with their steps, overrides, and errors as one line each."""

import json
import sys
import threading
import traceback
from collections.abc import Sequence

from tidegate.core.condition import Condition
from tidegate.core.decision import Decision, Health, Scalar, Step
from tidegate.core.explain.health import in_words
from tidegate.core.model import Override
from tidegate.core.overrides import describe
from tidegate.entrypoints.streams import Lossy
from tidegate.errors import TidegateError

__all__ = ["Shown", "condition_text", "error_text", "health_lines", "holder_text", "say", "warn"]

_printing = threading.Lock()

_CONDITIONS = {
    Condition.NORMAL: "no longer late for want of workers",
    Condition.AT_CEILING: "at its ceiling and late for more than a minute: producers are told to send less",
    Condition.DOWNSTREAM: "held by the downstream guard and late for over a minute: producers are told to send less",
}


def say(text: str) -> None:
    """To stdout, in one piece even from several threads."""
    with _printing:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def warn(text: str) -> None:
    """To stderr, each line under the program's name. Lost where stderr fails: there is nowhere left to say so."""
    with _printing:
        Lossy(sys.stderr).write("".join(f"tidegate: {line}\n" for line in text.splitlines()))


def error_text(error: BaseException) -> str:
    """The error's one line, with what was noted on its way up."""
    return "; ".join([str(error), *getattr(error, "__notes__", ())])


def holder_text(override: Override | None) -> str:
    """Who sets the desired count of a pool under this override (None: under none that is in force)."""
    return "run by the controller" if override is None else describe(override)


def condition_text(state: Condition) -> str:
    """What a pool's state means, for people."""
    return _CONDITIONS[state]


class Shown:
    """The event sink of `tidegate once`: decisions to stdout, as text or as JSON lines; what failed also to stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def decided(self, decision: Decision, wrote: bool) -> None:
        """The sentence, then a line for each step."""
        if self._as_json:
            from tidegate.core.stored.codec import to_json

            say(json.dumps({"pool": decision.pool, "wrote": wrote, "decision": json.loads(to_json(decision))}))
        else:
            lines = [*map(_step_line, decision.steps), *health_lines(decision.health)]
            say("\n".join([f"{decision.pool}: {decision.sentence}", *lines]))
        for error in decision.errors:
            warn(f"{decision.pool}: {error}")

    def changed_state(self, decision: Decision, was: Condition) -> None:
        """A warning, or that it is over."""
        warn(f"{decision.pool}: {condition_text(decision.state)}")

    def failed(self, pool: str, error: Exception) -> None:
        """A traceback only for what tidegate did not raise on purpose."""
        if self._as_json:
            say(json.dumps({"pool": pool, "error": error_text(error), "kind": type(error).__name__}))
        warn(f"{pool}: {error_text(error)}")
        if not isinstance(error, TidegateError):
            warn("".join(traceback.format_exception(error)))

    def metrics_failed(self, troubles: Sequence[str]) -> None:
        """One line each; decisions are made without."""
        for trouble in troubles:
            warn(f"warning: {trouble}; deciding from counts and reports alone")

    def not_published(self, error: Exception) -> None:
        """One line."""
        warn(f"warning: {error_text(error)}; alarms and dashboards miss this tick")

    def overran(self, pool: str | None, missed: int) -> None:
        """Not in a single tick."""


def health_lines(health: Health) -> list[str]:
    """The health block's figures, and a line for each piece of advice; nothing of a pool that was never watched."""
    figures = [f"  {'health':<10}{in_words(health)}"] if health.watched_s > 0 else []
    return [*figures, *(f"  {'advice':<10}{said}" for said in health.advice)]


def _step_line(step: Step) -> str:
    values = " ".join(f"{name}={_value(value)}" for name, value in step.values.items() if value is not None)
    return f"  {step.name:<9} {values}" + (f"  ({step.note})" if step.note else "")


def _value(value: Scalar) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
