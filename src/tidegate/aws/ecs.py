"""The desired count of an ECS service."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tidegate.aws.desired import must_write
from tidegate.aws.errors import calling
from tidegate.core.observation import Capacity
from tidegate.errors import Gone, Invalid

if TYPE_CHECKING:
    from types_boto3_ecs import ECSClient
    from types_boto3_ecs.type_defs import DeploymentTypeDef, ServiceTypeDef, TaskSetTypeDef

__all__ = ["EcsService"]

_DESCRIBE = "ecs:DescribeServices"


class EcsService:
    """Implements `ports.CapacityTarget`. Cluster and service are names or ARNs; `now` gives epoch seconds.

    IAM: ecs:DescribeServices, ecs:UpdateService. A change of the desired count alone starts no deployment
    (https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_UpdateService.html).
    """

    def __init__(self, client: "ECSClient", cluster: str, service: str, now: Callable[[], float]) -> None:
        self._client = client
        self._cluster = cluster
        self._service = service
        self._now = now

    @property
    def name(self) -> str:
        """ "ecs:cluster/service"."""
        return f"ecs:{_last_part(self._cluster)}/{_last_part(self._service)}"

    def read(self) -> Capacity:
        """Raises Gone when cluster or service does not exist or is being deleted; Denied, Throttled, Unreachable."""
        with calling(_DESCRIBE, self.name):
            service = self._describe()
            return Capacity(
                target=self.name,
                taken_at_s=self._now(),
                desired=service["desiredCount"],
                running=service["runningCount"],
                pending=service["pendingCount"],
                deploying=_is_deploying(service),
                outdated=_outdated(service),
            )

    def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
        """As `ports.CapacityTarget.set_desired`. A service can't be told names; it spares protected tasks.

        https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection.html
        """
        if not must_write(desired, seen, self.read()):
            return False
        with calling("ecs:UpdateService", self.name):
            self._client.update_service(cluster=self._cluster, service=self._service, desiredCount=desired)
        return True

    def _describe(self) -> "ServiceTypeDef":
        answer = self._client.describe_services(cluster=self._cluster, services=[self._service])
        if not answer["services"]:
            reasons = [failure.get("reason", "") for failure in answer["failures"]]
            raise Gone(_DESCRIBE, self.name, ", ".join(reasons) or "MISSING")
        service = answer["services"][0]
        status = service["status"]
        if status != "ACTIVE":
            fix = "create the service again or take its pool out of the settings"
            raise Gone(_DESCRIBE, self.name, f"the service is {status}", fix)
        if service.get("schedulingStrategy") == "DAEMON":
            fix = "give the pool a service with scheduling strategy REPLICA"
            raise Invalid(_DESCRIBE, self.name, "a DAEMON service has no desired count to set", fix)
        return service


def _is_deploying(service: "ServiceTypeDef") -> bool:
    """Whether workers of an older revision still run beside the new one.

    `rolloutState` is no help: it is IN_PROGRESS too while a new service starts its first tasks, and scaling is right
    then. An older deployment stays ACTIVE until its last task is replaced
    (https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Deployment.html); CodeDeploy's and external
    deployments show as task sets instead, with the same words.
    """
    sides = [(one.get("status"), one.get("runningCount", 0) + one.get("pendingCount", 0)) for one in _sides(service)]
    return any(status == "ACTIVE" and tasks > 0 for status, tasks in sides)


def _outdated(service: "ServiceTypeDef") -> int:
    """Running tasks of deployments that are being replaced."""
    return sum(one.get("runningCount", 0) for one in _sides(service) if one.get("status") == "ACTIVE")


def _sides(service: "ServiceTypeDef") -> "list[DeploymentTypeDef | TaskSetTypeDef]":
    return [*service.get("deployments", []), *service.get("taskSets", [])]


def _last_part(name_or_arn: str) -> str:
    return name_or_arn.rpartition("/")[2]
