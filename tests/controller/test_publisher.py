"""Metrics of decisions: summed minute by minute, nothing counted twice, and no pool waits for them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.controller.pool_rig import InlineExecutor, Rig, controller_of, decision
from tidegate.controller.publisher import MinutePublisher
from tidegate.errors import Denied
from tidegate.ports import Datum

MINUTE_S = 600.0


class Kept:
    """A writer that keeps what it gets, or refuses it."""

    def __init__(self, error: Exception | None = None) -> None:
        self.data: list[Datum] = []
        self.error = error

    def put(self, data: Sequence[Datum]) -> None:
        if self.error:
            raise self.error
        self.data += data

    def of(self, name: str) -> list[Datum]:
        return [datum for datum in self.data if datum.name == name]


def publisher_with(writer: Kept, *ticks: tuple[float, int], pool: str = "orders") -> MinutePublisher:
    publisher = MinutePublisher(writer)
    for at_s, desired in ticks:
        publisher.add(decision(pool, at_s, 1, desired), wrote=desired != 1)
    return publisher


def test_a_minutes_ticks_become_one_statistic_set_of_each_metric() -> None:
    writer = Kept()
    publisher_with(writer, (600, 3), (610, 1), (659, 7)).flush(660)

    assert writer.of("DesiredWorkers") == [Datum("orders", "DesiredWorkers", "Count", 600, 3, 11, 1, 7)]
    assert writer.of("ScaleEvents") == [Datum("orders", "ScaleEvents", "Count", 600, 3, 2, 0, 1)]


def test_a_minute_is_sent_once_and_only_when_it_has_ended() -> None:
    writer = Kept()
    publisher = publisher_with(writer, (600, 3), (661, 4))

    assert not publisher_with(writer, (600, 3)).due(659)
    assert publisher.due(660)
    publisher.flush(660)
    assert [datum.at_s for datum in writer.of("Decisions")] == [600]
    assert not publisher.due(700)
    publisher.flush(700)
    assert [datum.at_s for datum in writer.of("Decisions")] == [600]


def test_pools_are_kept_apart() -> None:
    writer = Kept()
    publisher = publisher_with(writer, (600, 3))
    publisher.add(decision("mail", 601, 1, 9), wrote=True)
    publisher.flush(float("inf"))
    assert {(datum.pool, datum.total) for datum in writer.of("DesiredWorkers")} == {("orders", 3), ("mail", 9)}


def test_what_could_not_be_written_is_lost_and_not_sent_twice() -> None:
    writer = Kept(Denied("cloudwatch:PutMetricData", "tidegate", "AccessDenied"))
    publisher = publisher_with(writer, (600, 3))
    with pytest.raises(Denied):
        publisher.flush(660)
    writer.error = None
    publisher.flush(720)
    assert writer.data == []


@given(st.lists(st.tuples(st.floats(0, 1000), st.integers(0, 99)), min_size=1))
def test_nothing_is_lost_or_counted_twice_however_ticks_fall_into_minutes(ticks: list[tuple[float, int]]) -> None:
    writer = Kept()
    publisher_with(writer, *ticks).flush(float("inf"))

    sent = writer.of("DesiredWorkers")
    assert sum(datum.count for datum in sent) == len(ticks)
    assert sum(datum.total for datum in sent) == sum(desired for _, desired in ticks)
    assert min(datum.least for datum in sent) == min(desired for _, desired in ticks)
    assert max(datum.most for datum in sent) == max(desired for _, desired in ticks)
    assert len({datum.at_s for datum in sent}) == len(sent)


def test_a_controller_publishes_once_a_minute_and_the_rest_when_it_ends() -> None:
    rig, writer = Rig(), Kept()
    controller = controller_of([rig], InlineExecutor(), publisher=MinutePublisher(writer))
    for _ in range(7):
        controller.tick()
        rig.clock.advance(10)
    assert sum(datum.count for datum in writer.of("Decisions")) < 7
    controller.finish()

    assert sum(datum.count for datum in writer.of("Decisions")) == 7
    assert len(writer.of("Decisions")) <= 3


def test_a_refused_publication_is_said_and_the_pools_go_on() -> None:
    rig = Rig()
    error = Denied("cloudwatch:PutMetricData", "tidegate", "AccessDenied")
    controller = controller_of([rig], InlineExecutor(), publisher=MinutePublisher(Kept(error)))
    controller.tick()
    (outcome,) = controller.finish()

    assert outcome.ok
    assert rig.events.publish_failures == [error]


def test_a_decision_without_metrics_of_traffic_publishes_none_of_it() -> None:
    writer = Kept()
    publisher = MinutePublisher(writer)
    publisher.add(replace(decision("orders", MINUTE_S, 1, 2), steps=()), wrote=False)
    publisher.flush(float("inf"))
    assert writer.of("Waiting") == []
