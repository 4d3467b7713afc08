"""Workers that run, as the platform says, and of which nothing is heard: how many, and for how long.

One that falls silent may be busy for all that is known, so nothing is scaled in. Nor may it keep a pool as it is for
ever: once it has been silent for longer than a lease and its protection last, it is no capacity that can be counted on.
It stays, on top of what the work needs (one worker at least, to see by), and the others are scaled in and out as they
report. Whether it hangs (then they do all the work) or can't report (then it does the part that nobody sees) the sum is
right.
"""

from tidegate.core.memory import Silence
from tidegate.core.retire_astray import SILENT_LIMIT_S

__all__ = ["learn_silence", "said_of", "settled"]


def learn_silence(known: Silence, silent: int, now_s: float) -> Silence:
    """Since when so many at least have been silent without a gap. Who is heard again is taken for the latest one.

    >>> learn_silence(((100.0, 2), (160.0, 1)), silent=4, now_s=170.0)
    ((100.0, 2), (160.0, 1), (170.0, 1))
    >>> learn_silence(((100.0, 2), (160.0, 1)), silent=1, now_s=170.0)
    ((100.0, 1),)
    """
    more = silent - sum([count for _, count in known])
    if more > 0:
        return (*known, (now_s, more))
    left = list(known)
    while more < 0:
        since_s, count = left.pop()
        if count + more > 0:
            left.append((since_s, count + more))
        more += count
    return tuple(left)


def settled(silence: Silence, now_s: float) -> int:
    """How many have been silent for so long that they are waited for no more."""
    return sum([count for since_s, count in silence if now_s - since_s > SILENT_LIMIT_S])


def said_of(silent: int, silence: Silence, now_s: float) -> str:
    """What is said of them; nothing where there are none."""
    if not silent:
        return ""
    who, they = (f"{silent} workers run and have", "they stay") if silent > 1 else ("1 worker runs and has", "it stays")
    return (
        f"{who} not reported for {(now_s - silence[0][0]) / 60:.0f} min: counted as no capacity, {they} on top; "
        "stop what hangs (tidegate health), or let it write the fleet table"
    )
