"""boto3 clients with timeouts and retries of tidegate's own.

With botocore's defaults an endpoint that is down is said after 5 s (SQS) to 26 s (DynamoDB), and one that accepts and
never answers after minutes. A controller that ticks every ten seconds needs to know within `ANSWER_LIMIT_S`.
"""

import threading
from typing import TYPE_CHECKING, Any, Final

import botocore.session
from botocore.config import Config

from tidegate.aws.connecting import believing_json_only, call_settings, making_client
from tidegate.aws.region import default_region
from tidegate.aws.way_out import check_bundle_is_named, check_way_out

if TYPE_CHECKING:
    import boto3
    from types_boto3_autoscaling import AutoScalingClient
    from types_boto3_cloudwatch import CloudWatchClient
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_ecs import ECSClient
    from types_boto3_sqs import SQSClient

__all__ = ["ANSWER_LIMIT_S", "CONFIG", "METRICS_CONFIG", "AwsClients", "longest_call_s"]

ANSWER_LIMIT_S: Final = 5.0
"""An endpoint that is down, or accepts and never answers, is Unreachable within this many seconds."""

_LONGEST_BACKOFF_S: Final = 1.0
"""Standard mode waits up to 1 s before its first retry (botocore.retries.standard.ExponentialBackoff)."""

_CONNECTIONS: Final = 200
"""One for each of the controller's threads (`controller.MOST_THREADS`), opened only as they are needed: with fewer,
those beyond would be thrown away after each call, with a warning."""


_CONNECT_S: Final = 1.0

CONFIG: Final = Config(**call_settings(_CONNECT_S, read_s=1.8, attempts=2, connections=_CONNECTIONS))
"""Small calls, each answered in a fraction of a second: two short attempts are better than a long one."""

METRICS_CONFIG: Final = Config(**call_settings(_CONNECT_S, read_s=4.5, attempts=1, connections=1))
"""GetMetricData of 500 series may take seconds; it is asked once a minute, so the next minute is its retry."""


def longest_call_s(config: Config) -> float:
    """The most seconds that a call takes at an endpoint that accepts and never answers.

    >>> round(longest_call_s(CONFIG), 1), round(longest_call_s(METRICS_CONFIG), 1)
    (4.6, 4.5)
    """
    settings: Any = config  # botocore sets these attributes dynamically
    attempts = settings.retries["total_max_attempts"]
    return float(settings.read_timeout * attempts + _LONGEST_BACKOFF_S * (attempts - 1))


class AwsClients:
    """Makes each client once per service and Region, and hands the same one to every thread.

    Region and endpoints left out come from AWS_REGION and where boto3 finds them: AWS_DEFAULT_REGION,
    AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_SQS, the profile. Every method raises Invalid when there is no Region or the
    endpoint is no URL, and ConfigError when the way there is none (`way_out`).
    """

    def __init__(
        self, region: str | None = None, endpoint_url: str | None = None, session: "boto3.Session | None" = None
    ) -> None:
        self._region = region or default_region()
        self._endpoint_url = endpoint_url
        self._make_client: Any = None if session is None else session.client
        self._session: Any = None
        self._clients: dict[tuple[str, str | None], Any] = {}
        self._lock = threading.Lock()

    def sqs(self, region: str | None = None) -> "SQSClient":
        """SQS of `region`, or of the default one: a queue is asked in its own Region."""
        client: SQSClient = self._client("sqs", region)
        return client

    def cloudwatch(self, region: str | None = None) -> "CloudWatchClient":
        """CloudWatch of `region`, or of the default one: a queue's metrics are in its own Region."""
        client: CloudWatchClient = self._client("cloudwatch", region, METRICS_CONFIG)
        return client

    def ecs(self, region: str | None = None) -> "ECSClient":
        """ECS of `region`, or of the default one: a service given by ARN is asked in its own Region."""
        client: ECSClient = self._client("ecs", region)
        return client

    def autoscaling(self) -> "AutoScalingClient":
        """EC2 Auto Scaling of the default Region: groups are given by name only."""
        client: AutoScalingClient = self._client("autoscaling")
        return client

    def dynamodb(self, region: str | None = None) -> "DynamoDBClient":
        """DynamoDB of `region`, or of the default one: a table given by ARN is asked in its own Region."""
        client: DynamoDBClient = self._client("dynamodb", region)
        return client

    def ssm(self, region: str | None = None) -> Any:
        """Systems Manager of `region`, or of the default one. `Any`: its one call is worth no stubs, nor is S3's."""
        return self._client("ssm", region)

    def s3(self) -> Any:
        """S3 of the default Region, which is led on to a bucket's own."""
        return self._client("s3")

    def _client(self, service: str, region: str | None = None, config: Config = CONFIG) -> Any:
        key = (service, region or self._region)
        with self._lock:  # a boto3 session is not safe to use from two threads, its clients are
            if key not in self._clients:
                self._clients[key] = self._make(service, key[1], config)
            return self._clients[key]

    def _make(self, service: str, region: str | None, config: Config) -> Any:
        with making_client(service, region):
            # What boto3.Session.client calls too. boto3 itself is left out for what it brings along: its transfers of
            # S3 alone are a tenth of a cold start.
            if self._make_client is None:
                self._session = botocore.session.get_session()
                self._make_client = self._session.create_client
            check_bundle_is_named(self._session)
            make: Any = self._make_client
            client = make(service, region_name=region, endpoint_url=self._endpoint_url, config=config)
            check_way_out(client.meta.endpoint_url, self._session)
            return believing_json_only(client)
