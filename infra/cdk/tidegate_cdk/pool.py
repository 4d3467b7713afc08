"""One pool: its queue (or one that exists), its alarms and dashboard, and what its workers may do."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Duration, Stack, Token
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from tidegate_cdk import checks
from tidegate_cdk.alarms import PoolAlarms
from tidegate_cdk.autoscaler import Autoscaler
from tidegate_cdk.nag import ANY_GROUP_ID, acknowledge, acknowledge_wildcards
from tidegate_cdk.queue import QueueTerms, make_queues
from tidegate_cdk.sources import watched
from tidegate_cdk.terms import PoolTerms, as_text
from tidegate_cdk.workers import group_arn, tasks_arn, worker_statements

_ANY_TASK = "Tasks of the pool's cluster: their ids are not known beforehand, and an ARN doesn't tell the service."
_NO_SECRETS = "The variables are names of queue, pool and table; none is a secret."


class Pool(Construct):
    """Workers that `autoscaler` sets the number of, and their queue.

    Exactly one of `service` and `group` is what it scales; leave their desired count unset. Without `queue` one is
    made, with a dead-letter queue, from `queue_terms`. `encryption_key` is the key of a queue that exists.
    `more_settings` are any others of docs/configuration.md, such as `{"policy": "littles-law"}`.

    Raises ValueError for settings that the controller would refuse, as far as they are known at synthesis.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        autoscaler: Autoscaler,
        name: str,
        max_workers: int,
        target_wait: Duration | None = None,
        min_workers: int = 1,
        slots_per_worker: int = 1,
        service: ecs.IBaseService | None = None,
        group: autoscaling.IAutoScalingGroup | None = None,
        queue: sqs.IQueue | None = None,
        dead_letter_queue: sqs.IQueue | None = None,
        encryption_key: kms.IKey | None = None,
        queue_terms: QueueTerms | None = None,
        more_settings: Mapping[str, Any] | None = None,
        late_share_objective: float = 0.01,
        scale_events_per_minute: float = 1,
        alarm_topics: Sequence[sns.ITopic] = (),
        left_out: Sequence[str] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        self.name = checks.pool_name(name)
        self._autoscaler = autoscaler
        self._service, self._group = service, group
        self._key = encryption_key or (queue_terms.key if queue_terms else None)
        self._slots = slots_per_worker
        self.queue, self.dead_letter_queue = self._queues(queue, dead_letter_queue, queue_terms)
        autoscaler.add(
            self._terms(
                self._sizes(min_workers, max_workers, slots_per_worker)
                | ({"target_wait": as_text(target_wait)} if target_wait else {})
                | self._target()
                | dict(more_settings or {})
            )
        )
        self.worker_policy = self._make_worker_policy()
        self.alarms = PoolAlarms(
            self,
            "Alarms",
            pool=name,
            namespace=autoscaler.namespace,
            dead_letter_queue_name=self._dead_letter_name(queue is None, queue_terms),
            late_share_objective=late_share_objective,
            scale_events_per_minute=scale_events_per_minute,
            topics=alarm_topics,
            left_out=left_out,
        )

    def grant_work(self, role: iam.IRole) -> None:
        """Let the workers' task or instance role receive, settle and report. Roles that are managed elsewhere need
        `worker_policy`.
        """
        self.worker_policy.attach_to_role(role)

    def equip(self, task: ecs.TaskDefinition) -> None:
        """`grant_work` to the task's role, and `worker_environment` for its default container.

        Raises ValueError when the task has no container yet.
        """
        container = task.default_container
        if container is None:
            raise ValueError(f"pool {self.name}: the task definition has no container; add it before equip()")
        for variable, value in self.worker_environment.items():
            container.add_environment(variable, value)
        acknowledge(task, "AwsSolutions-ECS2", _NO_SECRETS)
        self.grant_work(task.task_role)

    @property
    def worker_environment(self) -> dict[str, str]:
        """Variables of the workers' container or unit."""
        return {
            "TIDEGATE_WORKER_QUEUE": self.queue.queue_arn,
            "TIDEGATE_WORKER_POOL": self.name,
            "TIDEGATE_WORKER_SLOTS": _number(self._slots),
            "TIDEGATE_WORKER_TABLE": self._autoscaler.table_arn,
        }

    def metric(
        self, metric_name: str, *, statistic: str = "Average", period: Duration | None = None
    ) -> cloudwatch.Metric:
        """One of those that the controller publishes (infra/observability). Raises ValueError for another."""
        checks.only("metric_name", [metric_name], watched()["published"])
        return cloudwatch.Metric(
            namespace=self._autoscaler.namespace,
            metric_name=metric_name,
            dimensions_map={"Pool": self.name},
            statistic=statistic,
            period=period or Duration.minutes(1),
        )

    def metric_oldest_over_target(self) -> cloudwatch.Metric:
        """How long the oldest waiting message has waited, divided by the target wait: above 1 is late."""
        return self.metric("OldestOverTarget", statistic="Maximum")

    def metric_waiting(self) -> cloudwatch.Metric:
        """Messages that are visible and wait."""
        return self.metric("Waiting")

    def metric_desired_workers(self) -> cloudwatch.Metric:
        """The desired count that was decided."""
        return self.metric("DesiredWorkers", statistic="Maximum")

    def _queues(
        self, queue: sqs.IQueue | None, dead_letters: sqs.IQueue | None, terms: QueueTerms | None
    ) -> tuple[sqs.IQueue, sqs.IQueue | None]:
        if queue is not None:
            if terms is not None:
                raise ValueError(f"pool {self.name}: queue_terms are for a queue that is made here")
            return queue, dead_letters
        if dead_letters is not None:
            raise ValueError(f"pool {self.name}: dead_letter_queue goes with queue")
        return make_queues(self, self.name, terms or QueueTerms())

    def _dead_letter_name(self, made: bool, terms: QueueTerms | None) -> str | None:
        """Written out where it is known, so that alarms can be read in the template."""
        if made:
            return f"{self.name.replace('.', '-')}-dead{'.fifo' if terms and terms.fifo else ''}"
        if self.dead_letter_queue is None or _is_elsewhere(self, self.dead_letter_queue):
            return None
        return self.dead_letter_queue.queue_name

    def _terms(self, settings: dict[str, Any]) -> PoolTerms:
        if "target_wait" not in settings and "finish_by" not in settings:
            raise ValueError(f"pool {self.name}: set target_wait, or finish_by in more_settings")
        return PoolTerms(
            name=self.name,
            settings={"queue": self.queue.queue_arn, **settings},
            queue_arn=self.queue.queue_arn,
            service_arn=self._service.service_arn if self._service else None,
            group_arn=group_arn(self, self._group) if self._group else None,
        )

    def _sizes(self, least: int, most: int, slots: int) -> dict[str, Any]:
        checks.between("min_workers", least, 0)
        checks.between("max_workers", most, 1)
        checks.between("slots_per_worker", slots, 1)
        checks.not_more("min_workers", least, "max_workers", most)
        return {"min_workers": least, "max_workers": most, "slots_per_worker": slots}

    def _target(self) -> dict[str, Any]:
        target: dict[str, Any] = {}
        if self._service:
            target["ecs"] = {"cluster": self._service.cluster.cluster_arn, "service": self._service.service_arn}
        if self._group:
            target["asg"] = self._group.auto_scaling_group_name
        return target

    def _make_worker_policy(self) -> iam.ManagedPolicy:
        dead_letters = [self.dead_letter_queue.queue_arn] if self.dead_letter_queue else []
        table = [self._autoscaler.table_arn]
        tasks = [tasks_arn(self, self._service)] if self._service else []
        resources = {
            "WorkOnTheQueue": [self.queue.queue_arn],
            "FindTheQueues": [self.queue.queue_arn, *dead_letters],
            "PutDeadLetters": dead_letters,
            "BeSparedInScaleIn": tasks,
            "BeSparedAndWaitedForInTheGroup": [group_arn(self, self._group)] if self._group else [],
            "ReportToTheFleet": table,
            "HearTheController": table,
            "NoteWhatBecomesOfMessages": table,
            "HoldPermits": table,
            "ReadAndMoveEncryptedMessages": [self._key.key_arn] if self._key else [],
        }
        policy = iam.ManagedPolicy(
            self,
            "WorkerPolicy",
            description=f"What a worker of the pool {self.name} does: receive, settle, report.",
            statements=worker_statements(self.name, self.queue.env.region, resources),
        )
        acknowledge_wildcards(policy, tasks, _ANY_TASK)
        acknowledge_wildcards(policy, resources["BeSparedAndWaitedForInTheGroup"], ANY_GROUP_ID)
        return policy


def _is_elsewhere(scope: Construct, queue: sqs.IQueue) -> bool:
    """Whether it is surely of another account or Region, whose metrics alarms and dashboard here don't see."""
    here, there = Stack.of(scope), queue.env
    pairs = ((here.account, there.account), (here.region, there.region))
    known = [pair for pair in pairs if not any(map(Token.is_unresolved, pair))]
    return any(mine != theirs for mine, theirs in known)


def _number(value: int) -> str:
    return Token.as_string(value) if Token.is_unresolved(value) else str(value)
