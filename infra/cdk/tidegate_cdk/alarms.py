"""A pool's alarms and dashboard: infra/observability/pool.json, rendered for one pool."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from tidegate_cdk import checks
from tidegate_cdk.sources import filled, watched


class PoolAlarms(Construct):
    """The alarms by their ids, and one dashboard. By itself it is for pools that are managed otherwise.

    Raises ValueError for a share or a number of events out of its range, and for an unknown id in `left_out`.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pool: str,
        namespace: str = "tidegate",
        dead_letter_queue_name: str | None = None,
        late_share_objective: float = 0.01,
        scale_events_per_minute: float = 1,
        topics: Sequence[sns.ITopic] = (),
        left_out: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        checks.between("late_share_objective", late_share_objective, 0, 0.999)
        checks.between("scale_events_per_minute", scale_events_per_minute, 0.001)
        source = watched()
        checks.only("left_out", left_out, [alarm["id"] for alarm in source["alarms"]])
        words = {
            "{namespace}": checks.namespace(namespace),
            "{pool}": checks.pool_name(pool),
            "{dead_letter_queue}": dead_letter_queue_name or "",
        }
        self._called = f"{namespace}-{pool}"
        self._series: dict[str, Any] = filled(source["series"], words)
        self._numbers = {
            "{late_share_objective}": late_share_objective,
            "{scale_events_per_minute}": scale_events_per_minute,
        }
        self._topics = [topic.topic_arn for topic in topics]
        has_dead_letters = dead_letter_queue_name is not None
        self.alarms = {
            alarm["id"]: self._alarm(alarm)
            for alarm in source["alarms"]
            if alarm["id"] not in left_out and (has_dead_letters or "needs" not in alarm)
        }
        widgets = [one for one in source["dashboard"] if has_dead_letters or "needs" not in one]
        self.dashboard = cloudwatch.CfnDashboard(
            self,
            "Dashboard",
            dashboard_name=self._called,
            dashboard_body=Stack.of(self).to_json_string({"widgets": [self._widget(one) for one in widgets]}),
        )

    def _alarm(self, alarm: Mapping[str, Any]) -> cloudwatch.CfnAlarm:
        watches = self._expression(alarm) if "expression" in alarm else self._metric(alarm)
        return cloudwatch.CfnAlarm(
            self,
            "".join(word.capitalize() for word in alarm["id"].split("_")),
            alarm_name=f"{self._called}-{alarm['id'].replace('_', '-')}",
            alarm_description=alarm["description"],
            comparison_operator=alarm["comparison"],
            threshold=self._number(alarm["threshold"]),
            evaluation_periods=alarm["of"],
            datapoints_to_alarm=alarm["datapoints"],
            treat_missing_data=alarm["missing"],
            alarm_actions=self._topics or None,
            ok_actions=self._topics or None,
            **watches,
        )

    def _metric(self, alarm: Mapping[str, Any]) -> dict[str, Any]:
        """One metric by itself."""
        one = self._series[alarm["series"][0]]
        return {
            "namespace": one["namespace"],
            "metric_name": one["metric"],
            "dimensions": _dimensions(one),
            "statistic": one["stat"],
            "period": alarm["period_s"],
        }

    def _expression(self, alarm: Mapping[str, Any]) -> dict[str, Any]:
        """Several metrics that an expression makes a value of."""
        inputs = [self._input(series, alarm["period_s"]) for series in alarm["series"]]
        value = cloudwatch.CfnAlarm.MetricDataQueryProperty(
            id="value", label=alarm["label"], expression=alarm["expression"], return_data=True
        )
        return {"metrics": [*inputs, value]}

    def _input(self, series: str, period_s: int) -> cloudwatch.CfnAlarm.MetricDataQueryProperty:
        one = self._series[series]
        metric = cloudwatch.CfnAlarm.MetricProperty(
            namespace=one["namespace"], metric_name=one["metric"], dimensions=_dimensions(one)
        )
        stat = cloudwatch.CfnAlarm.MetricStatProperty(metric=metric, period=period_s, stat=one["stat"])
        return cloudwatch.CfnAlarm.MetricDataQueryProperty(
            id=series, label=one["label"], metric_stat=stat, return_data=False
        )

    def _widget(self, widget: Mapping[str, Any]) -> dict[str, Any]:
        drawn = [self._line(one, True) for one in widget.get("show", [])]
        hidden = [self._line(one, False) for one in widget.get("hide", [])]
        value = [[{"expression": one, "label": widget["label"], "id": "value"}] for one in _expressions(widget)]
        lines = [
            {"label": line["label"], "value": self._number(line["value"])} for line in widget.get("horizontal", [])
        ]
        return {
            "type": "metric",
            **{key: widget[key] for key in ("x", "y", "width", "height")},
            "properties": {
                "title": widget["title"],
                "region": Stack.of(self).region,
                "view": "timeSeries",
                "period": widget["period_s"],
                "yAxis": {"left": {"min": 0}},
                "metrics": [*drawn, *hidden, *value],
                "annotations": {"horizontal": lines},
            },
        }

    def _line(self, series: str, visible: bool) -> list[Any]:
        """A series as a dashboard writes it: namespace, metric, dimensions, then how it is drawn."""
        one = self._series[series]
        names = [text for pair in one["dimensions"].items() for text in pair]
        look = {"id": series, "stat": one["stat"], "label": one["label"], "visible": visible}
        return [one["namespace"], one["metric"], *names, look]

    def _number(self, value: float | str) -> float:
        """A number, or the "{name}" of a variable."""
        return self._numbers[value] if isinstance(value, str) else value


def _expressions(widget: Mapping[str, Any]) -> list[str]:
    return [widget["expression"]] if "expression" in widget else []


def _dimensions(series: Mapping[str, Any]) -> list[cloudwatch.CfnAlarm.DimensionProperty]:
    return [
        cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value) for name, value in series["dimensions"].items()
    ]
