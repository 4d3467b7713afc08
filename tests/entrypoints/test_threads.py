"""Threads that nobody waits for at the end, and that end by themselves when their work has run out."""

import threading

import pytest

from tidegate.entrypoints.threads import DaemonThreads

WAIT_S = 10


def test_what_is_submitted_runs_and_gives_what_it_returns_or_raises() -> None:
    with DaemonThreads(3, "look") as threads:
        doubled = [threads.submit(lambda number: 2 * number, number) for number in range(20)]
        failed = threads.submit(int, "three")

    assert [future.result(WAIT_S) for future in doubled] == [2 * number for number in range(20)]
    with pytest.raises(ValueError, match="three"):
        failed.result(WAIT_S)


def test_no_more_run_at_a_time_than_there_are_threads_and_all_of_those_do() -> None:
    def meet(_: int) -> int:
        together.wait()
        return threading.active_count()

    together = threading.Barrier(2, timeout=WAIT_S)
    before = threading.active_count()
    with DaemonThreads(2, "look") as threads:
        counts = [threads.submit(meet, number).result for number in range(4)]

    assert max(count(WAIT_S) for count in counts) <= before + 2


def test_the_end_waits_for_no_call_and_a_thread_ends_after_its_last() -> None:
    released = threading.Event()
    ran: list[threading.Thread] = []

    def hang() -> None:
        ran.append(threading.current_thread())
        released.wait(WAIT_S)

    with DaemonThreads(1, "look") as threads:
        threads.submit(hang)
        last = threads.submit(threading.current_thread)

    assert not last.done()
    released.set()
    assert last.result(WAIT_S) is ran[0]
    ran[0].join(WAIT_S)
    assert ran[0].daemon
    assert not ran[0].is_alive()
