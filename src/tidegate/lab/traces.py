"""Traffic to try policies on: named traces that ship with the product, and scenarios made from any trace."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidegate.config.trace import Bin, load_trace
from tidegate.lab.scenario import Floats, Scenario

__all__ = ["SYNTHETIC", "Bin", "ServiceShape", "load_trace", "scenario_from_trace", "service_times", "synthetic"]

ServiceShape = Literal["deterministic", "exponential", "gamma", "lognormal"]
"""The distribution of service times. The first two have a squared coefficient of variation of their own: 0 and 1."""

SHORTEST_S, LONGEST_S = 0.2, 60.0
"""Mean service times are kept in between: shorter and an SQS call costs more than the job, longer and it is a batch."""

_DAY_S, _HOUR_S = 86_400.0, 3_600.0
_INITIAL_UTILIZATION = 0.7
_LEAST_SHARE, _MOST_SHARE = 0.25, 2.0
_WINDOWS_TRIED = 100

_Counts = NDArray[np.int64]
_Rates = Callable[[Floats, np.random.Generator], Floats]


def synthetic(
    name: str, seed: int, *, mean_per_s: float = 10.0, length_s: float = _DAY_S, bin_s: float = 10.0
) -> list[Bin]:
    """One of the traces named in `SYNTHETIC`: Poisson arrivals at a rate that takes the trace's course.

    `mean_per_s` is the mean of the rate over the whole length (of the arrivals only on average). Raises ValueError for
    a name that there isn't.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"no trace is named {name}; there are {', '.join(SYNTHETIC)}")
    draws = np.random.default_rng([seed, list(SYNTHETIC).index(name)])
    begins_s: Floats = np.arange(math.ceil(length_s / bin_s), dtype=np.float64) * bin_s
    rates = SYNTHETIC[name](begins_s, draws)
    mean = float(rates.mean())
    counts = draws.poisson(rates * (mean_per_s * bin_s / mean if mean > 0 else 0.0))
    return [Bin(t_s, t_s + bin_s, n) for t_s, n in zip(begins_s.tolist(), counts.tolist(), strict=True)]


def scenario_from_trace(
    bins: Sequence[Bin],
    *,
    name: str,
    load_slots: float,
    target_wait_s: float,
    start_up_s: float,
    seed: int,
    service: ServiceShape = "lognormal",
    variation: float = 1.0,
    max_messages: int = 100_000,
    max_length_s: float = _DAY_S,
    min_length_s: float = 2 * _HOUR_S,
    initial_workers: int | None = None,
    **how: Any,
) -> Scenario:
    """A window of a trace, with service times that make it offer `load_slots` at the trace's mean rate.

    Mean service time = load ÷ mean rate. Where that leaves `SHORTEST_S` to `LONGEST_S`, messages are thinned out (each
    kept with the same chance) or multiplied (within their bin), so that bursts keep their shape. They are thinned too
    where `max_messages` would leave a window shorter than `min_length_s`: in a few minutes no fleet scales.

    The window is drawn by `seed`, and drawn again (up to 100 times) while it offers less than a quarter of the load or
    more than twice as much. It ends early, with the bin before, where it would hold more than `max_messages`. A single
    bin with more than that is thinned out to about that.
    `initial_workers` None: enough for its first minutes, 70 % busy. `how` goes to `Scenario` as it is.
    """
    if not bins or sum(each.count for each in bins) == 0:
        raise ValueError(f"trace {name} holds no messages")
    draws = np.random.default_rng([seed, 1])
    drawn = _draw(bins, load_slots, max_messages, max_length_s, min_length_s, draws)
    mean_s = load_slots / drawn.rate_per_s
    how.setdefault("slots_per_worker", 4)
    if initial_workers is None:
        initial_workers = _initial_workers(drawn.arrivals_s, mean_s, target_wait_s + start_up_s, **how)
    service_s = service_times(service, mean_s, variation, len(drawn.arrivals_s), draws)
    how["initial_workers"] = initial_workers
    return Scenario(name, drawn.arrivals_s, service_s, target_wait_s, start_up_s, drawn.length_s, **how)


