"""What a backtest is about: a trace from a file, or a pool's own past, with the times that were given or measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tidegate.core.model import Pool, PoolState, ServiceTime
from tidegate.core.notation.durations import format_duration, parse_duration
from tidegate.errors import ConfigError, Fault, TidegateError
from tidegate.lab.backtest import Question
from tidegate.lab.history import History, ask_history, bins_of, little_s, notes_of
from tidegate.lab.history_cache import HistoryCache
from tidegate.lab.traces import Bin, load_trace
from tidegate.ports import MetricHistory, QueueReader

__all__ = ["Given", "OpenPool", "PoolSource", "Subject", "from_pool", "from_trace"]

_TARGET_S, _SERVICE_S, _START_UP_S, _SLOTS = 60.0, 1.0, 60.0, 4
_ENOUGH_RUNS = 10.0
"""Of fewer runs the spread says nothing."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says, None where it says nothing. Times as text."""

    target_wait: str | None = None
    service_time: str | None = None
    start_up: str | None = None
    variation: float | None = None
    slots: int | None = None
    min_workers: int | None = None
    max_workers: int | None = None
    max_messages: int = 1_000_000
    fifo: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PoolSource:
    """A pool as its settings have it, and where its past and what its workers measured can be read.

    `account` tells apart pools of the same name in other accounts and Regions; `state` raises as a StateStore's load.
    """

    pool: Pool
    queues: tuple[str, ...]
    account: str
    history: MetricHistory
    counts: QueueReader
    state: Callable[[], PoolState]
    now_s: float


