"""Which workers have a poll out: those that take work and have a slot free."""

import random

from tests.outside.workers import Worker

__all__ = ["Polls"]


class Polls:
    """SQS answers whichever poll it likes: `pick` is one at random, in constant time."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._places: dict[Worker, int] = {}
        self._out: list[Worker] = []

    def __bool__(self) -> bool:
        return bool(self._out)

    def pick(self) -> Worker:
        """One of them; there must be one."""
        return self._out[int(self._chance.random() * len(self._out))]

    def note(self, worker: Worker) -> None:
        """Something about this worker has changed: it has a poll out now, or none any more."""
        polls, place = worker.free > 0, self._places.get(worker)
        if polls and place is None:
            self._places[worker] = len(self._out)
            self._out.append(worker)
        elif not polls and place is not None:
            last = self._out.pop()
            del self._places[worker]
            if last is not worker:
                self._out[place], self._places[last] = last, place
