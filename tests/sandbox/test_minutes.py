"""AWS/SQS metrics out of samples. Statements about CloudWatch's own timing are marked."""

from dataclasses import dataclass

import pytest

from tidegate.sandbox.minutes import AGE, Datum, Minutes, MinutesSettings

VISIBLE, SENT = "ApproximateNumberOfMessagesVisible", "NumberOfMessagesSent"
MINUTE = 28_000_000 * 60.0
"""The start of some minute, in epoch seconds."""


@dataclass(frozen=True, slots=True)
class Sample:
    visible: int = 0
    in_flight: int = 0
    delayed: int = 0
    oldest_age_s: float | None = None
    sent: int = 0
    received: int = 0
    deleted: int = 0
    empty_receives: int = 0


def minutes(lag_s: float = 0.0, history: int = 0, empty_age_s: float | None = None) -> Minutes:
    return Minutes(MinutesSettings(lag_s, history, empty_age_s))


def only(data: list[Datum], metric: str) -> list[Datum]:
    return [datum for datum in data if datum.metric == metric]


def test_a_level_is_published_with_its_statistics_over_the_minute_stamped_with_the_minutes_start() -> None:
    feed = minutes()
    for second, visible in ((0, 4), (20, 10), (40, 1)):
        assert feed.sample(MINUTE + second, {"jobs": Sample(visible=visible)}) == []
    data = feed.sample(MINUTE + 60, {"jobs": Sample(visible=99)})
    assert only(data, VISIBLE) == [Datum("jobs", VISIBLE, MINUTE, total=15, minimum=1, maximum=10, samples=3)]


@pytest.mark.parametrize(
    ("metric", "field"),
    [
        ("ApproximateNumberOfMessagesVisible", "visible"),
        ("ApproximateNumberOfMessagesNotVisible", "in_flight"),
        ("ApproximateNumberOfMessagesDelayed", "delayed"),
        ("ApproximateAgeOfOldestMessage", "oldest_age_s"),
        ("NumberOfMessagesSent", "sent"),
        ("NumberOfMessagesReceived", "received"),
        ("NumberOfMessagesDeleted", "deleted"),
        ("NumberOfEmptyReceives", "empty_receives"),
    ],
)
def test_each_metric_speaks_of_its_own_count(metric: str, field: str) -> None:
    """The names: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html"""
    feed = minutes()
    feed.sample(MINUTE, {"jobs": Sample(**{field: 7})})
    data = feed.sample(MINUTE + 60, {"jobs": Sample(**{field: 7})})
    assert {datum.metric for datum in data if datum.total} == {metric}
    assert [datum.total for datum in only(data, metric)] == [7]


def test_a_total_is_published_as_what_it_grew_by_in_each_minute() -> None:
    feed = minutes()
    grown: list[float] = []
    for second, sent in ((0, 0), (30, 5), (60, 8), (90, 8), (120, 8), (150, 10), (180, 11)):
        data = feed.sample(MINUTE + second, {"jobs": Sample(sent=sent)})
        grown += [datum.total for datum in only(data, SENT)]
    assert grown == [8, 0, 3]


def test_every_message_is_counted_in_exactly_one_minute() -> None:
    feed, published = minutes(), 0.0
    for second in range(0, 301, 7):
        data = feed.sample(MINUTE + second, {"jobs": Sample(sent=second)})
        published += sum(datum.total for datum in only(data, SENT))
    # The last minute that is over ended at 240 s; its counting ends with the first sample after that.
    assert published == 245


def test_a_queue_made_anew_under_the_same_name_counts_from_zero() -> None:
    feed = minutes()
    feed.sample(MINUTE, {"jobs": Sample(sent=50)})
    feed.sample(MINUTE + 60, {"jobs": Sample(sent=50)})
    data = feed.sample(MINUTE + 120, {"jobs": Sample(sent=4)})
    assert [datum.total for datum in only(data, SENT)] == [4]


def test_a_minute_is_published_when_its_lag_has_passed_and_once() -> None:
    """That data comes late is documented, by how much is not:
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
    """
    feed = minutes(lag_s=25)
    feed.sample(MINUTE, {"jobs": Sample()})
    assert feed.sample(MINUTE + 60, {"jobs": Sample()}) == []
    assert feed.sample(MINUTE + 84.9, {"jobs": Sample()}) == []
    assert {datum.minute_s for datum in feed.sample(MINUTE + 85, {"jobs": Sample()})} == {MINUTE}
    assert feed.sample(MINUTE + 86, {"jobs": Sample()}) == []


def test_the_minutes_before_the_first_sample_are_filled_with_zeros_as_far_as_the_lag_allows() -> None:
    feed = minutes(lag_s=30, history=3)
    at_once = feed.sample(MINUTE + 10, {"jobs": Sample(visible=5, sent=5)})
    assert [datum.minute_s for datum in only(at_once, VISIBLE)] == [MINUTE - 180, MINUTE - 120]
    assert {datum.total for datum in at_once} == {0.0}
    later = feed.sample(MINUTE + 30, {"jobs": Sample(visible=5, sent=5)})
    assert [datum.minute_s for datum in only(later, SENT)] == [MINUTE - 60]


def test_a_queue_that_appears_later_gets_its_history_then() -> None:
    feed = minutes(history=2)
    feed.sample(MINUTE, {})
    data = feed.sample(MINUTE + 30, {"late": Sample()})
    assert {(datum.queue, datum.minute_s) for datum in data} == {("late", MINUTE - 120), ("late", MINUTE - 60)}


@pytest.mark.parametrize(
    ("empty_age_s", "ages", "expected"),
    [
        pytest.param(None, [None, None], [], id="no message: no data"),
        pytest.param(0.0, [None, None], [0.0], id="no message: zero"),
        pytest.param(None, [None, 8.0], [8.0], id="samples without a message are left out"),
        pytest.param(0.0, [None, 8.0], [0.0], id="or count as zero"),
    ],
)
def test_the_age_of_an_empty_queue_is_missing_or_zero(
    empty_age_s: float | None, ages: list[float | None], expected: list[float]
) -> None:
    """Unverified which of the two AWS does; its page says "reported if the queue contains at least one active message".

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    feed = minutes(empty_age_s=empty_age_s)
    for second, age_s in enumerate(ages):
        feed.sample(MINUTE + second, {"jobs": Sample(oldest_age_s=age_s)})
    data = feed.sample(MINUTE + 60, {"jobs": Sample()})
    assert [datum.minimum for datum in only(data, AGE)] == expected


def test_a_deleted_queue_gets_its_last_minute_and_no_more() -> None:
    feed = minutes()
    feed.sample(MINUTE, {"jobs": Sample(sent=3)})
    assert [datum.total for datum in only(feed.sample(MINUTE + 60, {}), SENT)] == [3]
    assert feed.sample(MINUTE + 120, {}) == []


def test_queues_do_not_mix() -> None:
    feed = minutes()
    feed.sample(MINUTE, {"a": Sample(visible=1), "b": Sample(visible=2)})
    data = only(feed.sample(MINUTE + 60, {}), VISIBLE)
    assert {datum.queue: datum.maximum for datum in data} == {"a": 1, "b": 2}
