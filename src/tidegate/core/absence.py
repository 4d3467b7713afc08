"""Which absence a failed read leaves behind: the one table for counts, metrics and fleet."""

from typing import Final

from tidegate.core.model import Absence
from tidegate.errors import Denied, Gone, Invalid, StateUnreadable, Throttled, TidegateError, Unreachable

__all__ = ["absence_of"]

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
