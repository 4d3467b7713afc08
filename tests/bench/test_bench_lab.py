"""A day of a million messages, beside a bare heap that is pushed and popped as often, in one run."""

import heapq
import sys
import time

import numpy as np
import pytest

from tidegate.lab.policy import Tidegate
from tidegate.lab.scenario import Scenario
from tidegate.lab.simulator import simulate

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

DAY_S = 86_400.0
MESSAGES = 1_000_000
MOST_SECONDS = 15.0
"""Of this process's own time: what else the machine does is not the simulator's."""
SLOTS = 24


def day_of_a_million() -> Scenario:
    draws = np.random.default_rng(1)
    return Scenario(
        "a million in a day",
        arrivals_s=np.sort(draws.uniform(0, DAY_S, MESSAGES)),
        service_s=draws.exponential(2.0, MESSAGES),
        target_wait_s=60.0,
        start_up_s=120.0,
        length_s=DAY_S,
        initial_workers=8,
    )


def bare_heap(scenario: Scenario) -> float:
    """Processor seconds for the least that any event simulator does: a push and a pop for each arrival and each end."""
    times_s = scenario.arrivals_s.tolist()
    service_s = scenario.service_s.tolist()
    ends_s: list[tuple[float, int]] = [(0.0, slot) for slot in range(SLOTS)]
    events: list[tuple[float, int]] = [(0.0, 0)]
    began_s = time.process_time()
    for message, (at_s, takes_s) in enumerate(zip(times_s, service_s, strict=True)):
        heapq.heappush(events, (at_s, message))
        heapq.heappop(events)
        heapq.heappush(ends_s, (at_s + takes_s, message))
        heapq.heappop(ends_s)
    return time.process_time() - began_s


def test_a_day_of_a_million_messages_takes_seconds() -> None:
    scenario = day_of_a_million()
    began_s = time.process_time()
    outcome = simulate(scenario, Tidegate(), seed=1)
    took_s = time.process_time() - began_s
    bare_s = bare_heap(scenario)
    sys.stdout.write(
        f"\nlab: {MESSAGES / took_s:,.0f} messages/s under tidegate ({took_s:.1f} s of CPU, 8,640 decisions included); "
        f"a bare heap {MESSAGES / bare_s:,.0f}/s: ratio {took_s / bare_s:.1f}"
    )
    assert outcome.unserved == 0
    assert took_s < MOST_SECONDS
