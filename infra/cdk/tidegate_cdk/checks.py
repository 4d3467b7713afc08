"""Settings are refused when the app is synthesised, not when the stack is deployed. Tokens are let through."""

import re
from collections.abc import Iterable

from aws_cdk import Duration, Token

_NAME = re.compile(r"[a-z][a-z0-9-]{2,39}")
_POOL = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
_NAMESPACE = re.compile(r"(?!AWS/)[A-Za-z0-9._/#:-]{1,255}")


def controller_name(name: str) -> str:
    """Raises ValueError when roles and function could not be called so."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"name = {name!r}: must be 3 to 40 small letters, digits and -, beginning with a letter")
    return name


def is_lambda(controller: str, has_package: bool, has_ecs: bool) -> bool:
    """Raises ValueError for another controller than the two, and for one without what it needs, or with the other's."""
    if controller not in ("lambda", "ecs"):
        raise ValueError(f'controller = {controller!r}: must be "lambda" or "ecs"')
    needed, of_the_other = (has_package, has_ecs) if controller == "lambda" else (has_ecs, has_package)
    if not needed:
        what = "package: the function's zip (make lambda)" if controller == "lambda" else "ecs: cluster and image"
        raise ValueError(f'controller = "{controller}" needs {what}')
    if of_the_other:
        raise ValueError(f'controller = "{controller}": remove {"ecs" if controller == "lambda" else "package"}')
    return controller == "lambda"


def pool_name(name: str) -> str:
    """Raises ValueError for what the controller would refuse as a pool's name."""
    if len(name) > 64 or not _POOL.fullmatch(name):
        raise ValueError(f"name = {name!r}: must be 1 to 64 letters and digits, with single -, _ or . between them")
    return name


def namespace(name: str) -> str:
    """Raises ValueError for what CloudWatch would refuse, or keeps for AWS itself."""
    if not _NAMESPACE.fullmatch(name):
        raise ValueError(
            f"namespace = {name!r}: must be 1 to 255 letters, digits and . - _ / # :, not beginning with AWS/"
        )
    return name


def tick_s(tick: Duration) -> int:
    """Raises ValueError when it is no whole number of seconds from 5 to 60."""
    seconds = tick.to_seconds(integral=False)
    if not 5 <= seconds <= 60 or seconds != int(seconds):
        raise ValueError(f"tick = {seconds:g} s: must be whole seconds from 5 to 60")
    return int(seconds)


def between(name: str, value: float, low: float, high: float = float("inf")) -> None:
    """Raises ValueError for a number outside [low, high]."""
    if not Token.is_unresolved(value) and not low <= value <= high:
        limits = f"at least {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"
        raise ValueError(f"{name} = {value:g}: must be {limits}")


def not_more(least_name: str, least: float, most_name: str, most: float) -> None:
    """Raises ValueError when the first is more than the second."""
    if not Token.is_unresolved(least) and not Token.is_unresolved(most) and least > most:
        raise ValueError(f"{least_name} = {least} is more than {most_name} = {most}: lower the one or raise the other")


def only(name: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises ValueError for what is not among the known ones."""
    unknown = sorted({*given} - {*known})
    if unknown:
        raise ValueError(f"{name} = {unknown}: unknown; there are {', '.join(sorted(known))}")
