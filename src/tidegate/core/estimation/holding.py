"""How long workers are kept after they are no longer needed: what would have been cheapest, in this pool, of late.

To keep an idle worker for as long as a new one takes to start costs what starting it costs. Who waits just so long pays
at most twice what somebody would who knew when it is needed again (the ski rental problem; Karlin, Manasse, Rudolph and
Sleator, Algorithmica 3, 1988). Whether less would have been enough is known afterwards: beside the count that is run go
those that shorter times would have kept, each with its bill, and the cheapest time is the one that holds.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from tidegate.core.bounds import at_least, at_most
from tidegate.core.estimation import times
from tidegate.core.estimation.adapt import blind_s
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.model import Holding, Pool

__all__ = ["SHARES", "hold_s", "learn_hold"]

SHARES: Final = (0.5, 0.25, 1.0)
"""Of the start-up time; the first where the bills are even."""

MEMORY_S = 7200.0
"""Bills fade with this time constant."""


def learn_hold(
    known: Holding, needs: Sequence[tuple[float, int]], most: int, elapsed_s: float, start_up_s: float
) -> Holding:
    """Add a tick: what each share of the start-up time keeps now, and what that cost.

    `needs` are (at_s, workers) as `limits.remember_need` keeps them, the latest now; above `most` none could be
    had. A bill is in worker-seconds: those kept, and a start-up for each worker that had to come again.

    >>> needs = ((0.0, 9), (40.0, 5), (90.0, 1), (100.0, 1))
    >>> learn_hold(Holding((1, 1, 1), (0.0, 0.0, 0.0)), needs, most=8, elapsed_s=10.0, start_up_s=100.0)
    Holding(kept=(1, 1, 8), bills=(10.0, 10.0, 780.0))
    """
    now_s = needs[-1][0]
    kept = tuple([at_most(most, needs[bisect_left(needs, (now_s - share * start_up_s,))][1]) for share in SHARES])
    if not len(known.kept) == len(known.bills) == len(SHARES):  # the first tick, or a state that knew other shares
        return Holding(kept, (0.0,) * len(SHARES))
    left = math.exp(-elapsed_s / MEMORY_S)
    bills = [
        bill * left + now * elapsed_s + at_least(now - before, 0) * start_up_s
        for bill, now, before in zip(known.bills, kept, known.kept, strict=True)
    ]
    return Holding(kept, tuple(bills))


def hold_s(pool: Pool, start_up: Estimate, known: Holding) -> float:
    """How long fewer workers must have been enough before any is given up: the setting, or what has been learned.

    The plain formula keeps a worker for the whole start-up time. So does a pool whose target does not outlast a blind
    window: there messages are late while a worker that was given up too soon comes again, which is on no bill.
    """
    start_up_s = times.HOLD_UNMEASURED_S if start_up.source == "unmeasured" else start_up.value
    learns = not pool.plain and pool.target_wait_s > blind_s(pool, start_up_s)
    return times.hold_s(pool, start_up, _cheapest(known) if learns else 1.0)


def _cheapest(known: Holding) -> float:
    if not known.bills:
        return SHARES[0]
    return min(zip(known.bills, SHARES, strict=True), key=itemgetter(0))[1]
