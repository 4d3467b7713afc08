"""A pool of the settings, opened for looking back: its settings, its past, what its workers measured."""

import os

from tidegate.aws.clients import AwsClients
from tidegate.aws.history import CloudWatchHistory
from tidegate.aws.sqs import SqsQueueReader
from tidegate.core.model import PoolState
from tidegate.entrypoints.clock import SystemClock
from tidegate.entrypoints.operate import named_pool
from tidegate.entrypoints.options import load_settings
from tidegate.entrypoints.wiring import shared_store
from tidegate.errors import ConfigError
from tidegate.lab.subject import PoolSource

__all__ = ["open_pool"]

_ACCOUNT = ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION")
"""Variables that decide whose queues are meant by their names. None of them is a secret."""


def open_pool(config: str, name: str) -> PoolSource:
    """Asks nothing of AWS yet. Raises ConfigError for faults of the settings and for a pool that they don't have."""
    settings = load_settings(config)
    pool = named_pool(settings, name, config)
    clients, now_s = AwsClients(settings.region), SystemClock().now()

    def state() -> PoolState:
        try:
            store = shared_store(settings)
        except ConfigError:  # kept in the controller's memory: nothing measured can be seen from here
            return PoolState()
        return store.load(name).state

    return PoolSource(
        pool=pool.at(now_s),
        queues=pool.all_queues,
        account=repr((settings.region, *(os.environ.get(each) for each in _ACCOUNT))),
        history=CloudWatchHistory(clients.cloudwatch, settings.account),
        counts=SqsQueueReader(clients.sqs),
        state=state,
        now_s=now_s,
    )
