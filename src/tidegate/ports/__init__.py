"""What the controller and the worker need from the outside, as Protocols.

The real adapters live in `aws` and `stores`, fakes in `testing`; both pass the same contract tests. Every method
may raise the CloudError tree of `tidegate.errors` and nothing else that AWS causes.
"""

from tidegate.ports.capacity import CapacityTarget
from tidegate.ports.clock import Clock
from tidegate.ports.events import EventSink
from tidegate.ports.fleet import DirectiveWriter, FleetReader, HeartbeatSink, MessageNotes
from tidegate.ports.instance import InstanceNotices, InstanceWatch, ScaleInProtection, TerminationHook
from tidegate.ports.metrics import AlarmReader, Datum, Metric, MetricHistory, MetricsReader, MetricsWriter, Publisher
from tidegate.ports.permits import PermitStore, StoredPermits
from tidegate.ports.queues import QueueCounts, QueueReader
from tidegate.ports.state import StateStore, StoredState
from tidegate.ports.work_queue import EntryFailure, Received, VisibilityChange, WorkQueue

__all__ = [
    "AlarmReader",
    "CapacityTarget",
    "Clock",
    "Datum",
    "DirectiveWriter",
    "EntryFailure",
    "EventSink",
    "FleetReader",
    "HeartbeatSink",
    "InstanceNotices",
    "InstanceWatch",
    "MessageNotes",
    "Metric",
    "MetricHistory",
    "MetricsReader",
    "MetricsWriter",
    "PermitStore",
    "Publisher",
    "QueueCounts",
    "QueueReader",
    "Received",
    "ScaleInProtection",
    "StateStore",
    "StoredPermits",
    "StoredState",
    "TerminationHook",
    "VisibilityChange",
    "WorkQueue",
]
