"""The thread behind agent and feeder."""

import threading

import pytest

from tidegate.entrypoints.clock import SystemClock
from tidegate.sandbox.ticker import Ticker


def test_it_steps_until_it_is_stopped() -> None:
    third = threading.Event()
    steps: list[int] = []

    def step() -> None:
        steps.append(len(steps))
        if len(steps) == 3:
            third.set()

    ticker = Ticker("test", step, lambda: 0.001, SystemClock())
    ticker.start()
    assert third.wait(10)
    ticker.stop()
    done = len(steps)
    ticker.stop()
    assert len(steps) == done


def test_an_error_in_its_thread_is_raised_by_stop_and_ends_the_stepping() -> None:
    failed = threading.Event()

    def step() -> None:
        assert not failed.is_set(), "stepped again after an error"
        failed.set()
        raise ZeroDivisionError("in the thread")

    ticker = Ticker("test", step, lambda: 0.001, SystemClock())
    ticker.start()
    assert failed.wait(10)
    with pytest.raises(ZeroDivisionError, match="in the thread"):
        ticker.stop()


def test_stopping_what_was_never_started_does_nothing() -> None:
    Ticker("test", lambda: None, lambda: 1.0, SystemClock()).stop()
