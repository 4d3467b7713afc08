"""How many messages may be in hand beyond the free slots: enough to hide a poll's way there and back, and no more.

A message in hand waits where no other worker can take it. So none is prefetched for jobs of more than a second, and for
shorter ones only as many as the slots get through in a quarter of a second.
"""

from typing import Final

__all__ = ["room_for"]

_LONGEST_IN_HAND_S: Final = 0.25
_LONG_JOB_S: Final = 1.0
_POLL: Final = 10


def room_for(service_time_s: float | None, slots: int) -> int:
    """Messages that may wait in hand when handlers take so long on average; None: not known yet.

    >>> room_for(0.02, slots=4), room_for(0.1, slots=4), room_for(2.0, slots=100), room_for(None, slots=4)
    (14, 10, 0, 0)
    """
    if service_time_s is None or service_time_s > _LONG_JOB_S:
        return 0
    through = slots * _LONGEST_IN_HAND_S / service_time_s if service_time_s > 0 else float("inf")
    return int(min(slots + _POLL, through))
