"""What becomes of a message when its handler has ended: deleted, tried again, or put with the dead letters."""

import asyncio
import logging
import math
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidegate.errors import CloudError
from tidegate.worker.backoff import Random, full_jitter_s
from tidegate.worker.fleet.retry_budget import RetryBudget
from tidegate.worker.jobs.waiting_room import Load
from tidegate.worker.leases.lane import Hand
from tidegate.worker.message import Message
from tidegate.worker.outcomes import HandlerError, PartialFailure, Reject, Retry
from tidegate.worker.telemetry.counts import Telemetry
from tidegate.worker.waiting import answered_within

__all__ = ["RetryDelay", "Settler"]

_DEAD_LETTER_S: Final = 10.0
"""Two tries of a small call; the lease is kept meanwhile."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryDelay:
    """How long a message stays hidden after its handler failed: up to base × 2^(receives - 1), at most the cap."""

    base_s: float
    cap_s: float
    random: Random

    def after(self, receive_count: int, least_s: float = 0.0) -> int:
        """Whole seconds, as SQS takes them, rounded up: half of the first retries would be immediate otherwise."""
        return math.ceil(least_s + full_jitter_s(receive_count, self.base_s, self.cap_s, self.random))


class Settler:
    """Settles what handlers have ended with."""

    def __init__(self, telemetry: Telemetry, retry: RetryDelay, budget: RetryBudget | None = None) -> None:
        self._telemetry = telemetry
        self._retry = retry
        self._budget = budget

    def settle(self, load: Load, error: BaseException | None, took_s: float) -> list[tuple[Hand, str]]:
        """Everything but the rejects, which take a call each: they are given back with their reasons, for `reject`.

        The time of a batch is shared among its messages: that is what each has cost its slot.
        """
        outcomes = error.outcomes if isinstance(error, PartialFailure) else [error] * len(load.hands)
        rejects = []
        for hand, outcome in zip(load.hands, outcomes, strict=True):
            reason = self._one(load, hand, outcome, took_s / len(load.hands))
            if reason is not None:
                rejects.append((hand, reason))
        return rejects

    async def reject(self, rejects: Sequence[tuple[Hand, str]]) -> None:
        """To the dead-letter queue, then deleted. What can't be put there comes back as if its handler had failed."""
        await asyncio.gather(*(self._reject(hand, reason) for hand, reason in rejects))

    def _one(self, load: Load, hand: Hand, outcome: BaseException | None, took_s: float) -> str | None:
        held = hand.held()
        if outcome is None:
            if load.told_to_leave and not held:
                logger.warning("the handler of message %s returned after its release: it runs again", hand.message.id)
                return None
            self._telemetry.finished(took_s, completed=held, job_class=load.job_class)
            hand.delete()
            return None
        if load.told_to_leave and not isinstance(outcome, Reject):
            hand.give_back(0)
            return None
        self._telemetry.finished(took_s, completed=False, job_class=load.job_class)
        if not held:
            return None
        if isinstance(outcome, Reject):
            return outcome.reason
        self._failed(hand, outcome)
        return None

    def _failed(self, hand: Hand, outcome: BaseException) -> None:
        least_s = outcome.after_s if isinstance(outcome, Retry) else 0.0
        delay_s = self._delay_s(hand, least_s)
        if isinstance(outcome, Retry):
            logger.info("message %s is to be tried again, visible in %d s", hand.message.id, delay_s)
        else:
            _log_failure(hand.message, outcome, delay_s)
        hand.give_back(delay_s, spared=isinstance(outcome, Retry))

    def _delay_s(self, hand: Hand, least_s: float = 0.0) -> int:
        """Until it is visible again: by its backoff, and not before the fleet's retry budget has room for it."""
        delay_s = self._retry.after(hand.message.receive_count, least_s)
        return delay_s if self._budget is None else self._budget.delay_s(hand, delay_s)

    async def _reject(self, hand: Hand, reason: str) -> None:
        try:
            async with answered_within(_DEAD_LETTER_S, "sending to the dead-letter queue", hand.message.id):
                await hand.lane.queue.dead_letter(hand.received, reason)
        except CloudError as error:
            delay_s = self._delay_s(hand)
            logger.error(  # noqa: TRY400  the error is one clear line, a traceback would only hide it
                "message %s was rejected but not dead-lettered, visible again in %d s: %s",
                hand.message.id,
                delay_s,
                error,
            )
            hand.give_back(delay_s, spared=False)
            return
        logger.warning("message %s was rejected: it is in the dead-letter queue, with the reason", hand.message.id)
        hand.delete()


def _log_failure(message: Message, error: BaseException, delay_s: int) -> None:
    """Where it failed and with what kind of error; never the error's own text, which may quote the body."""
    if isinstance(error, HandlerError):
        kind, where = error.kind, error.where
    else:
        kind, where = type(error).__qualname__, "".join(traceback.format_tb(error.__traceback__))
    logger.error(
        "handler failed on message %s (receive %d) with %s; visible again in %d s\n%s",
        message.id,
        message.receive_count,
        kind,
        delay_s,
        where.rstrip(),
    )
