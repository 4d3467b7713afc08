"""What a decision says to CloudWatch: the values that alarms and dashboard are made of.

The names and units are those of infra/observability/pool.json, which a test holds against this module.
"""

from collections.abc import Mapping

from tidegate.core.condition import Condition
from tidegate.core.decision import Decision, Scalar

__all__ = ["UNITS", "published"]

UNITS: Mapping[str, str] = {
    "Decisions": "Count",
    "DesiredWorkers": "Count",
    "ScaleEvents": "Count",
    "AtCeiling": "None",
    "OldestOverTarget": "None",
    "Waiting": "Count",
    "ArrivalsPerSecond": "Count/Second",
    "CompletionsPerSecond": "Count/Second",
    "ProvisionedSlots": "Count",
    "BusySlots": "Count",
    "Started": "Count",
    "StartedLate": "Count",
    "LeasesLost": "Count",
}
"""CloudWatch's unit of each metric.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_MetricDatum.html
"""


def published(decision: Decision, wrote: bool) -> Mapping[str, float]:
    """The metrics of one tick, by their names in `UNITS`. What the decision could not know is left out, never zero.

    `wrote`: the desired count was changed on the platform.
    """
    steps = {step.name: step.values for step in decision.steps}
    signals, capacity, estimate = (steps.get(name, {}) for name in ("signals", "capacity", "estimate"))
    slots = _number(capacity, "slots")
    waits, late_share = _number(signals, "waits_measured"), _number(signals, "late_share")
    values = {
        "Decisions": 1.0,
        "DesiredWorkers": float(decision.desired),
        "ScaleEvents": float(wrote),
        "AtCeiling": float(decision.state is Condition.AT_CEILING),
        "OldestOverTarget": _number(estimate, "oldest_over_target"),
        "Waiting": _number(signals, "waiting") if signals.get("counts") == "fresh" else None,
        "ArrivalsPerSecond": _number(estimate, "arrivals_per_s"),
        "CompletionsPerSecond": _completions_per_s(signals),
        "ProvisionedSlots": slots,
        "BusySlots": _busy(signals, slots),
        "Started": waits,
        "StartedLate": None if waits is None or late_share is None else round(waits * late_share),
        "LeasesLost": _number(signals, "leases_lost"),
    }
    return {name: value for name, value in values.items() if value is not None}


def _number(values: Mapping[str, Scalar], name: str) -> float | None:
    value = values.get(name)
    return float(value) if isinstance(value, int | float) else None


def _completions_per_s(signals: Mapping[str, Scalar]) -> float | None:
    """By what workers report since the last tick; without reports, by SQS's deletes in the last minute."""
    completed, since_s = _number(signals, "completed"), _number(signals, "since_s")
    if completed is None:
        return _number(signals, "deleted_per_s")
    return completed / since_s if since_s else None


def _busy(signals: Mapping[str, Scalar], slots: float | None) -> float | None:
    """By what workers report; without reports, messages in flight stand for busy slots, as far as there are slots."""
    busy, in_flight = _number(signals, "busy_slots"), _number(signals, "in_flight")
    if busy is not None or in_flight is None or slots is None:
        return busy
    return min(in_flight, slots)
