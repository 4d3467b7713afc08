"""Bodies read into a model, and what may be said of one that doesn't fit: never a word of the body itself."""

from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from tidegate.errors import ConfigError, Fault
from tidegate.worker.message import Message
from tidegate.worker.outcomes import Reject

__all__ = ["BodyReader"]

_MOST_SAID: Final = 5


class BodyReader:
    """Reads bodies as JSON into `model`: a pydantic model, or any type that pydantic knows.

    Raises ConfigError when pydantic can make nothing of the model.
    """

    def __init__(self, model: Any) -> None:
        self._name = getattr(model, "__name__", str(model))
        self._fields = frozenset(getattr(model, "model_fields", ()))
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(model)
        except Exception as error:
            fix = "give a pydantic model, a dataclass, or another type that pydantic can check"
            raise ConfigError(
                [Fault("model", self._name, f"pydantic can't check it: {type(error).__name__}", fix)]
            ) from error

    def read(self, message: Message) -> Any:
        """The body as the model. Raises Reject, with fields and kinds of faults, when it is none: it never will be."""
        try:
            return self._adapter.validate_json(message.body)
        except ValidationError as error:
            raise Reject(f"the body is no {self._name}: {self._said(error)}") from None

    def _said(self, error: ValidationError) -> str:
        """Only names that the model itself has: a place may hold a key of the body, a message what was found there."""
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        said = [f"{self._place(fault['loc'])} ({fault['type']})" for fault in faults[:_MOST_SAID]]
        more = len(faults) - len(said)
        return ", ".join(said) + (f" and {more} more" if more else "")

    def _place(self, place: tuple[int | str, ...]) -> str:
        return str(place[0]) if place and place[0] in self._fields else "body"
