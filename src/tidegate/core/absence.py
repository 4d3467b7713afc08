"""Why a reading has no value, and the reason that a failed read leaves behind, for counts, metrics and fleet alike."""

from enum import StrEnum
from typing import Final

from tidegate.errors import Denied, Gone, Invalid, StateUnreadable, Throttled, TidegateError, Unreachable

__all__ = ["Absence", "absence_of"]


class Absence(StrEnum):
    """Why a reading has no value.

    `MISSING` can be normal (an inactive queue publishes no metrics), and so can `UNSEEN`: another account's metrics,
    which it may not share with this one.
    """

    MISSING = "missing"
    UNSEEN = "unseen"
    THROTTLED = "throttled"
    UNREACHABLE = "unreachable"
    INVALID = "invalid"
    DENIED = "denied"
    GONE = "gone"


_ABSENCES: Final[tuple[tuple[type[TidegateError], Absence], ...]] = (
    (Throttled, Absence.THROTTLED),
    (Denied, Absence.DENIED),
    (Gone, Absence.GONE),
    (Invalid, Absence.INVALID),
    (Unreachable, Absence.UNREACHABLE),
    (StateUnreadable, Absence.INVALID),
)


def absence_of(error: TidegateError) -> Absence:
    """The reason why there is no value. An error of a kind not known here counts as no answer.

    >>> absence_of(Throttled("sqs:GetQueueAttributes", "mail", "slow down"))
    <Absence.THROTTLED: 'throttled'>
    """
    return next((absence for kind, absence in _ABSENCES if isinstance(error, kind)), Absence.UNREACHABLE)
