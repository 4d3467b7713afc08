"""A pool's samples with their columns at hand: a dozen estimators read them at each tick, most of them one column."""

import math
from collections.abc import Iterable
from operator import sub

from tidegate.core.bounds import at_most
from tidegate.core.model import Sample

__all__ = ["Samples"]

Column = tuple[float, ...]


class Samples(tuple[Sample, ...]):
    """Samples, oldest first: the tuple that the state remembers, and the fields of all of them, a tuple each."""

    at_s: Column
    arrived: Column
    waiting: Column
    counted: Column
    apart_s: float
    """Any two samples are at least so far apart."""

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> "Samples":
        """The same, if that is what they are."""
        if isinstance(samples, cls):
            return samples
        made = cls(samples)
        made.at_s, made.arrived, made.waiting, _, made.counted = zip(*made, strict=True) if made else ((),) * 5
        made.apart_s = min(map(sub, made.at_s[1:], made.at_s), default=math.inf)
        return made

    def then(self, sample: Sample, begin: int = 0) -> "Samples":
        """With one more, later than all others, and without those before `begin`."""
        made = Samples((*self[begin:], sample))
        made.at_s = (*self.at_s[begin:], sample.at_s)
        made.arrived = (*self.arrived[begin:], sample.arrived)
        made.waiting = (*self.waiting[begin:], sample.waiting)
        made.counted = (*self.counted[begin:], sample.counted)
        made.apart_s = at_most(self.apart_s, sample.at_s - self.at_s[-1]) if self else math.inf
        return made
