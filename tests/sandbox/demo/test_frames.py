"""A frame shows the queue and the fleet of one moment; a history keeps the peaks when it is thinned for a chart."""

import pytest

from tidegate.sandbox.agent import Agent
from tidegate.sandbox.demo.frames import History
from tidegate.sandbox.platform import Phase, WorkerView
from tidegate.sandbox.sqs import QueueSnapshot


class Staff(Agent):
    """An agent that only tells of its workers."""

    def __init__(self, *phases: Phase) -> None:
        self.phases = phases

    def workers(self) -> tuple[WorkerView, ...]:
        return tuple(WorkerView(str(n), phase, "1", 0.0) for n, phase in enumerate(self.phases))


def snapshot(sent: int = 0, visible: int = 0, age_s: float | None = None) -> QueueSnapshot:
    return QueueSnapshot("demo", "arn", 0.0, visible, 2, 0, age_s, sent, sent, sent - visible, 0, 0, 0, 0, 0)


def test_a_frame_counts_workers_by_phase_and_keeps_their_peak() -> None:
    history = History()
    history.add(0.0, snapshot(), Staff(Phase.RUNNING, Phase.RUNNING, Phase.PENDING), desired=3)
    frame = history.add(1.0, snapshot(), Staff(Phase.RUNNING, Phase.STOPPING), desired=1)
    assert (frame.running, frame.pending, frame.stopping, frame.desired) == (1, 0, 1, 1)
    assert history.peak_workers == 2


def test_the_head_age_is_that_of_waiting_messages_only() -> None:
    history = History()
    assert history.add(0.0, snapshot(visible=0, age_s=9.0), Staff(), 1).head_age_s == 0.0
    assert history.add(1.0, snapshot(visible=3, age_s=9.0), Staff(), 1).head_age_s == 9.0
    assert history.add(2.0, snapshot(visible=3, age_s=None), Staff(), 1).head_age_s == 0.0


def test_the_arrival_rate_is_that_of_the_last_seconds() -> None:
    history = History()
    for second in range(20):
        sent = 5 * second if second < 10 else 50 + 40 * (second - 10)
        history.add(float(second), snapshot(sent=sent), Staff(), 1)
    assert history.frames[-1].arrivals_per_s == pytest.approx(40.0)


def test_thinning_for_a_chart_keeps_the_peaks() -> None:
    history = History()
    for second in range(100):
        history.add(float(second), snapshot(visible=77 if second == 31 else 1), Staff(), 1)
    series = history.series("backlog", width=10)
    assert (len(series), max(series), series.index(77)) == (10, 77, 3)
    assert len(history.series("backlog", width=500)) == 100