OpenPool = Callable[[str, str], PoolSource]
"""From the settings file and a pool's name. Raises ConfigError."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Traffic, and the question about it. `notes` are for people: where the data and the times come from."""

    name: str
    bins: Sequence[Bin]
    question: Question
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds, and the squared coefficient of variation of the service time."""

    service_s: float
    variation: float
    start_up_s: float
    notes: tuple[str, ...] = ()


def from_trace(trace: Path, given: Given) -> Subject:
    """Raises ConfigError for a file that can't be read or holds no messages, and for options that don't fit."""
    bins = load_trace(trace)
    if not any(each.count for each in bins):
        raise ConfigError([Fault("--trace", str(trace), "holds no messages", "give a trace with arrivals in it")])
    times = _Times(
        _given_s("--service-time", given.service_time) or _SERVICE_S,
        1.0 if given.variation is None else given.variation,
        _given_s("--start-up", given.start_up) or _START_UP_S,
    )
    return Subject(trace.stem, bins, _question(given, times, None))


def from_pool(source: PoolSource, days: int, given: Given, cache: HistoryCache, *, refresh: bool) -> Subject:
    """The pool's own traffic of the last days. Options outrank what was measured, that outranks the settings.

    Raises ConfigError when nothing was sent, or no service time is known; Denied, Gone and the rest of the CloudError
    tree as `ask_history` and `bins_of`.
    """
    pool = _waiting(source.pool, given)
    known = None if refresh else cache.get(source.queues, days, source.now_s)
    history = known or ask_history(source.history, source.queues, days, source.now_s)
    bins = bins_of(history, source.pool.name, source.counts)
    kept = known is not None or cache.put(history, days)
    times = _times(source, given, history)
    ordered = given.fifo or all(queue.endswith(".fifo") for queue in source.queues)
    question = _question(replace(given, fifo=ordered), times, pool)
    notes = (
        _origin(history, known is not None, str(cache.file(source.queues, days)) if kept else None),
        *times.notes,
        *notes_of(history, question.target_s),
    )
    return Subject(source.pool.name, bins, question, notes)


def _waiting(pool: Pool, given: Given) -> Pool:
    """A bulk pool has no wait that anybody could be late by, unless one is given. Raises ConfigError."""
    if pool.finish_in_s is not None and given.target_wait is None:
        problem = "is to be empty by a time of day and has no target wait"
        raise ConfigError([Fault("--pool", pool.name, problem, "say which wait to try with --target-wait")])
    return replace(pool, finish_in_s=None)


def _origin(history: History, cached: bool, file: str | None) -> str:
    asked = f"{format_duration(history.length_s)} from CloudWatch in periods of {format_duration(history.period_s)}"
    if cached:
        return f"{asked}, from {file} (--refresh asks again)"
    return f"{asked}, kept in {file}" if file else f"{asked}; could not be kept for the next run"


def _question(given: Given, times: _Times, pool: Pool | None) -> Question:
    least = given.min_workers if given.min_workers is not None else pool.min_workers if pool else 0
    most = given.max_workers if given.max_workers is not None else pool.max_workers if pool else None
    if most is not None and most < least:
        fix = f"raise it to {least} or more, or lower --min-workers"
        raise ConfigError([Fault("--max-workers", most, "is below --min-workers", fix)])
    return Question(
        target_s=_given_s("--target-wait", given.target_wait) or (pool.target_wait_s if pool else _TARGET_S),
        start_up_s=times.start_up_s,
        service_s=times.service_s,
        variation=times.variation,
        slots_per_worker=given.slots or (pool.slots_per_worker if pool else _SLOTS),
        min_workers=least,
        max_workers=most,
        max_messages=given.max_messages,
        fifo=given.fifo,
        seed=given.seed,
        pool=pool,
    )


def _times(source: PoolSource, given: Given, history: History) -> _Times:
    """Given, else measured by the workers, else by the settings; the service time at last from CloudWatch."""
    state, notes = _state(source)
    service_s, variation, service_from = _service(source.pool, state.service_time, given, history)
    start_up_s, start_up_from = _start_up(source.pool, state, given)
    said = (
        f"service time {format_duration(service_s)} ({service_from}), CV² {variation:.2g}; "
        f"start-up {format_duration(start_up_s)} ({start_up_from})"
    )
    return _Times(service_s, variation, start_up_s, (*notes, said))


def _state(source: PoolSource) -> tuple[PoolState, tuple[str, ...]]:
    """What the pool has learned. Without it a backtest is still possible, so a failure is a note."""
    try:
        return source.state(), ()
    except TidegateError as error:
        return PoolState(), (f"what the workers measured can't be read: {error}",)


def _service(pool: Pool, measured: ServiceTime | None, given: Given, history: History) -> tuple[float, float, str]:
    """Mean, squared coefficient of variation, and where they come from."""
    spread = 1.0 if given.variation is None else given.variation
    told_s = _given_s("--service-time", given.service_time)
    if told_s is not None:
        return told_s, spread, "as given"
    if measured is not None and measured.runs > 0 and measured.sum_s > 0:
        mean_s = measured.sum_s / measured.runs
        seen = max(0.0, measured.square_sum_s2 / measured.runs / mean_s**2 - 1.0)
        own = seen if given.variation is None and measured.runs >= _ENOUGH_RUNS else spread
        return mean_s, own, f"measured by the workers, latest {measured.runs:,.0f} runs"
    if pool.service_time_hint_s is not None:
        return pool.service_time_hint_s, spread, "the settings' hint"
    reckoned_s = little_s(history)
    if reckoned_s is None:
        problem = "is not known: no worker reported it, the settings have no hint, CloudWatch has no deletions"
        raise ConfigError([Fault("--service-time", None, problem, "give it, such as --service-time 2s")])
    return reckoned_s, spread, "in flight ÷ deletions of CloudWatch, at most"


def _start_up(pool: Pool, state: PoolState, given: Given) -> tuple[float, str]:
    told_s = _given_s("--start-up", given.start_up)
    if told_s is not None:
        return told_s, "as given"
    if state.start_ups_s:
        return max(0.1, sum(state.start_ups_s) / len(state.start_ups_s)), f"measured, {len(state.start_ups_s)} starts"
    if pool.start_up_hint_s:
        return pool.start_up_hint_s, "the settings' hint"
    return _START_UP_S, "assumed: none was measured"


def _given_s(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    fix = 'write seconds above zero ("30") or a number with a unit ("30s", "2m")'
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise ConfigError([Fault(option, text, str(error), fix)]) from error
    if seconds <= 0:
        raise ConfigError([Fault(option, text, "is not above zero", fix)])
    return seconds
