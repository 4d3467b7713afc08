"""The lease book: what is extended, when, for how long, and never again after what."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.worker.leases.book import Change, LeaseBook

visibilities = st.one_of(st.integers(1, 60), st.integers(1, LONGEST_LEASE_S))


def timeouts(book: LeaseBook, now_s: float) -> list[int]:
    return [change.timeout_s for change in book.changes_due(now_s)]


@pytest.mark.parametrize("visibility_s", [0, -1, LONGEST_LEASE_S + 1])
def test_a_lease_that_sqs_does_not_know_is_refused(visibility_s: int) -> None:
    with pytest.raises(ValueError, match="1 to 43200 s"):
        LeaseBook(visibility_s)


@given(visibilities)
def test_looking_is_frequent_enough_for_every_lease(visibility_s: int) -> None:
    """The mistake of shoryuken #1021: an interval reckoned as timeout - 5 s is not positive for short leases."""
    assert 0 < LeaseBook(visibility_s).look_s <= visibility_s / 10


def test_a_lease_is_extended_in_its_second_half_only() -> None:
    book = LeaseBook(30)
    book.take("r1", handed_out_s=100.0)
    assert timeouts(book, 114.9) == []
    assert timeouts(book, 115.0) == [30]


def test_an_extension_counts_from_before_it_was_sent_and_only_once_confirmed() -> None:
    book = LeaseBook(30)
    key = book.take("r1", handed_out_s=100.0)
    (change,) = book.changes_due(115.0)
    assert timeouts(book, 116.0) == [30]
    book.changed(change, sent_at_s=115.0)
    lease = book.get(key)
    assert lease is not None
    assert lease.expires_at_s == 145.0
    assert timeouts(book, 116.0) == []


def test_elapsed_time_is_not_added_on_top() -> None:
    """The mistake of bbc/sqs-consumer #270: a timeout is counted from the call, whatever has passed before."""
    book = LeaseBook(30)
    book.take("r1", handed_out_s=0.0)
    for at_s in (15.0, 30.0, 45.0, 60.0):
        (change,) = book.changes_due(at_s)
        assert change.timeout_s == 30
        book.changed(change, at_s)


def test_near_twelve_hours_the_extension_is_what_is_left_and_then_there_is_none() -> None:
    """SQS refuses more than the 12 hours, it does not clamp.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
    """
    book = LeaseBook(600)
    book.take("r1", handed_out_s=0.0)
    at_s, asked = 0.0, []
    while at_s < LONGEST_LEASE_S:
        for change in book.changes_due(at_s):
            asked.append((at_s, change.timeout_s))
            book.changed(change, at_s)
        at_s += 1.0
    assert max(sent_s + timeout_s for sent_s, timeout_s in asked) == LONGEST_LEASE_S - 5
    assert book.lapsed(float(LONGEST_LEASE_S)) == [1]


def test_a_lease_of_twelve_hours_is_never_extended() -> None:
    book = LeaseBook(LONGEST_LEASE_S)
    book.take("r1", handed_out_s=0.0)
    assert timeouts(book, LONGEST_LEASE_S - 1.0) == []


def test_a_retry_backoff_never_reaches_past_twelve_hours() -> None:
    book = LeaseBook(30)
    key = book.take("r1", handed_out_s=0.0)
    (change,) = book.changes_due(15.0)
    book.changed(Change(key, "r1", 30, returns=False), LONGEST_LEASE_S - 40.0)
    book.give_back(key, visible_after_s=3600)
    (change,) = book.changes_due(LONGEST_LEASE_S - 20.0)
    assert change.timeout_s == 15


def test_an_extension_confirmed_after_the_message_was_given_back_does_not_settle_the_return() -> None:
    """The mistake of novu #12437: the heartbeat's late tick overwrites the retry's backoff."""
    book = LeaseBook(30)
    key = book.take("r1", handed_out_s=0.0)
    (extension,) = book.changes_due(15.0)
    book.give_back(key, visible_after_s=30)
    book.changed(extension, 15.0)
    assert book.returning()
    (change,) = book.changes_due(15.1)
    assert change == Change(key, "r1", 30, returns=True)
    book.changed(change, 15.1)
    assert book.get(key) is None


def test_two_deliveries_of_one_message_are_two_leases() -> None:
    """The mistake of MassTransit #5159: the duplicate's end must not end, or keep, the other's renewal."""
    book = LeaseBook(30)
    first, second = book.take("r1", 0.0), book.take("r2", 1.0)
    book.start_delete(first)
    book.deleted(first, 2.0)
    assert [change.key for change in book.changes_due(20.0)] == [second]


def test_a_lease_whose_delete_is_under_way_is_not_lost_but_the_delete_is_late() -> None:
    book = LeaseBook(30)
    key = book.take("r1", 0.0)
    book.start_delete(key)
    assert book.lapsed(31.0) == []
    assert book.deleted(key, 31.0) is False


