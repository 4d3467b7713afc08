"""tidegate in an account, as CDK constructs: one `Autoscaler`, and one `Pool` for each queue with its workers.

>>> from tidegate_cdk import Autoscaler, Pool
"""

from tidegate_cdk.alarms import PoolAlarms
from tidegate_cdk.autoscaler import Autoscaler
from tidegate_cdk.pool import Pool
from tidegate_cdk.queue import QueueTerms
from tidegate_cdk.task import ControllerTask
from tidegate_cdk.terms import PoolTerms

__all__ = ["Autoscaler", "ControllerTask", "Pool", "PoolAlarms", "PoolTerms", "QueueTerms"]
