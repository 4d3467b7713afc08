"""What a decision costs in a controller of a thousand pools, beside a bare round trip of the state's fields."""

import random
import sys
import time
from dataclasses import fields
from statistics import median

import numpy as np
import pytest

from tidegate.core.decide import decide
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.lab.policy import Tidegate, Truth
from tidegate.lab.scenario import Scenario
from tidegate.lab.simulator import simulate

pytestmark = [pytest.mark.bench, pytest.mark.timeout(300)]

POOLS = 1_000
ROUNDS = 3
LENGTH_S = 3600.0
FIELDS = tuple(field.name for field in fields(PoolState))

Given = tuple[Pool, PoolState, Observation]


class Kept(Tidegate):
    """Decides as the product does, and keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[Given] = []

    def desired(self, seen: Observation, truth: Truth) -> int:
        self.given.append((self._pool, self._state, seen))
        return super().desired(seen, truth)


def an_hour(seed: int) -> Scenario:
    """A rise and a fall, with five to forty busy slots on average, four to a worker."""
    draws = np.random.default_rng(seed)
    load = draws.uniform(5, 40)
    service_s = draws.uniform(0.5, 20)
    count = int(load / service_s * LENGTH_S)
    return Scenario(
        f"hour {seed}",
        arrivals_s=np.sort(draws.beta(2, 2, count) * LENGTH_S),
        service_s=draws.exponential(service_s, count),
        target_wait_s=60.0,
        start_up_s=60.0,
        length_s=LENGTH_S,
        initial_workers=2,
    )


def a_thousand_pools() -> list[Given]:
    """Moments of twenty pools that have been in service for half an hour, in no order: as cold as in a controller."""
    given: list[Given] = []
    for seed in range(20):
        kept = Kept()
        simulate(an_hour(seed), kept, seed=seed)
        given.extend(kept.given[len(kept.given) // 2 :])
    return random.Random(1).sample(given, POOLS)


def round_trip(state: PoolState) -> PoolState:
    """Every field read, and a bare constructor called: the least that remembering anything costs."""
    return PoolState(**{name: getattr(state, name) for name in FIELDS})


def test_a_decision_beside_a_bare_round_trip_of_what_a_pool_remembers() -> None:
    given = a_thousand_pools()
    decided_s, told_s, bare_s = [], [], []
    for pool, state, seen in given * ROUNDS:
        began_s = time.perf_counter()
        decided, _ = decide(pool, state, seen)
        decided_s.append(time.perf_counter() - began_s)
        assert decided.steps
        told_s.append(time.perf_counter() - began_s)
        assert decided.at_s == seen.now_s
        began_s = time.perf_counter()
        copied = round_trip(state)
        bare_s.append(time.perf_counter() - began_s)
        assert copied == state
    took_s, with_told_s, least_s = median(decided_s), median(told_s), median(bare_s)
    workers = sum(len(seen.fleet.workers) for _, _, seen in given) / POOLS
    samples = sum(len(state.samples) for _, state, _ in given) / POOLS
    sys.stdout.write(
        f"\ndecide: {took_s * 1e6:.0f} µs a pool, {with_told_s * 1e6:.0f} µs with its sentence, steps and health, as "
        f"the controller logs them (median; {POOLS:,} pools of {workers:.0f} workers and {samples:.0f} samples on "
        f"average); a bare round trip of its state {least_s * 1e6:.1f} µs: ratio {took_s / least_s:.0f}"
    )
