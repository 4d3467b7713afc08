"""Heartbeats reckoned for all workers at once say what a count of each worker's runs, one by one, says."""

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lab.rig import Script, scenario
from tidegate.core.reports import WAIT_BOUNDS_S, DependencyFigures, WorkerReport, WorkerState, WorkFigures
from tidegate.lab.fleet import Platform
from tidegate.lab.fleet_reports import DEPENDENCY, FleetReports
from tidegate.lab.scenario import Downstream, Scenario
from tidegate.lab.simulator import simulate
from tidegate.lab.simulator_queue import Runs, SimulatedQueue


def counted(made: Scenario, runs: Runs, worker: int, from_s: float, to_s: float) -> WorkFigures:
    """What this worker did in [from_s, to_s), by looking at every run there was."""
    figures = {"starts": 0, "completions": 0, "redeliveries": 0}
    sums = [0.0, 0.0]
    waits = [0] * (len(WAIT_BOUNDS_S) + 1)
    seen: set[int] = set()
    for start_s, end_s, slot, message in zip(runs.starts_s, runs.ends_s, runs.slots, runs.messages, strict=True):
        if slot // made.slots_per_worker == worker:
            if from_s <= start_s < to_s:
                figures["starts"] += 1
                figures["redeliveries"] += message in seen
                if message not in seen:
                    waits[bisect_left(WAIT_BOUNDS_S, start_s - made.arrivals_s[message])] += 1
            if from_s <= end_s < to_s:
                figures["completions"] += 1
                sums[0] += end_s - start_s
                sums[1] += (end_s - start_s) ** 2
        seen.add(message)
    return WorkFigures(
        span_s=to_s - from_s,
        starts=figures["starts"],
        completions=figures["completions"],
        redeliveries=figures["redeliveries"],
        service_time_sum_s=pytest.approx(sums[0]),  # type: ignore[arg-type]  # equals what is nearly it
        service_time_square_sum_s2=pytest.approx(sums[1]),  # type: ignore[arg-type]  # equals what is nearly it
        waits=tuple(waits) if any(waits) else (),
    )


def all_runs(parts: list[Runs]) -> Runs:
    return Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in Runs.__slots__))


work = st.lists(st.tuples(st.floats(0, 150), st.floats(0.1, 40)), min_size=1, max_size=30).map(sorted)
steps = st.lists(st.integers(0, 3), min_size=1, max_size=15)


@settings(max_examples=60, deadline=None)
@given(work, steps, st.sampled_from([4.0, 10.0, 37.0]), st.integers(1, 3))
def test_every_report_tells_what_its_worker_did_since_the_beat_before(
    messages: list[tuple[float, float]], asked: list[int], tick_s: float, slots: int
) -> None:
    made = scenario([a for a, _ in messages], [s for _, s in messages], start_up_s=7.0, slots_per_worker=slots)
    queue = SimulatedQueue(made, frozenset(), seed=1)
    platform, reports, parts = Platform(made, queue, seed=1), FleetReports(made, frozenset()), []
    told: dict[str, WorkerReport] = {}
    for tick, workers in enumerate(asked):
        now_s = tick * tick_s
        while platform.next_event_s <= now_s:
            event_s = platform.next_event_s
            queue.run_until(event_s)
            platform.pass_event(event_s)
        queue.run_until(now_s)
        parts.append(queue.take_runs())
        reports.add(parts[-1], np.zeros(len(parts[-1].messages), bool))
        runs = all_runs(parts)
        for report in reports.read(now_s, platform.present_since(now_s - 30.0)):
            number, at_s = int(report.worker_id[1:]), report.reported_at_s
            assert now_s - 30 < at_s <= now_s
            assert report.recent == counted(made, runs, number, at_s - report.recent.span_s, at_s)
            assert report.total == counted(made, runs, number, report.started_at_s, at_s)
            own = runs.slots // slots == number
            assert report.busy == np.count_nonzero(own & (runs.starts_s < at_s) & (runs.ends_s >= at_s))
            before = told.get(report.worker_id, report)
            assert before.reported_at_s <= at_s
            told[report.worker_id] = report
        platform.set_desired(workers, now_s)


