"""An operator's hand on a pool: whether it still holds, and what to call it."""

from datetime import UTC, datetime

from tidegate.core.model import Override, OverrideKind

__all__ = ["describe", "in_force"]

_LAST_TIME_S = 253_402_300_799.0
"""The end of the year 9999, beyond which calendars (and overrides) don't reach."""


def in_force(override: Override | None, now_s: float) -> Override | None:
    """The override while it holds, else None: one that has run out means nothing, whether or not it is still stored."""
    return None if override is None or (override.until_s is not None and override.until_s <= now_s) else override


def describe(override: Override) -> str:
    """In words, for every value.

    >>> describe(Override(OverrideKind.PIN, "ada@desk", since_s=0.0, until_s=1_800_000_000.0, workers=7))
    'pinned at 7 by ada@desk until 2027-01-15 08:00:00 UTC'
    >>> describe(Override(OverrideKind.FREEZE, "ada@desk", since_s=0.0))
    'frozen by ada@desk until resumed'
    """
    until = "until resumed"
    if override.until_s is not None and 0 <= override.until_s <= _LAST_TIME_S:
        until = f"until {datetime.fromtimestamp(override.until_s, UTC):%Y-%m-%d %H:%M:%S} UTC"
    pinned = override.kind is OverrideKind.PIN and override.workers is not None
    return f"{f'pinned at {override.workers}' if pinned else 'frozen'} by {override.who} {until}"
