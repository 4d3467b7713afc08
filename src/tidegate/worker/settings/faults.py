"""What is wrong with one setting of a worker, in plain words instead of pydantic's."""

from collections.abc import Mapping
from typing import Any, Final

from tidegate.errors import Fault
from tidegate.worker.settings.checks import PREFIX, nearest
from tidegate.worker.settings.types import MOST_AT_ONCE, MOST_FLEET_SLOTS, MOST_RETRIES, MOST_SLOTS

__all__ = ["fault_of"]

_PROBLEMS: Final = {
    **dict.fromkeys(("bool_parsing", "bool_type"), "is neither true nor false"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float", "int_parsing_size"), "is not a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "is not a number"),
    **dict.fromkeys(("greater_than", "greater_than_equal"), "is too small"),
    **dict.fromkeys(("less_than", "less_than_equal"), "is too large"),
    **dict.fromkeys(("string_type", "path_type"), "is not a text"),
    "string_too_short": "is empty",
    "literal_error": "is none of the words that this can be",
}
"""Pydantic's kinds of error: https://docs.pydantic.dev/latest/errors/validation_errors/"""

_FIXES: Final = {
    **dict.fromkeys(("leave_when_stuck", "notices", "protect"), "write true or false, or leave it out"),
    "fleet_slots": f"write a whole number from 1 to {MOST_FLEET_SLOTS}, or leave it out",
    "batch_size": f"write a whole number from 1 to {MOST_AT_ONCE}",
    "prefetch": f"write a whole number from 0 to {MOST_SLOTS}, or leave it out",
    "max_extensions": "write a whole number, 0 or more, or leave it out",
    "max_receives": "write a whole number, 1 or more, or leave it out",
    "retry_budget": f"write retries per completed message, from 0 to {MOST_RETRIES:g}, or leave it out",
    "retry_floor": f"write retries a second, above 0 and up to {MOST_RETRIES:g}",
    "health_port": "write a port from 1 to 65535, or leave it out",
    "executor": "write thread or process",
    "log_level": "write debug, info, warning or error",
    "queue": "write the queue's URL, its ARN (arn:aws:sqs:REGION:ACCOUNT:NAME) or its name",
}


def fault_of(error: Mapping[str, Any], known: Mapping[str, object]) -> Fault:
    """One of `ValidationError.errors()`; `known` are the settings that there are."""
    name = ".".join(str(part) for part in error["loc"]) or "settings"
    if error["type"] == "missing":
        return Fault(name, None, "not given", f"pass {name}=… or set {PREFIX}{name.upper()}")
    if error["type"] == "extra_forbidden":
        return Fault(name, error["input"], "there is no such setting", nearest(name, known))
    problem, fix = _PROBLEMS.get(error["type"], "is not what this can be"), ""
    if error["type"] == "value_error":  # of our own types, which say both
        problem, _, fix = str(error["msg"]).removeprefix("Value error, ").partition("; ")
    return Fault(name, error["input"], problem, fix or _FIXES.get(name, "write a text, or leave it out"))
