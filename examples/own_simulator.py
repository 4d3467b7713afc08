"""`decide` in a simulator of your own: what it has to be told at each tick, in a small queue with workers.

    python examples/own_simulator.py

Messages arrive at random, five a second, then fifteen, then five; handlers take four seconds on average; a worker has
four slots and takes half a minute to start. Exact counts, no reports, no CloudWatch: the least that `decide` can live
with. What each further signal is worth can be tried by filling it in.
"""

import heapq
import random
from collections import deque
from dataclasses import dataclass

from tidegate import Observation, Pool, PoolState, decide
from tidegate.core.absence import Absence
from tidegate.core.observation import Capacity, QueueObservation, Reading
from tidegate.core.reports import Fleet

START_UP_S, SERVICE_S, TICK_S, HOURS = 30.0, 4.0, 10.0, 2.0

POOL = Pool(
    name="own",
    target_wait_s=60.0,
    min_workers=1,
    max_workers=100,
    slots_per_worker=4,
    service_time_hint_s=SERVICE_S,  # no worker reports here, so nobody measures it
    start_up_hint_s=START_UP_S,
    stop_timeout_s=1e9,  # a worker that is taken away finishes what it runs; with less, busy pools keep their workers
)


@dataclass
class Result:
    """What came of it: the share of messages that started late, and what the fleet cost ÷ what the work needs."""

    late_share: float
    cost: float


def observation(now_s: float, waiting: int, running: int, oldest_age_s: float, desired: int, ready: int) -> Observation:
    """Everything a tick sees. A reading that can't be had has no value and a reason; zero would be a claim."""
    none = Reading(None, now_s, Absence.MISSING)
    queue = QueueObservation(
        queue="own",
        visible=Reading(waiting, now_s),  # ApproximateNumberOfMessages
        in_flight=Reading(running, now_s),  # ApproximateNumberOfMessagesNotVisible
        delayed=Reading(0, now_s),
        age_s=Reading(oldest_age_s, now_s),  # ApproximateAgeOfOldestMessage; `none` where it is not simulated
        sent_per_s=none,
        deleted_per_s=none,
    )
    capacity = Capacity("own", now_s, desired=desired, running=ready, pending=desired - ready)
    return Observation(now_s, (queue,), capacity, Fleet(now_s, absence=Absence.MISSING))


def rate_per_s(now_s: float) -> float:
    """The traffic: a plateau of three times the rest in the second half hour."""
    return 15.0 if 1800.0 <= now_s < 3600.0 else 5.0


def simulate(seed: int = 1) -> Result:
    """Two hours in virtual time, tick by tick; within a tick second by second."""
    chance, state = random.Random(seed), PoolState()
    waiting: deque[float] = deque()
    ends_s: list[float] = []  # of running handlers, soonest first
    ready_at_s = [0.0] * POOL.min_workers  # one for each worker asked for, soonest first
    sent = late = 0
    paid_s = worked_s = 0.0
    for now_s in map(float, range(int(HOURS * 3600))):
        arrived = sum(chance.random() < rate_per_s(now_s) / 100 for _ in range(100))
        waiting.extend([now_s] * arrived)
        sent += arrived
        while ends_s and ends_s[0] <= now_s:
            heapq.heappop(ends_s)
        ready = sum(at_s <= now_s for at_s in ready_at_s)
        while waiting and len(ends_s) < ready * POOL.slots_per_worker:
            late += now_s - waiting.popleft() > POOL.target_wait_s
            service_s = chance.expovariate(1 / SERVICE_S)
            worked_s += service_s
            heapq.heappush(ends_s, now_s + service_s)
        if now_s % TICK_S == 0:
            age_s = now_s - waiting[0] if waiting else 0.0
            seen = observation(now_s, len(waiting), len(ends_s), age_s, len(ready_at_s), ready)
            decision, state = decide(POOL, state, seen)
            asked = decision.desired - len(ready_at_s)
            ready_at_s = sorted([*ready_at_s, *[now_s + START_UP_S] * asked])[: decision.desired]
        paid_s += max(len(ready_at_s), len(ends_s) / POOL.slots_per_worker)
    return Result(late / sent, paid_s * POOL.slots_per_worker / worked_s)


if __name__ == "__main__":
    result = simulate()
    print(f"{result.late_share:.2%} late, cost {result.cost:.2f} × the work")
