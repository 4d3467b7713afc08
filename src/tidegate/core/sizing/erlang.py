"""How many slots the work needs. Numbers in, numbers out: rates per second, times in seconds, load in slots."""

import math

__all__ = ["erlang_c", "late_share", "littles_law_slots", "slots_for_target", "workers_for"]


_LOST = 5e-10
"""Of a worker: less than this is what adding up has lost, and no work."""


def littles_law_slots(
    arrivals_per_s: float, backlog: float, drain_s: float, service_time_s: float, utilization: float
) -> float:
    """Slots that keep up with the arrivals and work off the backlog in `drain_s`, busy to `utilization` at most.

    Little's law (J. D. C. Little, Operations Research 9, 1961): slots in use = rate of starts × service time.
    12 messages a second of 0.8 s each, 9,000 waiting to be gone in 300 s, at most 70 % busy:

    >>> round(littles_law_slots(12, 9000, 300, 0.8, 0.7), 9)
    48.0
    >>> workers_for(48.0, slots_per_worker=4)
    12
    """
    return (arrivals_per_s + backlog / drain_s) * service_time_s / utilization


def workers_for(slots: float, slots_per_worker: int) -> int:
    """Whole workers with at least `slots` slots, proof against 48.000000000001.

    >>> workers_for(48.00000000001, slots_per_worker=4)
    12
    >>> workers_for(0.2, slots_per_worker=4), workers_for(0.0, slots_per_worker=4)
    (1, 0)
    """
    return math.ceil(slots / slots_per_worker - _LOST)


def erlang_c(load: float, slots: int) -> float:
    """Chance that an arrival has to wait in M/M/c with `load` = arrivals × service time < `slots`.

    By the recursion of Erlang B, which neither overflows nor cancels (Kleinrock, Queueing Systems I, 3.5-3.6).

    >>> round(erlang_c(load=2.0, slots=3), 4)
    0.4444
    """
    blocking = 1.0
    for n in range(1, slots + 1):
        blocking = load * blocking / (n + load * blocking)
    return _waiting(blocking, load, slots)


def late_share(load: float, slots: int, target_s: float, service_time_s: float, variation: float) -> float:
    """Share of messages that wait longer than `target_s`: the M/G/c tail by Allen and Cunneen's scaling.

    `variation` is the service time's squared coefficient of variation; arrivals count as Poisson.

    >>> round(late_share(load=10, slots=14, target_s=1.0, service_time_s=1.0, variation=1.0), 4)
    0.0032
    """
    return _tail(erlang_c(load, slots), load, slots, target_s, service_time_s, variation)


def slots_for_target(
    load: float, target_s: float, service_time_s: float, variation: float, allowed: float, most: int
) -> int:
    """The fewest slots that keep `late_share` at or under `allowed`: the utilization that this load can bear.

    Beyond `most` (what may be had) it is not worth looking: then the load itself, rounded up, or `most` + 1.
    A small load bears little, a large one much. One per cent may wait longer than one service time:

    >>> [slots_for_target(load, 1.0, 1.0, 1.0, 0.01, most=1000) for load in (0, 2, 10, 50, 200)]
    [0, 5, 14, 54, 205]
    """
    if load <= 0 or load > most:
        return math.ceil(max(0.0, load))
    blocking, enough = 1.0, math.floor(load)
    for slots in range(1, enough + 1):
        blocked = load * blocking
        blocking = blocked / (slots + blocked)
    for slots in range(enough + 1, most + 1):
        blocking = load * blocking / (slots + load * blocking)
        waiting = _waiting(blocking, load, slots)
        if _tail(waiting, load, slots, target_s, service_time_s, variation) <= allowed:
            return slots
    return most + 1


def _waiting(blocking: float, load: float, slots: int) -> float:
    return blocking / (1.0 - (load / slots) * (1.0 - blocking))


def _tail(waiting: float, load: float, slots: int, target_s: float, service_time_s: float, variation: float) -> float:
    return waiting * math.exp(-2.0 * (slots - load) * target_s / (service_time_s * (1.0 + variation)))