class _Drawn(NamedTuple):
    """A window's arrivals; `rate_per_s` is the trace's mean rate after thinning."""

    arrivals_s: Floats
    length_s: float
    rate_per_s: float


def _draw(
    bins: Sequence[Bin],
    load_slots: float,
    max_messages: int,
    max_length_s: float,
    min_length_s: float,
    draws: np.random.Generator,
) -> _Drawn:
    edges_s = np.array([each.begin_s for each in bins] + [bins[-1].end_s]) - bins[0].begin_s
    counts = np.array([each.count for each in bins], np.int64)
    mean_per_s = float(counts.sum() / edges_s[-1])
    rate_per_s = _rate(mean_per_s, load_slots, max_messages, min(min_length_s, float(edges_s[-1])))
    window_s = min(max_length_s, float(edges_s[-1]), max_messages / rate_per_s)
    edges_s, counts = _window(edges_s, counts, window_s, mean_per_s, draws)
    counts = _at_most(max_messages, _scale(counts, rate_per_s / mean_per_s, draws), draws)
    arrivals_s = _spread(edges_s[: len(counts) + 1], counts, draws)
    return _Drawn(arrivals_s, float(edges_s[len(counts)]), rate_per_s)


def service_times(
    shape: ServiceShape, mean_s: float, variation: float, count: int, draws: np.random.Generator
) -> Floats:
    """So many service times. `variation` is the squared coefficient of variation, for gamma and lognormal (above 0)."""
    if shape == "deterministic":
        return np.full(count, mean_s)
    if shape == "exponential":
        return draws.exponential(mean_s, count)
    if shape == "gamma":
        return draws.gamma(1 / variation, mean_s * variation, count)
    spread = math.log1p(variation)
    return draws.lognormal(math.log(mean_s) - spread / 2, math.sqrt(spread), count)


def _rate(mean_per_s: float, load_slots: float, max_messages: int, length_s: float) -> float:
    """Arrivals a second after thinning or multiplying."""
    rate_per_s = min(mean_per_s, load_slots / SHORTEST_S, max_messages / length_s)
    return max(rate_per_s, load_slots / LONGEST_S)


def _window(
    edges_s: Floats, counts: _Counts, length_s: float, mean_per_s: float, draws: np.random.Generator
) -> tuple[Floats, _Counts]:
    """Whole bins of about `length_s`, from a random one on; of those tried the most usual where none is usual enough.

    In case all that is drawn is silence, the busiest bin is among those tried.
    """
    last = max(0, int(np.searchsorted(edges_s[:-1], edges_s[-1] - length_s, side="right")) - 1)
    begins = [*draws.integers(last + 1, size=_WINDOWS_TRIED).tolist(), min(last, int(counts.argmax()))]
    ends = np.searchsorted(edges_s[1:], edges_s[begins] + length_s, side="left") + 1
    windows = [slice(begin, end) for begin, end in zip(begins, ends.tolist(), strict=True)]
    offs = [_off(float(counts[window].sum()) / (mean_per_s * length_s)) for window in windows]
    fallback = windows[int(np.argmin(offs))]
    chosen = next((window for window, off in zip(windows, offs, strict=True) if off <= 1.0), fallback)
    kept = counts[chosen]
    return edges_s[chosen.start : chosen.start + len(kept) + 1] - edges_s[chosen.start], kept


def _off(share: float) -> float:
    """How far a window's share of the usual traffic is out of bounds: above 1, it is."""
    return max(share / _MOST_SHARE, _LEAST_SHARE / share) if share > 0 else math.inf


def _scale(counts: _Counts, factor: float, draws: np.random.Generator) -> _Counts:
    """Every message `factor` times: whole copies, and one more with the chance that is left."""
    whole = math.floor(factor)
    return counts * whole + draws.binomial(counts, factor - whole)


