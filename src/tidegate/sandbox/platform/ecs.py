"""moto's ECS with services that tell what really runs.

moto sets running = desired at each UpdateService and leaves a new service at 0 until the first one. Here both counts,
and the deployments, are what the agent last showed, and no API call overwrites them. A deployment (UpdateService with
`forceNewDeployment` or another task definition) is IN_PROGRESS until its workers are up and the old ones gone:
https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Deployment.html
"""

import copy
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from moto.core.utils import utcnow
from moto.ecs import urls
from moto.ecs.models import Cluster, EC2ContainerServiceBackend, Service

from tidegate.sandbox.platform import Identity, Phase, Wanted, WorkerView

__all__ = ["EcsService", "TruthfulEcs"]


@dataclass(frozen=True, slots=True)
class _Deployment:
    """One revision of a service with the workers that it has; `completed` stays true once it was reached."""

    id: str
    task_definition: str
    created_at: datetime
    running: int = 0
    pending: int = 0
    completed: bool = False


@dataclass(frozen=True, slots=True)
class _Rollout:
    """All deployments of a service that matter, newest (PRIMARY) first. Replaced as a whole, never changed."""

    deployments: tuple[_Deployment, ...] = field(default_factory=tuple)

    def begin(self, task_definition: str, now: datetime) -> "_Rollout":
        return _Rollout((_Deployment(f"ecs-svc/{uuid4().int % 10**19}", task_definition, now), *self.deployments))

    def seen(self, workers: Sequence[WorkerView], desired: int) -> "_Rollout":
        counted = [
            replace(
                deployment,
                running=_count(workers, deployment.id, Phase.RUNNING),
                pending=_count(workers, deployment.id, Phase.PENDING),
            )
            for deployment in self.deployments
        ]
        primary, *older = counted
        older = [deployment for deployment in older if deployment.running or deployment.pending]
        steady = primary.running >= desired and not older
        return _Rollout((replace(primary, completed=primary.completed or steady), *older))


def _count(workers: Sequence[WorkerView], revision: str, phase: Phase) -> int:
    return sum(worker.revision == revision and worker.phase is phase for worker in workers)


class TruthfulService(Service):
    """A service whose counts are the agent's. moto's writes to them are dropped."""

    rollout: _Rollout

    @property
    def running_count(self) -> int:
        return sum(deployment.running for deployment in self.rollout.deployments)

    @running_count.setter
    def running_count(self, value: int) -> None:
        pass

    @property
    def pending_count(self) -> int:
        return sum(deployment.pending for deployment in self.rollout.deployments)

    @pending_count.setter
    def pending_count(self, value: int) -> None:
        pass

    @property
    def deployments(self) -> list[dict[str, Any]]:
        return [self._as_aws(deployment, place == 0) for place, deployment in enumerate(self.rollout.deployments)]

    @deployments.setter
    def deployments(self, value: list[dict[str, Any]]) -> None:
        pass

    def _as_aws(self, deployment: _Deployment, primary: bool) -> dict[str, Any]:
        state = "COMPLETED" if deployment.completed else "IN_PROGRESS"
        return {
            "id": deployment.id,
            "status": "PRIMARY" if primary else "ACTIVE",
            "taskDefinition": deployment.task_definition,
            # What an ACTIVE deployment's desiredCount falls through while it is replaced is not documented.
            "desiredCount": self.desired_count if primary else deployment.running,
            "runningCount": deployment.running,
            "pendingCount": deployment.pending,
            "failedTasks": 0,
            "createdAt": deployment.created_at,
            "updatedAt": deployment.created_at,
            "launchType": self.launch_type,
            "rolloutState": state,
            "rolloutStateReason": f"ECS deployment {deployment.id} {state.lower().replace('_', ' ')}.",
        }


