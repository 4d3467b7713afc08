"""A worker's first word with its queue: how long leases last, asked for until there is an answer or no hope."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from tidegate.errors import CloudError, ConfigError, Fault, Throttled, Unreachable
from tidegate.ports import WorkQueue
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.plan import Plan
from tidegate.worker.waiting import answered_within, happens_within, unless

__all__ = ["PATIENCE_S", "check_that_classes_can_wait", "lease_of", "leases_of"]

PATIENCE_S: Final = 30.0
"""So long a worker that starts tries to reach its queue: networks and endpoints come up beside it. After that its end
says more than its patience, and the platform starts another."""

_RETRY_BASE_S: Final = 1.0
_RETRY_CAP_S: Final = 5.0
_ASK_S: Final = 3.0

logger = logging.getLogger(__name__)


async def leases_of(
    queues: Sequence[WorkQueue],
    asked_for_s: int | None,
    stopping: asyncio.Event,
    clock: Callable[[], float],
    random: Random,
) -> list[int] | None:
    """What is asked for, else as `lease_of`, of each queue; None as soon as `stopping` is set."""
    if asked_for_s is not None:
        return None if stopping.is_set() else [asked_for_s] * len(queues)
    asked = await asyncio.gather(*(lease_of(queue, stopping, clock, random) for queue in queues))
    leases_s = [lease_s for lease_s in asked if lease_s is not None]
    return leases_s if len(leases_s) == len(queues) else None


async def check_that_classes_can_wait(plan: Plan, queues: Sequence[WorkQueue]) -> None:
    """Raises ConfigError where job classes meet a redrive policy under which what goes back for its class is dead.

    A policy that can't be read is said, and the worker starts: it needs no such permission otherwise.
    """
    if plan.sorting.class_of is None:
        return
    most = await asyncio.gather(*(_max_receives(queue) for queue in queues))
    single = [each.name for each, receives in zip(plan.queues, most, strict=True) if receives == 1]
    if single:
        problem = (
            f"the redrive policy of {', '.join(single)} has maxReceiveCount = 1, so a message that goes back to wait"
            " for its class would be a dead letter that never ran"
        )
        fix = "raise maxReceiveCount to 2 or more, or leave class_of out"
        raise ConfigError([Fault("class_slots", dict(plan.sorting.class_slots) or None, problem, fix)])


async def _max_receives(queue: WorkQueue) -> int | None:
    try:
        async with answered_within(_ASK_S, "asking for the redrive policy", "the queue"):
            return await queue.max_receives()
    except CloudError as error:
        logger.warning("whether messages may go back to wait for their class can't be known: %s", error)
        return None


async def lease_of(queue: WorkQueue, stopping: asyncio.Event, clock: Callable[[], float], random: Random) -> int | None:
    """The queue's visibility timeout in seconds; None as soon as `stopping` is set.

    Raises Denied, Gone and Invalid at once, Throttled and Unreachable when they last, ConfigError when it is 0: every
    message would be another slot's, and another worker's, as soon as it is received.
    """
    give_up_at_s = clock() + PATIENCE_S
    failures = 0
    while not stopping.is_set():
        try:
            lease_s = await unless(stopping, queue.visibility_timeout_s())
        except (Throttled, Unreachable) as error:
            failures += 1
            delay_s = full_jitter_s(failures, _RETRY_BASE_S, _RETRY_CAP_S, random)
            if clock() + delay_s > give_up_at_s:
                raise
            left_s = give_up_at_s - clock()
            logger.warning("the queue can't be reached yet, trying for another %.0f s: %s", left_s, error)
            await happens_within(stopping, delay_s)
        else:
            if lease_s == 0:
                raise ConfigError([_NO_LEASE])
            return lease_s
    return None


_NO_LEASE: Final = Fault(
    "visibility_timeout",
    None,
    "not given, and the queue's own is 0 s, so that every message would run in several slots at once",
    "set it (visibility_timeout=30, --visibility-timeout 30s), or raise the queue's VisibilityTimeout",
)