def states(script: Script, worker: str, from_s: int, to_s: int) -> dict[float, tuple[WorkerState, int]]:
    """The reports of one worker as they changed: reported at -> state, busy."""
    reports = (r for t in range(from_s, to_s) for r in script.at(t).fleet.workers if r.worker_id == worker)
    return {report.reported_at_s: (report.state, report.busy) for report in reports}


def test_a_worker_beats_every_ten_seconds_from_its_first_receive_when_it_drains_and_when_it_stops() -> None:
    """Asked for at 0, ready at 33, takes the message of 34 s, is told to go at 58, done at 74; the table forgets it."""
    made = scenario([34.0, 200.0], [40.0, 1.0], start_up_s=33.0)
    script = Script((0, 1), (58, 0), (150, 1))
    simulate(made, script, seed=1)
    assert states(script, "w0", 0, 150) == {
        33: (WorkerState.RUNNING, 0),
        43: (WorkerState.RUNNING, 1),
        53: (WorkerState.RUNNING, 1),
        58: (WorkerState.DRAINING, 1),
        68: (WorkerState.DRAINING, 1),
        74: (WorkerState.STOPPED, 1),
    }
    last = next(r for r in script.at(74).fleet.workers)
    assert (last.first_receive_at_s, last.started_at_s, last.reason) == (33, 33, "scale-in")
    assert [bool(script.at(t).fleet.workers) for t in (32, 33, 103, 104)] == [False, True, True, False]


def test_a_lost_workers_last_report_stays_for_three_beats_and_knows_of_nothing() -> None:
    made = scenario([0.0], 90.0, initial_workers=1, spot_losses_per_hour=60, lease_s=200.0)
    script = Script((0, 1))
    simulate(made, script, seed=10)  # lost between 36 and 37
    assert states(script, "w0", 0, 200) == {0: (WorkerState.RUNNING, 0)} | dict.fromkeys(
        (10, 20, 30), (WorkerState.RUNNING, 1)
    )
    assert [any(r.worker_id == "w0" for r in script.at(t).fleet.workers) for t in (59, 60)] == [True, False]


def test_a_failed_run_is_reported_as_a_failure_and_its_next_start_as_a_redelivery() -> None:
    made = scenario([1.0], 2.0, length_s=100, initial_workers=1, poison_share=1.0, retry_after_s=30, max_receives=2)
    script = Script((0, 1))
    simulate(made, script, seed=1)
    total = script.at(90).fleet.workers[0].total
    assert (total.starts, total.completions, total.failures, total.redeliveries) == (2, 0, 2, 1)
    assert (total.service_time_sum_s, total.service_time_square_sum_s2) == (4.0, 8.0)
    assert sum(total.waits) == 1  # the wait of the first receive: the second is the back-off, not the queue's doing


def test_calls_of_a_strained_dependency_are_timed_and_no_others_are_reported() -> None:
    arrivals = [1.0, 1.0, 1.0, 1.0]
    plain, strained = (
        scenario(arrivals, 2.0, length_s=100, initial_workers=1, slots_per_worker=4, downstream=downstream)
        for downstream in (None, Downstream(capacity_slots=2, strain=1.0))
    )
    script = Script((0, 1))
    simulate(plain, script, seed=1)
    assert script.at(90).fleet.workers[0].total.dependencies == {}
    simulate(strained, script, seed=1)
    total = script.at(90).fleet.workers[0].total
    # 1, 2, 3 and 4 slots are busy as they start: 1, 1, 1.5 and 2 times as long
    assert total.dependencies == {DEPENDENCY: DependencyFigures(calls=4, time_sum_s=2.0 * 5.5)}