class TruthfulCluster(Cluster):
    """A cluster whose task counts are the sums of its services', which moto's own bookkeeping would miss."""

    services: Callable[[], list[Service]]

    @property
    def running_tasks_count(self) -> int:
        return sum(service.running_count for service in self._own())

    @running_tasks_count.setter
    def running_tasks_count(self, value: int) -> None:
        pass

    @property
    def pending_tasks_count(self) -> int:
        return sum(service.pending_count for service in self._own())

    @pending_tasks_count.setter
    def pending_tasks_count(self, value: int) -> None:
        pass

    def _own(self) -> list[Service]:
        return [service for service in self.services() if service.cluster_name == self.name]


class TruthfulEcs(EC2ContainerServiceBackend):
    """moto's ECS backend: each call that touches services is one step under a lock, seen whole or not at all."""

    def __init__(self, region_name: str, account_id: str) -> None:
        self.lock = threading.RLock()
        super().__init__(region_name, account_id)

    @property
    def _url_module(self) -> Any:
        # moto looks for the table of URLs beside the class's own module.
        return urls

    def create_cluster(self, *args: Any, **kwargs: Any) -> Cluster:
        with self.lock:
            cluster = super().create_cluster(*args, **kwargs)
            cluster.__class__ = TruthfulCluster  # type: ignore[type-abstract]  # moto's models leave CloudFormation parts out
            cluster.services = lambda: list(self.services.values())  # type: ignore[attr-defined]  # class just set
            return cluster

    def create_service(self, *args: Any, **kwargs: Any) -> Service:
        with self.lock:
            service = super().create_service(*args, **kwargs)
            rollout = _Rollout().begin(service.task_definition or "", utcnow())
            service.rollout = rollout.seen((), service.desired_count)  # type: ignore[attr-defined]  # set just below
            service.__class__ = TruthfulService  # type: ignore[type-abstract]  # moto's models leave CloudFormation parts out
            return service

    def update_service(self, service_properties: dict[str, Any]) -> Service:
        with self.lock:
            redeploy = bool(service_properties.get("force_new_deployment"))
            definition = service_properties.get("task_definition")
            if definition:
                # AWS answers with the ARN; moto would repeat the family name it was given.
                service_properties["task_definition"] = self.describe_task_definition(definition).arn
            service = super().update_service(service_properties)
            if isinstance(service, TruthfulService) and (redeploy or definition):
                service.rollout = service.rollout.begin(service.task_definition or "", utcnow())
            return service

    def describe_services(
        self, cluster_str: str, service_names_or_arns: list[str]
    ) -> tuple[list[Service], list[dict[str, str]]]:
        # Copies: the answer is rendered field by field after this call, while the agent goes on.
        with self.lock:
            services, failures = super().describe_services(cluster_str, service_names_or_arns)
            return [copy.copy(service) for service in services], failures


class EcsService:
    """One service of `TruthfulEcs` as a `Platform`."""

    def __init__(self, backend: TruthfulEcs, cluster: str, service: str) -> None:
        self._backend, self._cluster, self._service = backend, cluster, service

    @property
    def name(self) -> str:
        return f"ecs:{self._cluster}/{self._service}"

    def wanted(self) -> Wanted:
        with self._backend.lock:
            service = self._find()
            count = service.desired_count if service.status == "ACTIVE" else 0
            return Wanted(count=count, revision=service.rollout.deployments[0].id)

    def admit(self) -> Identity:
        task_id = uuid4().hex
        account, region = self._backend.account_id, self._backend.region_name
        arn = f"arn:aws:ecs:{region}:{account}:task/{self._cluster}/{task_id}"
        return Identity(worker_id=task_id, instance_id=f"i-{task_id[:17]}", task_arn=arn)

    def show(self, workers: Sequence[WorkerView]) -> None:
        with self._backend.lock:
            service = self._find()
            service.rollout = service.rollout.seen(workers, service.desired_count)

    def deploy(self) -> None:
        """Replace every worker by a new one, as `UpdateService(forceNewDeployment=True)` does."""
        self._backend.update_service({"cluster": self._cluster, "service": self._service, "force_new_deployment": True})

    def _find(self) -> TruthfulService:
        service = self._backend.services[f"{self._cluster}:{self._service}"]
        if not isinstance(service, TruthfulService):
            raise TypeError(f"{self.name} was not created by the sandbox's ECS")
        return service
