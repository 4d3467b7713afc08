"""Scale-ins and deployments of a busy pool, real processes: twenty with the tests, a thousand with `make soak`."""

import os

import pytest

from tests.integration.processes import children_of
from tests.soak.turnover import Outcome, Turnover


def assert_nobody_noticed(outcome: Outcome, at_least: int) -> None:
    print(f"\n{outcome.told()}")  # noqa: T201  the figures are the result
    counts = outcome.messages
    assert outcome.bad_ends == []
    assert (counts.lost, counts.interrupted, counts.duplicates) == (0, 0, 0)
    assert (outcome.queue.visible, outcome.queue.in_flight, outcome.queue.delayed) == (0, 0, 0)
    assert outcome.scaled_in + outcome.deployed >= at_least
    assert outcome.scaled_in > outcome.deployed > 0


@pytest.mark.integration
@pytest.mark.timeout(150)
@pytest.mark.xdist_group("demos-2")
def test_twenty_workers_leave_a_busy_pool_and_no_handler_and_no_message_notices() -> None:
    before = children_of(os.getpid())
    assert_nobody_noticed(Turnover(workers=6, at_once=5).run(20, limit_s=90.0), at_least=20)
    assert set(children_of(os.getpid())) <= set(before)


@pytest.mark.soak
@pytest.mark.timeout(1500)
def test_a_thousand_workers_leave_a_busy_pool_and_no_handler_and_no_message_notices() -> None:
    assert_nobody_noticed(Turnover(workers=16, at_once=12).run(1_000, limit_s=1_200.0), at_least=1_000)
