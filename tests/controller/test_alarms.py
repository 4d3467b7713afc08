"""Alarms are asked for once a minute with the metrics; what can't be read keeps its state and its time, and is said."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from tests.controller.pool_rig import POOL, Rig
from tidegate.controller.alarms import MinuteAlarms
from tidegate.controller.metrics import MinuteMetrics
from tidegate.controller.observe import age_metric
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Reason
from tidegate.core.observation import Alarm
from tidegate.ports import QueueCounts
from tidegate.testing import FakeMetricsReader

DENIED = "cloudwatch:DescribeAlarms on 1 alarms was denied"


class Alarms:
    """Implements `ports.AlarmReader`."""

    def __init__(self) -> None:
        self.known: dict[str, Alarm] = {}
        self.asked: list[tuple[str, ...]] = []

    def states(self, names: Sequence[str], now_s: float) -> Mapping[str, Alarm]:
        self.asked.append(tuple(names))
        return {name: replace(self.known[name], taken_at_s=now_s) for name in names}


def set_up(state: str | None = "ALARM") -> tuple[Alarms, MinuteAlarms, MinuteMetrics]:
    reader = Alarms()
    reader.known["pay"] = Alarm("pay", state, 0.0)
    alarms = MinuteAlarms(reader, ["pay", "pay"])
    return reader, alarms, MinuteMetrics(FakeMetricsReader(), [age_metric("orders")], alarms)


def test_before_the_first_pass_nothing_is_known_and_each_pass_asks_for_each_alarm_once() -> None:
    reader, alarms, metrics = set_up()
    (unread,) = alarms.of(["pay"])
    assert (unread.state, unread.absence) == (None, Absence.MISSING)
    for now_s in (60.0, 61.0, 120.0):
        metrics.refresh(now_s)
    assert reader.asked == [("pay",), ("pay",)]
    assert alarms.of(["pay"]) == (Alarm("pay", "ALARM", 120.0),)


def test_a_refusal_is_said_and_keeps_the_state_with_its_old_time() -> None:
    reader, alarms, metrics = set_up()
    metrics.refresh(60.0)
    reader.known["pay"] = Alarm("pay", None, 0.0, Absence.DENIED, DENIED)
    assert metrics.refresh(120.0) == (DENIED,)
    assert alarms.of(["pay"]) == (Alarm("pay", "ALARM", 60.0),)


def test_an_alarm_that_is_gone_is_not_remembered() -> None:
    reader, alarms, metrics = set_up()
    metrics.refresh(60.0)
    reader.known["pay"] = Alarm("pay", None, 0.0, Absence.GONE, "there is no alarm pay")
    assert metrics.refresh(120.0) == ("there is no alarm pay",)
    assert alarms.of(["pay"])[0].absence is Absence.GONE


def test_without_alarms_nothing_is_asked() -> None:
    reader = Alarms()
    assert MinuteAlarms(reader, []).refresh(60.0) == ()
    assert reader.asked == []


def test_a_pools_alarm_reaches_its_decision_and_holds_it() -> None:
    _, alarms, metrics = set_up()
    rig = Rig(decide=decide)
    rig.counts.queues["orders"] = QueueCounts(2000, 0, 0)
    metrics.refresh(rig.clock.now())
    held = replace(POOL, hold_on_alarms=("pay",))
    sources = rig.sources(alarms=partial(alarms.of, ["pay"]), settings_at=lambda _: held)
    ticked = rig.tick(sources=sources).run({})
    assert (ticked.decision.desired, ticked.decision.reason) == (2, Reason.DOWNSTREAM)