def _at_most(messages: int, counts: _Counts, draws: np.random.Generator) -> _Counts:
    """The bins that come first and hold at most so many; where the very first dump is larger, all bins thinned out."""
    total = int(counts.sum())
    if total <= messages:
        return counts
    first = counts[: int(np.searchsorted(np.cumsum(counts), messages, side="right"))]
    return first if first.sum() else draws.binomial(counts, messages / total)


def _spread(edges_s: Floats, counts: _Counts, draws: np.random.Generator) -> Floats:
    """Arrivals; within its bin a message falls anywhere."""
    bin_of = np.repeat(np.arange(len(counts)), counts)
    return np.sort(edges_s[bin_of] + np.diff(edges_s)[bin_of] * draws.random(len(bin_of)))


def _initial_workers(
    arrivals_s: Floats, mean_service_s: float, over_s: float, *, slots_per_worker: int, **bounds: Any
) -> int:
    over_s = max(over_s, 300.0)
    load_slots = int(np.count_nonzero(arrivals_s < over_s)) / over_s * mean_service_s
    workers = math.ceil(load_slots / slots_per_worker / _INITIAL_UTILIZATION)
    low, high = int(bounds.get("min_workers", 0)), int(bounds.get("max_workers", workers))
    return min(max(workers, low), high)


def _constant(t_s: Floats, draws: np.random.Generator) -> Floats:
    return np.ones_like(t_s)


def _step(t_s: Floats, draws: np.random.Generator) -> Floats:
    """Three times as much from the middle on."""
    return np.where(t_s < t_s[-1] / 2, 1.0, 3.0)


def _spike(t_s: Floats, draws: np.random.Generator) -> Floats:
    """Eight times as much for a twentieth of the time, in the middle."""
    return np.where(np.abs(t_s - t_s[-1] / 2) < t_s[-1] / 40, 8.0, 1.0)


def _diurnal(t_s: Floats, draws: np.random.Generator) -> Floats:
    """Nine times as much at noon as at midnight; a trace of less than a day is a whole day in small."""
    day_s = min(_DAY_S, float(t_s[-1]))
    return 1 - 0.8 * np.cos(2 * np.pi * t_s / day_s)


def _bursty(t_s: Floats, draws: np.random.Generator) -> Floats:
    """A Markov-modulated Poisson process: ten minutes of calm, two of six times as much, both on average."""
    rates = np.empty_like(t_s)
    at_s, busy = 0.0, False
    while at_s <= t_s[-1]:
        until_s = at_s + draws.exponential(120.0 if busy else 600.0)
        rates[(t_s >= at_s) & (t_s < until_s)] = 6.0 if busy else 1.0
        at_s, busy = until_s, not busy
    return rates


def _cron(t_s: Floats, draws: np.random.Generator) -> Floats:
    """Nine in ten messages within the first 30 s of each quarter of an hour, most of these at the full hour."""
    rates = np.full_like(t_s, 0.1)
    rates[t_s % (_HOUR_S / 4) < 30.0] = 15.0
    rates[t_s % _HOUR_S < 30.0] = 60.0
    return rates


def _dumps(t_s: Floats, draws: np.random.Generator) -> Floats:
    """Silence, and about every hour a dump within a minute, of sizes that differ widely."""
    rates = np.zeros_like(t_s)
    at_s = draws.exponential(_HOUR_S / 2)
    while at_s <= t_s[-1]:
        rates[(t_s >= at_s) & (t_s < at_s + 60.0)] += draws.lognormal(0.0, 1.0)
        at_s += draws.exponential(_HOUR_S)
    return rates


SYNTHETIC: Mapping[str, _Rates] = {
    "constant": _constant,
    "step": _step,
    "spike": _spike,
    "diurnal": _diurnal,
    "bursty": _bursty,
    "cron": _cron,
    "dumps": _dumps,
}
"""Name → rate at each time, relative to the mean. What each looks like is said at its function."""
