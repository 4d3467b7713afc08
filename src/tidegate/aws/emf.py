"""Metrics of ours into CloudWatch without a call: as lines of a log that CloudWatch Logs reads.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

import json
from collections.abc import Callable, Mapping

from tidegate.core.decision import Decision
from tidegate.core.explain.published import UNITS, published

__all__ = ["EmfLines"]


class EmfLines:
    """Implements `ports.Publisher`: each tick is one line of CloudWatch's embedded metric format.

    `write` takes a whole line with its end and may be called from several threads.
    """

    def __init__(self, write: Callable[[str], object], namespace: str) -> None:
        self._write = write
        self._namespace = namespace

    def add(self, decision: Decision, wrote: bool) -> None:
        """Write the line."""
        self._write(_emf(self._namespace, decision.pool, decision.at_s, published(decision, wrote)) + "\n")

    def due(self, now_s: float) -> bool:
        """Never: nothing is held back."""
        return False

    def flush(self, before_s: float) -> None:
        """Nothing is held back."""


def _emf(namespace: str, pool: str, at_s: float, values: Mapping[str, float]) -> str:
    metrics = [{"Name": name, "Unit": UNITS[name]} for name in values]
    directive = {"Namespace": namespace, "Dimensions": [["Pool"]], "Metrics": metrics}
    root = {"Timestamp": round(at_s * 1000), "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": root, "Pool": pool, **values}, separators=(",", ":"))
