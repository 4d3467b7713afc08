"""Fakes of every port, for tests of tidegate and of its users: no cloud, no sleeping, no patching.

>>> from tidegate.testing import FakeCapacity, FakeClock
>>> clock = FakeClock(1_000.0)
>>> service = FakeCapacity(clock, desired=2)
>>> service.set_desired(5, seen=service.read())
True
>>> service.read().pending
3
"""

from tidegate.testing.capacity import FakeCapacity
from tidegate.testing.clock import FakeClock
from tidegate.testing.events import RecordedEvents
from tidegate.testing.heartbeats import RecordedHeartbeats
from tidegate.testing.protection import FakeProtection
from tidegate.testing.queues import FakeMetricsReader, FakeQueueReader
from tidegate.testing.work_queue import FakeWorkQueue, QueueCall

__all__ = [
    "FakeCapacity",
    "FakeClock",
    "FakeMetricsReader",
    "FakeProtection",
    "FakeQueueReader",
    "FakeWorkQueue",
    "QueueCall",
    "RecordedEvents",
    "RecordedHeartbeats",
]
