"""A decision in one sentence: what was seen, what it needs, and which rule had the last word."""

from tidegate.core.decision import Reason
from tidegate.core.estimation.load import Load
from tidegate.core.model import Pool

__all__ = ["bulk_sentence", "sentence", "sentence_without_need"]

_UNCHANGED = {Reason.STEADY}
_RATE_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"))
_SHOWN_RATE = 0.05
"""The least that one decimal shows."""


def sentence(pool: Pool, load: Load, current: int, need: int, desired: int, reason: Reason, note: str) -> str:
    """Of a pool with a target wait; `bulk_sentence` is for the others.

    For example: "2 → 5 workers: 40.1/s arriving at 0.30 s each and 85 waiting (head 3 s of 10 s) need 6; …"."""
    arriving = f"{_rate(load.arrivals.value)} arriving at {_seconds(load.service_time.value)} each"
    if load.arrivals.source == "unmeasured":
        arriving = f"arrivals not known before the next look, {_seconds(load.service_time.value)} each,"
    seen = (
        f"{arriving} and {load.waiting:.0f} waiting (head {_seconds(load.head_age.value)} of "
        f"{_seconds(pool.target_wait_s)} allowed) need {_workers(need)}"
    )
    last_word = f"; {note}" if note else ""
    return f"{_change(current, desired, reason)}: {seen}{last_word}"


def bulk_sentence(current: int, desired: int, reason: Reason, plan: str, note: str) -> str:
    """For a pool that is to be empty by a time: "2 → 5 workers: 9000 messages in 2h: 5 workers of 4 slots"."""
    return f"{_change(current, desired, reason)}: {plan}" + (f"; {note}" if note else "")


def sentence_without_need(current: int, desired: int, reason: Reason, note: str) -> str:
    """The same for a decision that could not reckon a need."""
    return f"{_change(current, desired, reason)}: {note}"


def _change(current: int, desired: int, reason: Reason) -> str:
    if current == desired:
        return f"{'steady at' if reason in _UNCHANGED else 'held at'} {_workers(desired)}"
    return f"{current} → {_workers(desired)}"


def _workers(count: int) -> str:
    return f"{count} worker" if count == 1 else f"{count} workers"


def _rate(per_s: float) -> str:
    """In the unit in which it is not rounded to nothing: 0.0/s that need a worker would be a riddle.

    >>> _rate(40.13), _rate(0.03), _rate(1 / 3600), _rate(0.0)
    ('40.1/s', '1.8/min', '1.0/h', '0.0/s')
    """
    for unit_s, unit in _RATE_UNITS:
        if per_s * unit_s >= _SHOWN_RATE:
            return f"{per_s * unit_s:.1f}/{unit}"
    return "0.0/s"


def _seconds(value_s: float) -> str:
    return f"{value_s:.0f} s" if value_s >= 10 else f"{value_s:.2g} s"
