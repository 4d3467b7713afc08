"""Numbered things that come due: O(log n) to set, forget and take, whatever the number of them."""

import heapq
from collections.abc import Iterator

__all__ = ["Agenda"]

_SLACK = 64


class Agenda:
    """Times (seconds) by number. An entry that is set anew or forgotten stays in the heap until it surfaces there;
    when such entries are the majority the heap is built anew, so memory stays in proportion to what is live."""

    def __init__(self) -> None:
        self._due_s: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._due_s)

    def set(self, number: int, due_s: float) -> None:
        """Make `number` due at `due_s`, whenever it was due before."""
        self._due_s[number] = due_s
        heapq.heappush(self._heap, (due_s, number))
        self._sweep()

    def forget(self, number: int) -> None:
        if self._due_s.pop(number, None) is not None:
            self._sweep()

    def first_s(self) -> float | None:
        """When the earliest entry is due."""
        while self._heap:
            due_s, number = self._heap[0]
            if self._due_s.get(number) == due_s:
                return due_s
            heapq.heappop(self._heap)
        return None

    def take_due(self, now_s: float) -> Iterator[int]:
        """Take out what is due by `now_s`, earliest first."""
        while (first_s := self.first_s()) is not None and first_s <= now_s:
            _, number = heapq.heappop(self._heap)
            del self._due_s[number]
            yield number

    def _sweep(self) -> None:
        if len(self._heap) > 2 * len(self._due_s) + _SLACK:
            self._heap = [(due_s, number) for number, due_s in self._due_s.items()]
            heapq.heapify(self._heap)
