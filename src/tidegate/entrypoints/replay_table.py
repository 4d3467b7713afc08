"""What other settings would have asked for, as lines of text."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tidegate.core.replay import Instead, Sums, sum_up

__all__ = ["clock_time", "counted", "what_if_lines"]

ROWS_SHOWN = 30
NOTE = "queue and workers as recorded: what would have been asked for, not what would have come of it"


def clock_time(at_s: float) -> str:
    """UTC, to the second.

    >>> clock_time(1795996800.0)
    '2026-11-30 00:00:00Z'
    """
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def counted(decisions: int) -> str:
    """In words.

    >>> counted(1), counted(1203)
    ('1 decision', '1,203 decisions')
    """
    return f"{decisions:,} decision" + ("" if decisions == 1 else "s")


def what_if_lines(ticks: Sequence[Instead], changes: Sequence[str]) -> Iterator[str]:
    """A block for each pool: the sums, then each time at which the two counts parted or met again."""
    for pool, (recorded, instead) in sum_up(ticks).items():
        own = [tick for tick in ticks if tick.recorded.pool == pool]
        since = clock_time(own[0].recorded.at_s)
        yield f"{pool}: {counted(recorded.decisions)} from {since} on, with {', '.join(changes)}"
        yield from _sums(recorded, instead)
        yield from _changes(own)
    yield NOTE


def _sums(recorded: Sums, instead: Sums) -> Iterator[str]:
    yield f"  {'':<22}{'recorded':>10}{'instead':>10}"
    for title, mine, other in (
        ("raises", recorded.raises, instead.raises),
        ("cuts", recorded.cuts, instead.cuts),
        ("most workers", recorded.most, instead.most),
    ):
        yield f"  {title:<22}{mine:>10,}{other:>10,}"
    more = f"  ({instead.worker_hours / recorded.worker_hours - 1:+.1%})" if recorded.worker_hours else ""
    yield f"  {'worker-hours asked for':<22}{recorded.worker_hours:>10,.2f}{instead.worker_hours:>10,.2f}{more}"


def _changes(ticks: Sequence[Instead]) -> Iterator[str]:
    shown = list(_turns(ticks))
    if not shown:
        yield "  the same count at every tick"
        return
    yield f"  {'time':<22}{'recorded':>10}{'instead':>10}  why"
    for tick in shown[:ROWS_SHOWN]:
        yield (
            f"  {clock_time(tick.recorded.at_s):<22}{tick.recorded.desired:>10,}{tick.instead.desired:>10,}"
            f"  {tick.instead.sentence}"
        )
    if len(shown) > ROWS_SHOWN:
        yield f"  and {len(shown) - ROWS_SHOWN:,} more (--json has every tick)"


def _turns(ticks: Sequence[Instead]) -> Iterator[Instead]:
    """Where one of the counts changed while they differ, or where they met again."""
    before, apart = (-1, -1), False
    for tick in ticks:
        pair = tick.recorded.desired, tick.instead.desired
        if pair != before and (apart or pair[0] != pair[1]):
            yield tick
        before, apart = pair, pair[0] != pair[1]
