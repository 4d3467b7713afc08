"""What settings will do, in one line per pool."""

from tidegate.config.loading import Loaded
from tidegate.config.models import PoolSettings
from tidegate.core.durations import format_duration

__all__ = ["describe"]


def describe(loaded: Loaded) -> list[str]:
    """ "orders: queue orders → ECS prod/orders, 1 to 50 workers of 4 slots, wait under 30s", for each pool."""
    return [_line(pool) for pool in loaded.settings.pools.values()]


def _line(pool: PoolSettings) -> str:
    queues = ", ".join(pool.all_queues)
    target = f"ECS {pool.ecs.cluster}/{pool.ecs.service}" if pool.ecs else f"Auto Scaling group {pool.asg}"
    workers = f"{pool.min_workers} to {pool.max_workers} workers of {_count(pool.slots_per_worker, 'slot')}"
    ceiling = f", never more than {_count(pool.max_slots, 'slot')}" if pool.max_slots else ""
    windows = "; other limits in " + ", ".join(repr(window.name) for window in pool.schedule) if pool.schedule else ""
    kind = "queue" if len(pool.all_queues) == 1 else "queues"
    wait = format_duration(pool.target_wait_s)
    return f"{pool.name}: {kind} {queues} → {target}, {workers}{ceiling}, wait under {wait}{windows}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
