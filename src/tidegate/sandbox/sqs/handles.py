"""Receipt handles: which message, and which of its leases. Opaque to clients, and good for one queue only."""

import base64
import re

from tidegate.sandbox.sqs.faults import Code, Refusal

__all__ = ["Handles"]

_COUNT = re.compile(r"[0-9]{1,18}")


class Handles:
    """Makes and reads one queue's handles. `salt` tells a queue from a later one of the same name."""

    def __init__(self, queue: str, salt: int) -> None:
        self._prefix = f"{queue}:{salt:08x}:"

    def make(self, number: int, lease: int) -> str:
        return base64.b64encode(f"{self._prefix}{number}:{lease}".encode()).decode()

    def read(self, handle: str) -> tuple[int, int]:
        """The message's number and its lease's. Raises ReceiptHandleIsInvalid for another queue's handle, or none."""
        text = _decoded(handle)
        number, _, lease = text.removeprefix(self._prefix).partition(":")
        if text.startswith(self._prefix) and _COUNT.fullmatch(number) and _COUNT.fullmatch(lease):
            return int(number), int(lease)
        reason = f'The input receipt handle "{handle}" is not a valid receipt handle.'
        raise Refusal(Code.RECEIPT_HANDLE_IS_INVALID, reason)


def _decoded(handle: str) -> str:
    try:
        return base64.b64decode(handle, validate=True).decode()
    except ValueError:  # not base64, or not UTF-8 inside
        return ""
