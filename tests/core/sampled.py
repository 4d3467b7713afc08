"""Readings of a queue, tick by tick, and the samples that they leave."""

from dataclasses import replace

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.estimation.arrivals import arrivals_per_s
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.sampling import extend_samples
from tidegate.core.model import Pool, PoolState, Sample
from tidegate.core.observation import QueueObservation
from tidegate.core.reports import WorkerReport
from tidegate.core.signals.read import Signals, read_signals

MEAN_S = 0.8
ON_TRIAL = replace(POOL, policy="wait", utilization=None)


def signals(seen: QueueObservation | None = None, *workers: WorkerReport, running: int = 1) -> Signals:
    return read_signals(POOL, PoolState(), observe(seen or queue(), seen=capacity(running), workers=workers))


def watch(rates: list[float], completions_per_s: float, pool: Pool = POOL) -> tuple[Sample, ...]:
    """Samples of a queue that gets `rates[i]` messages a second in tick i and loses what its workers complete."""
    samples: tuple[Sample, ...] = ()
    waiting = 0.0
    for tick, rate in enumerate([0.0, *rates]):
        waiting = max(0.0, waiting + (rate - completions_per_s) * pool.tick_s)
        done = worker(completions=round(completions_per_s * pool.tick_s))
        seen = signals(queue(waiting), done)
        samples = extend_samples(pool, samples, NOW_S + tick * pool.tick_s, seen, MEAN_S)
    return samples


def readings(*totals: float) -> tuple[Sample, ...]:
    """Samples ten seconds apart of a queue that nobody works on."""
    return tuple(Sample(NOW_S + 10 * n, total, total, total) for n, total in enumerate(totals))


def rate_of(samples: tuple[Sample, ...], seen: Signals | None = None, mean_s: float = MEAN_S) -> Estimate:
    return arrivals_per_s(POOL, samples, seen or signals(), mean_s, 0.15)
