"""The producer: sends each message when its time has come, whatever the queue's state."""

import json
import random
import threading
from collections.abc import Iterable
from itertools import chain

from tidegate.aws.stand_in import QueueSender
from tidegate.errors import TidegateError
from tidegate.ports import Clock

__all__ = ["Traffic"]

STEP_S = 0.05
"""Messages due within one step go out together."""


class Traffic:
    """A thread that works off `times` (seconds from its start, rising). Work takes half to one and a half of the mean.

    `finished` is set once the last message is sent, or when it gave up; `error` then says why.
    """

    def __init__(
        self, sender: QueueSender, times: Iterable[float], service_time_s: float, rng: random.Random, clock: Clock
    ) -> None:
        self._sender, self._times, self._clock = sender, times, clock
        self._service_time_s, self._rng = service_time_s, rng
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="traffic", daemon=True)
        self.finished = threading.Event()
        self.error: TidegateError | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Send nothing more. Safe to call twice, or without a start."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            self._send_all(self._clock.now())
        except TidegateError as error:
            self.error = error
        finally:
            self.finished.set()

    def _send_all(self, began_s: float) -> None:
        times = iter(self._times)
        upcoming = next(times, None)
        while upcoming is not None and not self._clock.wait(self._stop, STEP_S):
            elapsed_s = self._clock.now() - began_s
            due = 0
            for at_s in chain([upcoming], times):
                upcoming = at_s
                if at_s > elapsed_s:
                    break
                due += 1
            else:
                upcoming = None
            self._sender.send([self._body() for _ in range(due)])

    def _body(self) -> str:
        return json.dumps({"work_s": round(self._service_time_s * self._rng.uniform(0.5, 1.5), 4)})
