"""The fakes that users' tests build on, and the examples in their documentation."""

import doctest
import importlib
import threading

import pytest

from tidegate.core.observation import Reading
from tidegate.errors import Denied
from tidegate.ports import Metric
from tidegate.testing import FakeCapacity, FakeClock, FakeMetricsReader, FakeQueueReader

AGE = Metric("mail", "ApproximateAgeOfOldestMessage", "Maximum")
DENIED = Denied("sqs:GetQueueAttributes", "mail", "AccessDenied")


@pytest.mark.parametrize("module", ["tidegate.testing", "tidegate.testing.clock", "tidegate.aws.clients"])
def test_the_examples_in_the_documentation_are_true(module: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert (failed, tried > 0) == (0, True)


def test_waiting_moves_the_clock_and_is_remembered() -> None:
    clock = FakeClock(100.0)
    assert clock.wait(threading.Event(), 10.0) is False
    assert (clock.now(), clock.waits_s) == (110.0, [10.0])


def test_a_wait_ends_when_stop_is_set_meanwhile_and_the_clock_stays_there() -> None:
    clock, stop = FakeClock(100.0), threading.Event()
    clock.at(104.0, stop.set)
    assert clock.wait(stop, 10.0) is True
    assert clock.now() == 104.0


def test_a_wait_with_stop_set_already_takes_no_time() -> None:
    clock, stop = FakeClock(100.0), threading.Event()
    stop.set()
    assert clock.wait(stop, 10.0) is True
    assert clock.now() == 100.0


def test_what_was_put_down_happens_in_the_order_of_time_and_sees_its_own_time() -> None:
    clock, seen = FakeClock(0.0), []
    for name, at_s in [("c", 30.0), ("a", 10.0), ("b", 10.0), ("late", 99.0)]:
        clock.at(at_s, lambda name=name: seen.append((name, clock.now())))  # type: ignore[misc]  # name is bound by default
    clock.advance(30.0)
    assert seen == [("a", 10.0), ("b", 10.0), ("c", 30.0)]
    assert clock.now() == 30.0


def test_advancing_is_no_wait_of_anybodys() -> None:
    clock = FakeClock(0.0)
    clock.advance(5.0)
    assert (clock.now(), clock.waits_s) == (5.0, [])


def test_an_error_put_in_place_of_an_answer_is_raised() -> None:
    with pytest.raises(Denied):
        FakeQueueReader({"mail": DENIED}).counts("mail")
    metrics = FakeMetricsReader({AGE: Reading(1.0, 0.0)})
    metrics.error = DENIED
    with pytest.raises(Denied):
        metrics.latest([AGE], 0.0)
    capacity = FakeCapacity(FakeClock(), desired=1)
    seen = capacity.read()
    capacity.error = DENIED
    with pytest.raises(Denied):
        capacity.read()
    with pytest.raises(Denied):
        capacity.set_desired(2, seen)


def test_new_workers_are_pending_until_they_settle() -> None:
    capacity = FakeCapacity(FakeClock(), desired=2)
    capacity.set_desired(5, capacity.read())
    assert (capacity.read().running, capacity.read().pending) == (2, 3)
    capacity.settle()
    assert (capacity.read().running, capacity.read().pending) == (5, 0)
