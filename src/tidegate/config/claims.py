"""Which of many has named a resource first: found without comparing each with each."""

from dataclasses import dataclass
from itertools import product
from typing import Generic, TypeVar

from tidegate.config.resources import Match, Resource

__all__ = ["Claim", "Claims"]

T = TypeVar("T")


class _Any:
    """Stands for every Region or account, known or not."""


_ANY = _Any()
_Key = tuple[str, str | _Any | None, str | _Any | None]


@dataclass(frozen=True, slots=True)
class Claim(Generic[T]):
    """Who named the resource first, and how surely it is the same: YES or MAYBE."""

    owner: T
    match: Match


class Claims(Generic[T]):
    """Resources by owner. Says the same as `Resource.match` with each of them, at a cost that does not grow with them.

    Each resource is kept four times: with its Region and with any, with its account and with any. Whoever asks with a
    Region then looks for that Region and for an unknown one; whoever asks without, for any.
    """

    def __init__(self) -> None:
        self._owners: dict[_Key, T] = {}

    def first(self, resource: Resource) -> Claim[T] | None:
        """The first whose resource is surely this one, else one whose resource may be; None: nobody's."""
        name, region, account = resource.name, resource.region, resource.account
        if (name, region, account) in self._owners:
            return Claim(self._owners[name, region, account], Match.YES)
        for key in product([name], _matching(region), _matching(account)):
            if key in self._owners:
                return Claim(self._owners[key], Match.MAYBE)
        return None

    def add(self, resource: Resource, owner: T) -> None:
        """From now on it is `owner`'s, unless it was somebody's already."""
        for key in product([resource.name], (resource.region, _ANY), (resource.account, _ANY)):
            self._owners.setdefault(key, owner)


def _matching(part: str | None) -> tuple[str | _Any | None, ...]:
    return (_ANY,) if part is None else (part, None)
