"""From settings to things that work: each pool gets its adapters. Nothing is asked of AWS here."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tidegate.aws.alarms import CloudWatchAlarms
from tidegate.aws.clients import AwsClients
from tidegate.aws.cloudwatch import CloudWatchMetrics
from tidegate.aws.dynamodb import DynamoFleetTable
from tidegate.aws.ecs import EcsService
from tidegate.aws.emf import EmfLines
from tidegate.aws.metric_data import CloudWatchWriter
from tidegate.aws.sqs import SqsQueueReader
from tidegate.config import PoolSettings, Settings
from tidegate.controller.alarms import MinuteAlarms
from tidegate.controller.metrics import MinuteMetrics
from tidegate.controller.observe import PoolSources, queue_metrics
from tidegate.controller.publisher import MinutePublisher
from tidegate.controller.shadow import ShadowStore
from tidegate.controller.tick import PoolTick
from tidegate.core.notation.arns import region_in
from tidegate.entrypoints.streams import Lossy
from tidegate.errors import ConfigError, Fault
from tidegate.ports import CapacityTarget, Clock, Publisher, StateStore
from tidegate.stores.memory import MemoryStore

if TYPE_CHECKING:
    from tidegate.stores.file import FileStore

__all__ = ["Wired", "shared_store", "wire"]


@dataclass(frozen=True, slots=True)
class Wired:
    """All that the controller runs on."""

    pools: tuple[PoolTick, ...]
    metrics: MinuteMetrics
    clock: Clock
    tick_s: float
    publisher: Publisher | None = None


def wire(settings: Settings, clock: Clock, *, dry_run: bool = False, log: TextIO | None = None) -> Wired:
    """Region and endpoints that the settings leave out are those of the environment, as boto3 finds them.

    `log` is where `publish = "log"` writes; None: there is no log that CloudWatch reads. A dry run publishes nothing.

    Raises Invalid when there is no Region or an endpoint is no URL.
    """
    clients = AwsClients(settings.region)
    shared = _shared(settings, clients)
    store: StateStore = shared or MemoryStore()
    if dry_run:
        store = ShadowStore(store)
    reader = SqsQueueReader(clients.sqs)
    alarms = MinuteAlarms(
        CloudWatchAlarms(clients.cloudwatch),
        [name for pool in settings.pools.values() for name in pool.hold_on_alarms],
    )
    pools = tuple(
        PoolTick(_sources(pool, reader, clients, clock, shared, alarms), store, clock)
        for pool in settings.pools.values()
    )
    wanted = [metric for pool in pools for queue in pool.sources.queues for metric in queue_metrics(queue)]
    metrics = MinuteMetrics(CloudWatchMetrics(clients.cloudwatch, settings.account), wanted, alarms)
    return Wired(pools, metrics, clock, settings.tick_s, None if dry_run else _publisher(settings, clients, log))


def _publisher(settings: Settings, clients: AwsClients, log: TextIO | None) -> Publisher | None:
    if settings.publish == "cloudwatch":
        return MinutePublisher(CloudWatchWriter(clients.cloudwatch, settings.namespace))
    if settings.publish == "log" and log is not None:
        return EmfLines(Lossy(log).write, settings.namespace)
    return None


def shared_store(settings: Settings) -> "DynamoFleetTable | FileStore":
    """The store that other processes see too.

    Raises ConfigError when the settings name none: what an operator changes must outlive the command that changed it.
    """
    store = _shared(settings, AwsClients(settings.region))
    if store is None:
        problem = "pool states are kept in the controller's memory, where no other command can reach them"
        raise ConfigError([Fault("table", None, problem, 'set table = "tidegate" or state_dir = "/var/lib/tidegate"')])
    return store


def _shared(settings: Settings, clients: AwsClients) -> "DynamoFleetTable | FileStore | None":
    if settings.table is not None:
        return DynamoFleetTable(clients.dynamodb(region_in(settings.table)), settings.table)
    if settings.state_dir is None:
        return None
    from tidegate.stores.file import FileStore  # with asyncio: a Lambda has a table, and starts without either

    return FileStore(Path(settings.state_dir))


def _sources(
    pool: PoolSettings,
    reader: SqsQueueReader,
    clients: AwsClients,
    clock: Clock,
    fleet: "DynamoFleetTable | FileStore | None",
    alarms: MinuteAlarms,
) -> PoolSources:
    return PoolSources(
        name=pool.name,
        queues=pool.all_queues,
        settings_at=pool.at,
        counts=reader,
        capacity=_capacity(pool, clients, clock),
        fleet=fleet,
        lease_heartbeat_s=pool.lease_heartbeat_s,
        directives=fleet,
        alarms=partial(alarms.of, pool.hold_on_alarms),
    )


def _capacity(pool: PoolSettings, clients: AwsClients, clock: Clock) -> CapacityTarget:
    if pool.ecs is not None:
        cluster, service = pool.ecs.cluster, pool.ecs.service
        return EcsService(clients.ecs(region_in(cluster, service)), cluster, service, clock.now)
    if pool.asg is not None:
        from tidegate.aws.asg import AutoScalingGroup  # with tenacity, which a function without groups need not load

        return AutoScalingGroup(clients.autoscaling(), pool.asg, clock.now)
    # `load` refuses such a file; this is for settings that were made otherwise.
    raise ConfigError([Fault(f"pools.{pool.name}", None, "has nothing to scale", "give it `ecs` or `asg`")])
