"""What handlers lean on, and how many slots it can take: a database's connections, an API's rate, FIFO groups."""

import math
from dataclasses import dataclass

__all__ = ["ApiRate", "Database", "max_workers_for"]


@dataclass(frozen=True, slots=True)
class Database:
    """Connections that all slots together may open, less those kept for others; each slot holds `per_slot`."""

    connections: int
    reserved: int = 0
    per_slot: int = 1

    @property
    def slots(self) -> int:
        """Slots that the connections are enough for.

        >>> Database(connections=100, reserved=10, per_slot=4).slots
        22
        """
        return max(0, self.connections - self.reserved) // self.per_slot

    def __str__(self) -> str:
        less = f" less {self.reserved} reserved" if self.reserved else ""
        return f"the database ({self.connections} connections{less}, {self.per_slot} per slot: {self.slots} slots)"


@dataclass(frozen=True, slots=True)
class ApiRate:
    """Calls a second that an API takes from all slots together, and the calls that one message makes."""

    per_s: float
    calls_per_message: float = 1.0

    def slots(self, service_time_s: float) -> int:
        """Slots that stay within the rate when each is always busy, by Little's law: rate × time ÷ calls.

        >>> ApiRate(per_s=100.0, calls_per_message=1.0).slots(service_time_s=0.02)
        2
        """
        return math.floor(round(self.per_s * service_time_s / self.calls_per_message, 9))

    def text(self, service_time_s: float) -> str:
        """With the numbers, to be checked by hand."""
        calls = "" if self.calls_per_message == 1 else f" ÷ {self.calls_per_message:g} calls each"
        return (
            f"the API's rate ({self.per_s:g}/s × {service_time_s:.3g} s{calls}: {_slots(self.slots(service_time_s))})"
        )


def max_workers_for(
    db_pool_size: int | None, api_rate: float | None, item_time_s: float, calls_per_item: float = 1.0
) -> int:
    """The most items to work on at once: a connection for each, and the calls of all within `api_rate` a second.

    `item_time_s` is how long an item takes while the API answers at its usual speed. None: no such limit. One at least:
    with none nothing would ever be done, so where that one calls too often, the calls themselves have to be spaced.
    Raises ValueError when neither limit is given, or when anything is not above zero.

    >>> max_workers_for(db_pool_size=20, api_rate=100, item_time_s=0.02, calls_per_item=1)
    2
    >>> min(20, int(100 * 0.02 / 1))
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
        limits.append(ApiRate(api_rate, calls_per_item).slots(item_time_s))
    return max(1, min(limits))


def _slots(count: int) -> str:
    return f"{count} slot" if count == 1 else f"{count} slots"
