"""Handlers that do not end though they were told that their lease is lost: their slots are given to others."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from tidegate.errors import Wedged
from tidegate.worker.handlers.run_handler import HandlerRunner
from tidegate.worker.jobs.followers import Followers
from tidegate.worker.jobs.waiting_room import Load
from tidegate.worker.slots import Slots

__all__ = ["Hanging"]

_ENDS_WITHIN_S: Final = 30.0
"""So long a handler may take to end that was told that its lease is lost, where leases are kept for progress only."""

logger = logging.getLogger(__name__)


class Hanging:
    """Lives on the SDK's loop. `runs` says whether a handler still does."""

    def __init__(self, runner: HandlerRunner, slots: Slots, followers: Followers, runs: Callable[[Load], bool]) -> None:
        self._runner = runner
        self._slots = slots
        self._followers = followers
        self._runs = runs
        self._given_up = 0

    def expect_end(self, load: Load) -> None:
        """Its handler has just been told to end."""
        asyncio.get_running_loop().call_later(_ENDS_WITHIN_S, self._give_up, load)

    def _give_up(self, load: Load) -> None:
        """Its slot is needed. Too many of these, and the worker leaves: a fresh process is what helps then."""
        if load.run is None or not self._runs(load):
            return
        self._given_up += 1
        if self._given_up > self._slots.total:
            self._followers.break_off(
                Wedged(f"{self._given_up} handlers did not end when told to, and it has {self._slots.total} slots")
            )
            return
        logger.error("the handler of message %s hangs: its slot is given to another", load.hands[0].message.id)
        self._runner.replace()
        load.run.give_up()
