"""A pool's own past: what CloudWatch's series come to, what is missing from them, and what they can't say."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tidegate.core.model import Pool, PoolState, ServiceTime
from tidegate.errors import ConfigError, Denied, Gone, Unreachable
from tidegate.lab.history import History, ask_history, little_s, notes_of
from tidegate.lab.history_cache import GOOD_FOR_S, HistoryCache
from tidegate.lab.subject import Given, PoolSource, Subject, from_pool
from tidegate.ports import Metric, QueueCounts
from tidegate.testing import FakeQueueReader

NOW_S = 1_767_268_800.0 + 200
POOL = Pool("orders", target_wait_s=30.0, min_workers=2, max_workers=9, slots_per_worker=8, policy="wait")


NOTHING_LEARNED = PoolState()


class FakeHistory:
    """Answers with `series` (name → value of each period, None for no data), for the queues in `queues`."""

    def __init__(self, queues: Sequence[str] = ("orders",), **series: Sequence[float | None]) -> None:
        self.queues, self.series = queues, series
        self.asked: list[tuple[float, float, int]] = []

    def history(
        self, metrics: Sequence[Metric], begin_s: float, end_s: float, period_s: int
    ) -> Mapping[Metric, Mapping[float, float]]:
        self.asked.append((begin_s, end_s, period_s))
        return {metric: self._values(metric, begin_s, period_s) for metric in metrics}

    def _values(self, metric: Metric, begin_s: float, period_s: int) -> Mapping[float, float]:
        values = self.series.get(metric.name, ()) if metric.queue in self.queues else ()
        return {begin_s + n * period_s: value for n, value in enumerate(values) if value is not None}


def traffic(**more: Sequence[float | None]) -> FakeHistory:
    """A day of which the first five minutes have data."""
    return FakeHistory(("orders",), **{"NumberOfMessagesSent": [60, 0, None, 120, 60], **more})


def past(
    history: FakeHistory | None = None,
    *,
    state: PoolState | Exception = NOTHING_LEARNED,
    pool: Pool = POOL,
    now_s: float = NOW_S,
) -> PoolSource:
    counts = FakeQueueReader()
    counts.queues["orders"] = QueueCounts(0, 0, 0)

    def load() -> PoolState:
        if isinstance(state, Exception):
            raise state
        return state

    return PoolSource(pool, ("orders",), "here", history or traffic(), counts, load, now_s)


def asked(source: PoolSource, tmp_path: Path, *, days: int = 1, refresh: bool = False, **given: str | int) -> Subject:
    cache = HistoryCache(tmp_path / "cache", source.account)
    options = Given(**{"service_time": "2s", **given})  # type: ignore[arg-type]  # each test gives what fits
    return from_pool(source, days, options, cache, refresh=refresh)


def test_the_last_whole_days_are_asked_for_in_minutes_and_longer_pasts_in_five() -> None:
    history = traffic()
    for days in (1, 14, 15, 62):
        ask_history(history, ["orders"], days, NOW_S)
    end_s = 1_767_268_800.0
    assert history.asked == [
        (end_s - 86_400, end_s, 60),
        (end_s - 14 * 86_400, end_s, 60),
        (end_s - 15 * 86_400, end_s, 300),
        (end_s - 62 * 86_400, end_s, 300),
    ]


def test_queues_add_up_and_the_oldest_message_is_the_oldest_of_any() -> None:
    both = FakeHistory(
        ("orders", "returns"), NumberOfMessagesSent=[1, None, 3], ApproximateAgeOfOldestMessage=[5, 7, None]
    )
    found = ask_history(both, ["orders", "returns"], 1, NOW_S)
    assert found.sent[:4] == (2, None, 6, None)
    assert found.age_s[:4] == (5, 7, None, None)
    assert len(found.sent) == 1440


def test_a_period_without_data_is_one_without_messages_and_that_is_said(tmp_path: Path) -> None:
    subject = asked(past(), tmp_path)
    assert [each.count for each in subject.bins[:6]] == [60, 0, 0, 120, 60, 0]
    assert "23h56m of 1d have no data: the queue was inactive, no messages" in subject.notes


def test_how_late_the_pool_really_was_is_said(tmp_path: Path) -> None:
    subject = asked(past(traffic(ApproximateAgeOfOldestMessage=[10, 31, 90, 5])), tmp_path)
    assert (
        "as it was: the oldest message was older than 30s in 50.00% of the periods with data, 1m30s at most"
        in subject.notes
    )


def test_an_inactive_queue_one_that_got_nothing_one_that_is_gone_and_a_denied_one_are_told_apart(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        ConfigError, match="no data of it for the last 1d: it was inactive all the time; look further back"
    ):
        asked(past(FakeHistory()), tmp_path)
    with pytest.raises(ConfigError, match="CloudWatch says that nothing was sent to it in the last 1d"):
        asked(past(FakeHistory(NumberOfMessagesSent=[0, 0])), tmp_path)
    gone = past(FakeHistory())
    gone.counts.queues.clear()  # type: ignore[attr-defined]  # the fake's
    with pytest.raises(Gone):
        asked(gone, tmp_path)

    class Refused(FakeHistory):
        def history(self, *_: object) -> Mapping[Metric, Mapping[float, float]]:
            raise Denied("cloudwatch:GetMetricData", "AWS/SQS", "Forbidden")

    with pytest.raises(Denied):
        asked(past(Refused()), tmp_path)


def test_the_settings_of_the_pool_hold_unless_options_say_otherwise(tmp_path: Path) -> None:
    own = asked(past(), tmp_path).question
    assert (own.target_s, own.min_workers, own.max_workers, own.slots_per_worker, own.pool) == (30.0, 2, 9, 8, POOL)
    said = asked(past(), tmp_path, target_wait="1m", min_workers=0, max_workers=3, slots=1).question
    assert (said.target_s, said.min_workers, said.max_workers, said.slots_per_worker) == (60.0, 0, 3, 1)
    with pytest.raises(ConfigError, match="--max-workers = 1: is below --min-workers; raise it to 2 or more"):
        asked(past(), tmp_path, max_workers=1)


def test_a_fifo_queue_is_read_in_order_without_being_told(tmp_path: Path) -> None:
    assert not asked(past(), tmp_path).question.fifo
    ordered = FakeHistory(("orders.fifo",), NumberOfMessagesSent=[60.0])
    assert asked(replace(past(ordered), queues=("orders.fifo",)), tmp_path).question.fifo


def test_a_bulk_pool_needs_a_wait_to_be_tried_with(tmp_path: Path) -> None:
    bulk = past(pool=replace(POOL, finish_in_s=3600.0))
    with pytest.raises(ConfigError, match="is to be empty by a time of day and has no target wait; say which wait"):
        asked(bulk, tmp_path)
    question = asked(bulk, tmp_path, target_wait="5m").question
    assert question.target_s == 300.0
    assert question.pool == POOL


MEASURED = PoolState(service_time=ServiceTime(100, 50.0, 50.0), start_ups_s=(20.0, 40.0))


@pytest.mark.parametrize(
    ("state", "pool", "given", "service_s", "start_up_s", "said"),
    [
        (MEASURED, POOL, {"service_time": "3s", "start_up": "9s"}, 3.0, 9.0, "3s (as given), CV² 1; start-up 9s (as "),
        (MEASURED, POOL, {}, 0.5, 30.0, "500ms (measured by the workers, latest 100 runs), CV² 1; start-up 30s (m"),
        (
            PoolState(),
            replace(POOL, service_time_hint_s=4.0, start_up_hint_s=50.0),
            {},
            4.0,
            50.0,
            "4s (the settings' hint), CV² 1; start-up 50s (the settings' hint)",
        ),
        (PoolState(), POOL, {}, 1.5, 60.0, "1s500ms (in flight ÷ deletions of CloudWatch, at most)"),
    ],
)  # fmt: skip
def test_times_are_as_given_else_measured_else_hinted_else_reckoned(
    tmp_path: Path, state: PoolState, pool: Pool, given: dict[str, str], service_s: float, start_up_s: float, said: str
) -> None:
    history = traffic(NumberOfMessagesDeleted=[60, 60], ApproximateNumberOfMessagesNotVisible=[2, 1, 7])
    source = past(history, state=state, pool=pool)
    options = Given(**given)  # type: ignore[arg-type]  # texts only
    subject = from_pool(source, 1, options, HistoryCache(tmp_path, "x"), refresh=False)
    assert (subject.question.service_s, subject.question.start_up_s) == (service_s, start_up_s)
    assert any(said in note for note in subject.notes)


def test_the_measured_spread_is_used_when_there_were_runs_enough(tmp_path: Path) -> None:
    uneven = ServiceTime(runs=100, sum_s=100, square_sum_s2=500)
    source = past(state=PoolState(service_time=uneven))
    question = from_pool(source, 1, Given(), HistoryCache(tmp_path, "x"), refresh=False).question
    assert question.variation == pytest.approx(4.0)
    few = past(state=PoolState(service_time=replace(uneven, runs=5, sum_s=5, square_sum_s2=25)))
    assert from_pool(few, 1, Given(), HistoryCache(tmp_path, "x"), refresh=False).question.variation == 1.0


def test_without_any_service_time_it_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--service-time = None: is not known: no worker reported it"):
        from_pool(past(), 1, Given(), HistoryCache(tmp_path, "x"), refresh=False)


def test_a_state_that_cannot_be_read_is_a_note_and_not_the_end(tmp_path: Path) -> None:
    source = past(state=Unreachable("dynamodb:GetItem", "tidegate", "timed out"))
    assert any(
        note.startswith("what the workers measured can't be read: dynamodb:") for note in asked(source, tmp_path).notes
    )


def test_a_second_run_within_a_day_asks_nothing_and_says_where_it_has_it_from(tmp_path: Path) -> None:
    history = traffic()
    first = asked(past(history), tmp_path)
    again = asked(past(history, now_s=NOW_S + GOOD_FOR_S), tmp_path)
    assert len(history.asked) == 1
    assert again.bins == first.bins
    assert "kept in" in first.notes[0]
    assert "(--refresh asks again)" in again.notes[0]
    asked(past(history, now_s=NOW_S + GOOD_FOR_S + 1), tmp_path)
    asked(past(history), tmp_path, refresh=True)
    asked(past(history), tmp_path, days=2)
    asked(replace(past(history), account="elsewhere"), tmp_path)
    assert len(history.asked) == 5


def test_a_damaged_cache_is_as_good_as_none_and_one_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    cache = HistoryCache(tmp_path, "here")
    cache.file(("orders",), 1).write_text('{"queues": 3}')
    assert cache.get(("orders",), 1, NOW_S) is None
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    subject = from_pool(past(), 1, Given(service_time="1s"), HistoryCache(in_the_way / "cache", "x"), refresh=False)
    assert "could not be kept for the next run" in subject.notes[0]


def test_little_s_law_counts_only_periods_that_have_both() -> None:
    history = History(("q",), 0.0, 0.0, 60.0, (1.0,) * 3, (30.0, None, 30.0), (1.0, 50.0, 2.0), (None,) * 3)
    assert little_s(history) == pytest.approx(3.0)
    assert little_s(replace(history, deleted=(0.0, 0.0, 0.0))) is None
    assert notes_of(history, 30.0) == []
