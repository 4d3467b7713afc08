"""The settings that workers are measured in, and what was measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["CELLS", "Cell", "Cost", "Table"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting: how many handlers at a time, what they do, what the messages are.

    `queued` is more than anybody works off until the window ends; who does is measured until the queue is empty.
    """

    name: str
    concurrency: int
    queued: int
    takes_s: float = 0.0
    straggler_every: int = 0
    """Of so many messages one takes two seconds; 0: none does."""
    body_bytes: int = 16
    attributes: int = 0
    everybody: bool = True
    """False: without the libraries whose messages have a form of their own."""
    warm_up_s: float = 0.5

    @property
    def message(self) -> dict[str, Any]:
        """As SendMessageBatch takes it."""
        text = {"DataType": "String", "StringValue": "a value of twenty-six chars"}
        named = {f"attribute-{number}": text for number in range(self.attributes)}
        return {"MessageBody": "x" * self.body_bytes, **({"MessageAttributes": named} if named else {})}


@dataclass(frozen=True, slots=True)
class Cost:
    """One contender in one cell. Shares are of one core; `calls` (None: not known) and `cpu_ms` are per message."""

    rate_per_s: float
    worker_share: float
    server_share: float
    calls: float | None
    cpu_ms: float
    peak_mb: float
    grown_mb: float
    """What the peak has grown by within the window."""
    done: int


CELLS: Final = (
    Cell("10 at a time, 0 ms", 10, 50_000),
    Cell("100 at a time, 0 ms", 100, 50_000),
    Cell("10 at a time, 20 ms", 10, 4_000, takes_s=0.02),
    Cell("100 at a time, 20 ms", 100, 24_000, takes_s=0.02),
    Cell("10 at a time, 0 ms, one in 1,000 takes 2 s", 10, 40_000, straggler_every=1_000, warm_up_s=2.5),
    Cell("100 at a time, 0 ms, one in 1,000 takes 2 s", 100, 80_000, straggler_every=1_000, warm_up_s=2.5),
    # Of those above some are bound by their handlers, whoever works: more that are bound by the client.
    Cell("10 at a time, 0 ms, bodies of 4 KiB", 10, 50_000, body_bytes=4_096, everybody=False),
    Cell("100 at a time, 0 ms, bodies of 4 KiB", 100, 50_000, body_bytes=4_096, everybody=False),
    Cell("10 at a time, 0 ms, ten attributes", 10, 40_000, attributes=10, everybody=False),
    Cell("100 at a time, 0 ms, ten attributes", 100, 40_000, attributes=10, everybody=False),
)

Table = Mapping[Cell, Mapping[str, Cost]]
"""What each contender cost in each cell."""
