"""What settings will do, in one line per pool."""

import math

from tidegate.config.loading import Loaded
from tidegate.config.models import Settings
from tidegate.config.pool import PoolSettings
from tidegate.core.explain.published import UNITS
from tidegate.core.notation.durations import format_duration

__all__ = ["describe"]


_METRIC_MONTH, _CALLS_THOUSAND = 0.30, 0.01
"""Dollars for a custom metric (of the first 10,000) and for 1,000 calls, as https://aws.amazon.com/cloudwatch/pricing/
had it for us-east-1: not looked up since."""
_CALLS_A_MONTH = 60 * 24 * 365 / 12


def describe(loaded: Loaded) -> list[str]:
    """ "orders: queue orders → ECS prod/orders, 1 to 50 workers of 4 slots, wait under 30s", for each pool.

    One more line where metrics are published, with what that costs.
    """
    lines = [_line(pool) for pool in loaded.settings.pools.values()]
    return lines if loaded.settings.publish == "off" else [*lines, _published(loaded.settings)]


def _published(settings: Settings) -> str:
    metrics = len(UNITS) * len(settings.pools)
    calls = math.ceil(metrics / 1000) * _CALLS_A_MONTH if settings.publish == "cloudwatch" else 0.0
    cost = metrics * _METRIC_MONTH + calls / 1000 * _CALLS_THOUSAND
    how = f"{calls:,.0f} calls a month" if calls else "no calls: CloudWatch Logs reads them from the log"
    return f"publishes {metrics} metrics into {settings.namespace}, {how}: about ${cost:,.2f} a month at list price"


def _line(pool: PoolSettings) -> str:
    queues = ", ".join(pool.all_queues)
    target = f"ECS {pool.ecs.cluster}/{pool.ecs.service}" if pool.ecs else f"Auto Scaling group {pool.asg}"
    workers = f"{pool.min_workers} to {pool.max_workers} workers of {_count(pool.slots_per_worker, 'slot')}"
    ceiling = f", never more than {_count(pool.max_slots, 'slot')}" if pool.max_slots else ""
    windows = "; other limits in " + ", ".join(repr(window.name) for window in pool.schedule) if pool.schedule else ""
    kind = "queue" if len(pool.all_queues) == 1 else "queues"
    by, wait_s = pool.finish_by, pool.target_wait_s
    objective = f"empty by {by}" if wait_s is None else f"wait under {format_duration(wait_s)}"
    return f"{pool.name}: {kind} {queues} → {target}, {workers}{ceiling}, {objective}{windows}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
