"""What the demo sees of itself, a few times a second: the data of the live view and of the progress lines."""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

from tidegate.sandbox.agent import Agent
from tidegate.sandbox.platform import Phase
from tidegate.sandbox.sqs import QueueSnapshot

__all__ = ["Frame", "History"]

RATE_WINDOW_S = 3.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One look. Times in seconds from the demo's start, counts in messages and workers."""

    at_s: float
    head_age_s: float
    backlog: int
    in_flight: int
    arrivals_per_s: float
    desired: int
    running: int
    pending: int
    stopping: int
    sent: int
    deleted: int

    @property
    def workers(self) -> int:
        """Processes that take work."""
        return self.running


class History:
    """The frames so far, thinned to what a chart can show, and the peak of running workers."""

    def __init__(self, keep: int = 2000) -> None:
        self.frames: deque[Frame] = deque(maxlen=keep)
        self.peak_workers = 0

    def add(self, at_s: float, queue: QueueSnapshot, agent: Agent, desired: int) -> Frame:
        phases = [worker.phase for worker in agent.workers()]
        frame = Frame(
            at_s=at_s,
            head_age_s=queue.oldest_age_s or 0.0 if queue.visible else 0.0,
            backlog=queue.visible,
            in_flight=queue.in_flight,
            arrivals_per_s=self._rate(at_s, queue.sent),
            desired=desired,
            running=phases.count(Phase.RUNNING),
            pending=phases.count(Phase.PENDING),
            stopping=phases.count(Phase.STOPPING),
            sent=queue.sent,
            deleted=queue.deleted,
        )
        self.frames.append(frame)
        self.peak_workers = max(self.peak_workers, frame.running)
        return frame

    def begin(self) -> None:
        """Forget the time before the traffic."""
        self.frames.clear()

    def series(self, name: str, width: int) -> list[float]:
        """`name` of the frames, thinned to `width` points (at least one) by taking the largest of each stretch."""
        width = max(1, width)
        values = [float(getattr(frame, name)) for frame in self.frames]
        if len(values) <= width:
            return values
        edges = [round(index * len(values) / width) for index in range(width + 1)]
        return [max(values[left:right]) for left, right in pairwise(edges)]

    def _rate(self, at_s: float, sent: int) -> float:
        past = next((frame for frame in self.frames if frame.at_s >= at_s - RATE_WINDOW_S), None)
        return (sent - past.sent) / (at_s - past.at_s) if past is not None and at_s > past.at_s else 0.0
