"""Retirement, one tick at a time: workers as they report themselves, and who is on the list afterwards."""

from typing import Any

from tests.core.observations import capacity, observe, worker
from tidegate.core.model import Retired
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerReport, WorkerState
from tidegate.core.retire.choice import Outcome, is_gentle, retire


def protected(name: str, busy: int = 4, **changes: Any) -> WorkerReport:
    return worker(name, busy=busy, protected=True, **changes)


def drained(name: str, **changes: Any) -> WorkerReport:
    return worker(name, busy=0, state=WorkerState.RELEASED, **changes)


def seen(*workers: WorkerReport, desired: int | None = None, **changes: Any) -> Observation:
    count = len(workers) if desired is None else desired
    return observe(workers=workers, seen=capacity(count, **changes))


def step(wanted: int, before: tuple[Retired, ...], look: Observation, *, lower: bool = True) -> Outcome:
    return retire(wanted, before, look, gentle=is_gentle(look), lower=lower)


def ids(outcome: Outcome) -> set[str]:
    return {each.worker_id for each in outcome.retired}


BUSY = (protected("a", 4), protected("b", 1), protected("c", 3), protected("d", 0))
