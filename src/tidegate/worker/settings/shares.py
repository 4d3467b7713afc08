"""Names with numbers in one line, as an environment variable can hold them: "orders=3, mail=1" or "orders, mail"."""

from collections.abc import Mapping
from typing import Final

__all__ = ["parse_shares", "written"]

_HOW: Final = "write name=number, several with commas between them"


def written(value: object) -> object:
    """A mapping or a sequence of names, as it stands in code, written as one line; anything else as it is.

    >>> written({"orders": 3, "mail": 1}), written(["orders", "mail"]), written("orders")
    ('orders=3, mail=1', 'orders, mail', 'orders')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={number}" for name, number in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return value


def parse_shares(text: str) -> dict[str, float]:
    """Each name with its number, 1 where none is given. Raises ValueError: no name, one twice, or no number above 0.

    >>> parse_shares("orders=3, mail")
    {'orders': 3.0, 'mail': 1.0}
    """
    shares: dict[str, float] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, number = map(str.strip, part.partition("="))
        if not name:
            raise ValueError(f"{part!r} has no name; {_HOW}")
        if name in shares:
            raise ValueError(f"{name} stands there twice; name it once")
        shares[name] = _number(name, number) if equals else 1.0
    return shares


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"{name} has {text!r}, which is no number above 0; {_HOW}")
    return number
