"""What a handler can say of a message besides "done" (it returns) and "it failed" (it raises anything else).

Both can be raised or returned:

    raise Retry(after=60)                    not before a minute from now
    return Reject("no such customer")        to the dead-letter queue, with this reason
"""

from collections.abc import Sequence

from tidegate.core.notation.durations import parse_duration
from tidegate.errors import TidegateError

__all__ = ["HandlerError", "HandlerHangs", "PartialFailure", "Reject", "Retry", "outcome_in"]


class Retry(TidegateError):
    """Try this message again, not before `after` from now: seconds, or text such as "5m".

    To that comes the backoff that any failure has, at random (full jitter), so that what failed together does not come
    back together. Counts as a failed run, but is no error in the log. Raises ValueError when `after` is no duration.
    """

    def __init__(self, after: float | str = 0.0) -> None:
        self.after_s = parse_duration(after)
        super().__init__(f"try again, not before {self.after_s:g} s from now")

    def __reduce__(self) -> tuple[type["Retry"], tuple[float]]:
        return type(self), (self.after_s,)


class Reject(TidegateError):
    """This message can never be done: it goes to the dead-letter queue, with `reason` as its attribute.

    The reason is for whoever reads that queue; it is not logged, because it may quote the body. An error, or whatever
    else is no text, stands there as its `str`.
    """

    def __init__(self, reason: object) -> None:
        self.reason = str(reason)
        super().__init__("rejected")

    def __reduce__(self) -> tuple[type["Reject"], tuple[str]]:
        return type(self), (self.reason,)


class PartialFailure(TidegateError):
    """How each message of a batch ended, in the batch's order: None, it is done, or why it is not."""

    def __init__(self, outcomes: Sequence[BaseException | None]) -> None:
        self.outcomes = tuple(outcomes)
        failed = sum(outcome is not None for outcome in self.outcomes)
        super().__init__(f"{failed} of {len(self.outcomes)} messages are not done")

    def __reduce__(self) -> tuple[type["PartialFailure"], tuple[Sequence[BaseException | None]]]:
        return type(self), (self.outcomes,)


class HandlerError(TidegateError):
    """What a handler raised in a child: the kind of the error and where, never its text, which may quote the body."""

    def __init__(self, kind: str, where: str) -> None:
        self.kind, self.where = kind, where
        super().__init__(f"the handler raised {kind}")

    def __reduce__(self) -> tuple[type["HandlerError"], tuple[str, str]]:
        return type(self), (self.kind, self.where)


class HandlerHangs(TidegateError):
    """It has not ended though its lease is lost and it was told; its thread goes on, its slot is given to another."""

    def __init__(self) -> None:
        super().__init__("the handler did not end when told that its lease is lost")


def outcome_in(result: object) -> Retry | Reject | None:
    """A Retry or Reject that a handler returned instead of raising it; the class alone counts as `Retry()`.

    Raises TypeError for the class Reject alone, as raising it does: it needs a reason.
    """
    if isinstance(result, Retry | Reject):
        return result
    if result is Reject:
        raise TypeError('Reject needs a reason: return Reject("no such customer")')
    return Retry() if result is Retry else None
