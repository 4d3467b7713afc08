"""The most work at a time that a shared dependency takes. Counts, rates per second and seconds in, a count out."""

import math
from typing import Final

__all__ = ["max_workers_for", "slots_for_rate"]

_PROOF: Final = 1e-9
"""100 × 0.29 is 28.999999999999996 to a machine: it counts as 29."""


def slots_for_rate(rate_per_s: float, item_time_s: float, calls_per_item: float) -> float:
    """Items at a time that keep the calls within `rate_per_s`: rate × time ÷ calls (Little's law).

    >>> slots_for_rate(100, item_time_s=0.5, calls_per_item=2)
    25.0
    """
    return rate_per_s * item_time_s / calls_per_item


def max_workers_for(
    db_pool_size: int | None, api_rate: float | None, item_time_s: float, calls_per_item: float = 1.0
) -> int:
    """The most concurrency that a pool of database connections and an API's rate (calls a second) can take.

    The smaller of one connection each, and the whole items at a time whose calls stay within the rate. None: no such
    limit. Never less than one, though a single worker may be over a rate of less than one call per item time. Raises
    ValueError when neither limit is given, or when one is not above zero.

    A database pool of 20, an API that takes 100 calls a second, items of 20 ms with one call each:
    min(20, int(100 × 0.02 ÷ 1)) = 2.

    >>> max_workers_for(db_pool_size=20, api_rate=100, item_time_s=0.02, calls_per_item=1)
    2
    >>> max_workers_for(20, None, 0.02), max_workers_for(None, 100, 0.29)
    (20, 29)
    """
    given = [limit for limit in (db_pool_size, api_rate) if limit is not None]
    if not given:
        raise ValueError("give db_pool_size, api_rate or both: there is nothing to be limited by")
    if min(*given, item_time_s, calls_per_item) <= 0:
        raise ValueError("db_pool_size, api_rate, item_time_s and calls_per_item must be more than 0")
    limits = [] if db_pool_size is None else [db_pool_size]
    if api_rate is not None:
        limits.append(math.floor(slots_for_rate(api_rate, item_time_s, calls_per_item) * (1 + _PROOF)))
    return max(1, min(limits))
