"""The order in which a worker leaves for good, within its grace: nothing lost, nothing taken back."""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from tidegate.core.reports import WorkerState
from tidegate.errors import Wedged
from tidegate.worker.fleet_share import FleetShare
from tidegate.worker.jobs.in_hand import Jobs
from tidegate.worker.leases.lane import Lane
from tidegate.worker.leaving.lifecycle import Lifecycle, Why
from tidegate.worker.leaving.shield import Shield
from tidegate.worker.slots import Slots
from tidegate.worker.waiting import unless

__all__ = ["end", "leave", "settled", "told_or_broken", "unprotect"]

_FLUSH_S: Final = 2.0
_LAST_DROP_S: Final = 1.0

logger = logging.getLogger(__name__)


async def told_or_broken(lifecycle: Lifecycle, tasks: Sequence[asyncio.Task[None]]) -> None:
    """Waits until the worker is told to leave; a task that ends, which none should, tells it so."""
    waiting = asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    broken, _ = await unless(lifecycle.stopping, waiting) or ((), ())
    for task in broken:
        wedged = not task.cancelled() and isinstance(task.exception(), Wedged)
        lifecycle.stop(Why.WEDGED if wedged else f"{task.get_name()} ended")
        logger.error("worker leaves (%s) within %.1f s", lifecycle.reason, lifecycle.time_left_s())


async def leave(
    lifecycle: Lifecycle,
    slots: Slots,
    polling: asyncio.Task[None],
    jobs: Jobs,
    lanes: Sequence[Lane],
    shield: Shield,
    share: FleetShare,
) -> None:
    """No new poll; finish those under way; let handlers finish; release the rest; flush the deletes; unprotect."""
    slots.close()
    lifecycle.advance(WorkerState.RETIRING)
    jobs.release_waiting()
    if not await lifecycle.within_grace(_finished(polling)):
        logger.warning("the last poll never came back: what it may have brought is visible when its lease ends")
    lifecycle.advance(WorkerState.DRAINING)
    await lifecycle.within_grace(jobs.idle())
    lifecycle.advance(WorkerState.RELEASED)
    await end([polling])  # it must not take what is about to be released
    await jobs.let_go(spared=lifecycle.reason != Why.WEDGED)
    returns = (_within(lane.keeper.returned(), _FLUSH_S) for lane in lanes)
    *returned, flushed = await asyncio.gather(*returns, _within(_all_flushed(lanes), _FLUSH_S))
    if not all(returned):
        logger.error("left with messages whose release is not confirmed: they are visible when their leases end")
    if not flushed:
        lost = sum(lane.deleter.abandon() for lane in lanes)
        logger.error("left with %d deletes unconfirmed: their messages may run again", lost)
    noted = (_within(lane.notes.flushed(), _LAST_DROP_S) for lane in lanes)
    handed_on = (_within(share.give_back(), _LAST_DROP_S), _within(share.hand_on(), _LAST_DROP_S))
    await asyncio.gather(unprotect(shield), *noted, *handed_on)


async def unprotect(shield: Shield) -> None:
    """Lets the platform have the worker, as far as it hears of it within a second."""
    await _within(shield.drop(), _LAST_DROP_S)


async def settled(jobs: Jobs, lanes: Sequence[Lane]) -> None:
    """Waits until no handler runs, no delete waits and no message is on its way back."""
    await jobs.idle()
    await asyncio.gather(*(lane.keeper.returned() for lane in lanes))
    await _all_flushed(lanes)


async def end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancels them and waits; what they raised is not raised here."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def _all_flushed(lanes: Sequence[Lane]) -> None:
    await asyncio.gather(*(lane.deleter.flushed() for lane in lanes))


async def _finished(task: asyncio.Task[None]) -> None:
    """Waits for a task's end without cancelling it or raising what it raised."""
    await asyncio.wait({task})


async def _within(work: Coroutine[Any, Any, None], seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return False
    return True
