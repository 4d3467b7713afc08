"""How many jobs one worker can run at a time: CPU and memory bound a worker's slots, never the fleet's."""

import math
from dataclasses import dataclass

__all__ = ["HEADROOM", "WorkerFit", "slots_that_fit"]

HEADROOM = 0.2
"""Of the memory and the CPU, what no job is counted on for: the runtime's own growth, a page cache, a heartbeat."""


@dataclass(frozen=True, slots=True)
class WorkerFit:
    """Slots that fit into a worker, and which of the two binds, with its numbers."""

    slots: int
    binds: str


def slots_that_fit(
    *,
    cpus: float | None = None,
    cpu_per_job: float | None = None,
    memory_mib: float | None = None,
    memory_mib_per_job: float | None = None,
    headroom: float = HEADROOM,
) -> WorkerFit | None:
    """The smaller of cores ÷ a job's share of a core, and memory limit ÷ a job's peak resident memory; one at least.

    None when nothing is known of either. A job that waits for the network takes a small share of a core; one that
    computes takes a whole one, or as many as it has threads.

    >>> slots_that_fit(cpus=2, cpu_per_job=0.1, memory_mib=4096, memory_mib_per_job=300)
    WorkerFit(slots=10, binds='memory (4096 MiB less 20 %, 300 MiB per job)')
    >>> slots_that_fit(cpus=2, cpu_per_job=1).slots
    1
    """
    fits: list[WorkerFit] = []
    if cpus is not None and cpu_per_job is not None:
        text = f"CPU ({cpus:g} cores less {headroom:.0%}, {cpu_per_job:g} cores per job)".replace("%", " %")
        fits.append(WorkerFit(_whole(cpus, cpu_per_job, headroom), text))
    if memory_mib is not None and memory_mib_per_job is not None:
        text = f"memory ({memory_mib:g} MiB less {headroom:.0%}, {memory_mib_per_job:g} MiB per job)".replace("%", " %")
        fits.append(WorkerFit(_whole(memory_mib, memory_mib_per_job, headroom), text))
    return min(fits, key=lambda fit: fit.slots, default=None)


def _whole(limit: float, per_job: float, headroom: float) -> int:
    return max(1, math.floor(round(limit * (1 - headroom) / per_job, 9)))
