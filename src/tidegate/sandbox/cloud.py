"""The sandbox's AWS API server: moto in this process for ECS, Auto Scaling, CloudWatch and DynamoDB (SQS is our own).

moto keeps its state in module globals, so there is one cloud per process at a time.
"""

import logging
import os
import threading
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from moto.autoscaling.models import autoscaling_backends
from moto.cloudwatch.models import CloudWatchBackend, cloudwatch_backends
from moto.core.base_backend import BackendDict
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.ecs.models import ecs_backends
from moto.server import ThreadedMotoServer

from tidegate.errors import TidegateError
from tidegate.sandbox.platform.asg import AutoScalingGroup, TruthfulAutoScaling
from tidegate.sandbox.platform.ecs import EcsService, TruthfulEcs
from tidegate.sandbox.startable import Startable
from tidegate.sandbox.tables import SerialDynamoDB

__all__ = ["Cloud"]

_REQUEST_LOG = logging.getLogger("werkzeug")


class Cloud(Startable):
    """Start it, or use it as a context manager; everything in it is gone after `stop()`.

    Services and groups may be made with `create_service` and `create_group`, or by any AWS client through `url`.
    """

    _in_use: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, region: str = "eu-west-1") -> None:
        self.region = region
        self._server: ThreadedMotoServer | None = None
        self._log_level = logging.NOTSET
        self._plain = ecs_backends.backend, autoscaling_backends.backend, dynamodb_backends.backend

    def start(self) -> Self:
        """Raises TidegateError when this process has a cloud already."""
        if not self._in_use.acquire(blocking=False):
            raise TidegateError("this process has a sandbox cloud already; stop that one first")
        self._plain = ecs_backends.backend, autoscaling_backends.backend, dynamodb_backends.backend
        ecs_backends.backend, autoscaling_backends.backend = TruthfulEcs, TruthfulAutoScaling
        dynamodb_backends.backend = SerialDynamoDB
        self.reset()
        # Otherwise one line per request, and a traceback for each 500 that a client then retries.
        self._log_level = _REQUEST_LOG.level
        _REQUEST_LOG.setLevel(logging.CRITICAL)
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        return self

    def stop(self) -> None:
        """Safe to call twice."""
        if self._server is None:
            return
        self._server.stop()
        self._server = None
        _REQUEST_LOG.setLevel(self._log_level)
        self.reset()
        ecs_backends.backend, autoscaling_backends.backend, dynamodb_backends.backend = self._plain
        self._in_use.release()

    def reset(self) -> None:
        """Forget everything that was created. Platforms made earlier are void."""
        BackendDict.reset()

    @property
    def url(self) -> str:
        """The endpoint of every AWS API but SQS."""
        if self._server is None:
            raise TidegateError("the sandbox cloud is not started; call start() first")
        host, port = self._server.get_host_and_port()
        return f"http://{host}:{port}"

    def environment(self, sqs_url: str) -> dict[str, str]:
        """What a process needs so that its AWS clients find the sandbox, and nothing but the sandbox."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ENDPOINT_URL_SQS": sqs_url,
            "AWS_ACCESS_KEY_ID": "sandbox",
            "AWS_SECRET_ACCESS_KEY": "sandbox",
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            # Settings and keys of real accounts stay out of reach.
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def create_service(self, cluster: str, service: str, desired: int) -> EcsService:
        """An ECS service with its cluster (if new) and a task definition of one container."""
        backend = self._ecs()
        if cluster not in backend.clusters:
            backend.create_cluster(cluster)
        container = {"name": "worker", "image": "worker", "memory": 512, "essential": True}
        definition = backend.register_task_definition(service, [container])
        backend.create_service(cluster, service, desired, definition.arn, launch_type="FARGATE")
        return self.service(cluster, service)

    def service(self, cluster: str, service: str) -> EcsService:
        """A service that exists, whoever created it."""
        return EcsService(self._ecs(), cluster, service)

    def create_group(self, name: str, minimum: int, maximum: int, desired: int) -> AutoScalingGroup:
        """An Auto Scaling group with a launch configuration, in one zone."""
        backend = self._autoscaling()
        _create_launch_configuration(backend, name)
        backend.create_auto_scaling_group(
            name,
            availability_zones=[f"{self.region}a"],
            desired_capacity=desired,
            max_size=maximum,
            min_size=minimum,
            launch_config_name=name,
            launch_template={},
            vpc_zone_identifier=None,
            default_cooldown=None,
            health_check_period=None,
            health_check_type=None,
            load_balancers=[],
            target_group_arns=[],
            placement_group=None,
            termination_policies=[],
            tags=[],
        )
        return self.group(name)

    def group(self, name: str) -> AutoScalingGroup:
        """A group that exists, whoever created it."""
        return AutoScalingGroup(self._autoscaling(), name)

    def put_metric_data(self, namespace: str, data: list[Mapping[str, Any]]) -> None:
        """CloudWatch's PutMetricData without the request, so that AWS/SQS (reserved on AWS) can be written."""
        backend: CloudWatchBackend = cloudwatch_backends[DEFAULT_ACCOUNT_ID][self.region]
        backend.put_metric_data(namespace, [dict(datum) for datum in data])

    def _ecs(self) -> TruthfulEcs:
        backend = ecs_backends[DEFAULT_ACCOUNT_ID][self.region]
        if not isinstance(backend, TruthfulEcs):
            raise TidegateError("the sandbox cloud is not started; call start() first")
        return backend

    def _autoscaling(self) -> TruthfulAutoScaling:
        backend = autoscaling_backends[DEFAULT_ACCOUNT_ID][self.region]
        if not isinstance(backend, TruthfulAutoScaling):
            raise TidegateError("the sandbox cloud is not started; call start() first")
        return backend


def _create_launch_configuration(backend: TruthfulAutoScaling, name: str) -> None:
    """The least that moto takes: nothing is ever launched from it."""
    backend.create_launch_configuration(
        name=name,
        image_id="ami-sandbox",
        key_name=None,
        kernel_id="",
        ramdisk_id="",
        security_groups=[],
        user_data=None,
        instance_type="m5.large",
        instance_monitoring=False,
        instance_profile_name=None,
        spot_price=None,
        ebs_optimized=False,
        associate_public_ip_address=False,
        block_device_mappings=[],
        metadata_options=None,
        classic_link_vpc_id=None,
        classic_link_vpc_security_groups=None,
    )