@pytest.mark.parametrize(
    ("visibility_s", "left_s", "within_s"),
    [(4, 4, 1.0), (4, 1, 0.5), (4, 0.1, 0.2), (30, 30, 5.0), (30, 6, 3.0), (1, 1, 0.25)],
)
def test_an_answer_to_a_delete_is_waited_for_as_long_as_the_lease_can_bear(
    visibility_s: int, left_s: float, within_s: float
) -> None:
    book = LeaseBook(visibility_s)
    key = book.take("r1", 100.0)
    book.start_delete(key)
    assert book.time_to_delete_s(key, 100.0 + visibility_s - left_s) == pytest.approx(within_s)


def test_a_delete_of_a_lease_that_is_over_is_waited_for_like_any_call() -> None:
    book = LeaseBook(4)
    key = book.take("r1", 100.0)
    book.end(key)
    assert book.time_to_delete_s(key, 101.0) == book.call_s == 1.0


def test_a_lease_that_ends_after_a_delete_was_sent_is_lost_by_nobody() -> None:
    """A delete without an answer may have been what ended the lease, and no handler is at work any longer."""
    book = LeaseBook(30)
    first, second = book.take("r1", 0.0), book.take("r2", 0.0)
    for key in (first, second):
        book.start_delete(key)
        assert book.delete_failed(key, 5.0)
    assert not book.end(first)
    assert book.lapsed(31.0) == []
    assert not book.deleted(second, 31.0)


def test_what_was_handed_out_a_lease_ago_is_too_late_to_be_started() -> None:
    book = LeaseBook(30)
    assert not book.too_late(100.0, now_s=127.9)
    assert book.too_late(100.0, now_s=128.0), "two looks of the keeper are needed to extend it"


def test_a_failed_delete_keeps_the_lease_alive_for_another_try_while_it_runs() -> None:
    book = LeaseBook(30)
    key = book.take("r1", 0.0)
    book.start_delete(key)
    assert book.changes_due(20.0) == []
    assert book.delete_failed(key, 20.0)
    assert timeouts(book, 20.0) == [30]
    book.start_delete(key)
    assert not book.delete_failed(key, 30.0)
    assert len(book) == 0


def test_what_has_ended_stays_ended_whatever_is_still_said_of_it() -> None:
    book = LeaseBook(30)
    key = book.take("r1", 0.0)
    assert book.end(key)
    book.changed(Change(key, "r1", 30, returns=False), 1.0)
    book.give_back(key, 0)
    book.start_delete(key)
    assert not book.end(key)
    assert not book.delete_failed(key, 1.0)
    assert not book.deleted(key, 1.0)
    assert len(book) == 0


class LeasesAgainstSqs(RuleBasedStateMachine):
    """Any order of receives, looks, deletes, returns and failures, against SQS's own rules."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.book = LeaseBook(20)
        self.received_at_s: dict[int, float] = {}
        self.true_expiry_s: dict[int, float] = {}
        self.given_up: set[int] = set()
        self.calls_fail = False

    @rule()
    def receive(self) -> None:
        key = self.book.take(f"r{len(self.received_at_s)}", self.now_s)
        self.received_at_s[key] = self.now_s
        self.true_expiry_s[key] = self.now_s + 20

    @rule(seconds=st.floats(0.0, 9.0))
    def time_passes_and_the_keeper_looks(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.now_s = min(end_s, self.now_s + self.book.look_s)
            self.look()

    @rule(fail=st.booleans())
    def calls_begin_or_cease_to_fail(self, fail: bool) -> None:
        self.calls_fail = fail

    @precondition(lambda self: self.received_at_s)
    @rule(data=st.data(), after_s=st.integers(0, 10))
    def give_back(self, data: st.DataObject, after_s: int) -> None:
        key = data.draw(st.sampled_from(sorted(self.received_at_s)))
        if self.book.holds(key):
            self.given_up.add(key)
        self.book.give_back(key, after_s)

    @precondition(lambda self: self.received_at_s)
    @rule(data=st.data())
    def send_delete(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.received_at_s)))
        if self.book.holds(key):
            self.given_up.add(key)
        self.book.start_delete(key)

    def look(self) -> None:
        lost = self.book.lapsed(self.now_s)
        if not self.calls_fail and not self.failed_lately():
            assert lost == []
        for change in self.book.changes_due(self.now_s):
            if change.key in self.given_up:
                assert change.returns
            assert self.now_s + change.timeout_s <= self.received_at_s[change.key] + LONGEST_LEASE_S
            if self.calls_fail:
                self.last_failure_s = self.now_s
            else:
                self.book.changed(change, self.now_s)
                self.true_expiry_s[change.key] = self.now_s + change.timeout_s

    last_failure_s = -math.inf

    def failed_lately(self) -> bool:
        return self.now_s - self.last_failure_s <= 20

    @invariant()
    def the_book_never_believes_in_more_than_sqs_does(self) -> None:
        for key, expiry_s in self.true_expiry_s.items():
            lease = self.book.get(key)
            assert lease is None or lease.expires_at_s <= expiry_s


TestLeasesAgainstSqs = LeasesAgainstSqs.TestCase
