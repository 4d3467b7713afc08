"""An SQS endpoint of our own: fast, strict, and in one process. `python -m tidegate.sandbox.sqs` runs it alone."""

from tidegate.sandbox.sqs.endpoint import EndpointSettings, SqsEndpoint
from tidegate.sandbox.sqs.model import Observer, QueueSnapshot, Unobserved
from tidegate.sandbox.sqs.queue import Limits
from tidegate.sandbox.sqs.server import SqsServer

__all__ = ["EndpointSettings", "Limits", "Observer", "QueueSnapshot", "SqsEndpoint", "SqsServer", "Unobserved"]
