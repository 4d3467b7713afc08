"""tidegate: keeps the wait of an SQS queue under its target by setting the number of ECS or EC2 workers.

Public names, imported when first used, so that a worker process loads no controller and the other way round:

    Worker, Message           the worker SDK
    Retry, Reject             what a handler raises or returns when a message is not done
    auto                      slots that follow the work: `Worker(slots=auto(…))`, `AsyncPool(work, auto(…))`
    AsyncPool, Saturated,     a pool of asyncio work that finds its own size, with or without SQS
    max_workers_for
    Pool, PoolState,          the kernel: `decide(pool, state, observation)`
    Observation, Decision,
    decide
    TidegateError             the base of everything that tidegate raises on purpose (its kinds: tidegate.errors)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.core.bottlenecks import max_workers_for
    from tidegate.core.decide import decide
    from tidegate.core.decision import Decision
    from tidegate.core.model import Pool, PoolState
    from tidegate.core.observation import Observation
    from tidegate.entrypoints.worker import Worker
    from tidegate.errors import Saturated, TidegateError
    from tidegate.worker.message import Message
    from tidegate.worker.outcomes import Reject, Retry
    from tidegate.worker.pool import AsyncPool
    from tidegate.worker.settings.slot_rule import auto

__all__ = [
    "AsyncPool",
    "Decision",
    "Message",
    "Observation",
    "Pool",
    "PoolState",
    "Reject",
    "Retry",
    "Saturated",
    "TidegateError",
    "Worker",
    "auto",
    "decide",
    "max_workers_for",
]

_HOMES = {
    "AsyncPool": "tidegate.worker.pool",
    "Decision": "tidegate.core.decision",
    "Message": "tidegate.worker.message",
    "Observation": "tidegate.core.observation",
    "Pool": "tidegate.core.model",
    "PoolState": "tidegate.core.model",
    "Saturated": "tidegate.errors",
    "Reject": "tidegate.worker.outcomes",
    "Retry": "tidegate.worker.outcomes",
    "TidegateError": "tidegate.errors",
    "Worker": "tidegate.entrypoints.worker",
    "auto": "tidegate.worker.settings.slot_rule",
    "decide": "tidegate.core.decide",
    "max_workers_for": "tidegate.core.bottlenecks",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
