"""Clients of a stand-in for AWS at a known address, and what the sandbox asks of it through the real API."""

import os
from collections.abc import Sequence

import boto3
import botocore.session
from botocore.config import Config

from tidegate.aws.clients import AwsClients
from tidegate.aws.errors import calling
from tidegate.errors import Throttled

__all__ = ["QueueSender", "create_queues", "stand_in_clients"]

_BATCH = 10
"""The most entries of a SendMessageBatch.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""


def stand_in_clients(endpoint_url: str, region: str) -> AwsClients:
    """Clients with made-up keys and one endpoint for all services, whatever profile, variables and proxy are set here.

    Credentials of a real account are neither read nor sent.
    """
    keys = boto3.Session(
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",  # noqa: S106
        region_name=region,
        botocore_session=_sealed_session(),
    )
    return AwsClients(region=region, endpoint_url=endpoint_url, session=keys)


def _sealed_session() -> botocore.session.Session:
    """Nothing but botocore's own defaults: no variable, no file, no proxy."""
    known = botocore.session.Session.SESSION_VARIABLES
    sealed = {name: (None, None, default, convert) for name, (_, _, default, convert) in known.items()}
    sealed |= dict.fromkeys(("config_file", "credentials_file"), (None, None, os.devnull, None))
    session = botocore.session.Session(session_vars=sealed)
    session.set_default_client_config(Config(proxies={}))
    return session


def create_queues(clients: AwsClients, name: str, visibility_s: int, max_receives: int) -> str:
    """A queue with a dead-letter queue `NAME-dead` behind it; its URL. Raises the CloudError tree."""
    sqs = clients.sqs()
    with calling("sqs:CreateQueue", f"queue {name}"):
        dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        redrive = f'{{"deadLetterTargetArn": "{arn}", "maxReceiveCount": {max_receives}}}'
        return sqs.create_queue(
            QueueName=name, Attributes={"VisibilityTimeout": str(visibility_s), "RedrivePolicy": redrive}
        )["QueueUrl"]


class QueueSender:
    """Sends bodies to one queue."""

    def __init__(self, clients: AwsClients, queue_url: str) -> None:
        self._sqs = clients.sqs()
        self._url = queue_url

    def send(self, bodies: Sequence[str]) -> None:
        """Send them all, ten a call. Raises the CloudError tree, Throttled too when single entries were refused."""
        for start in range(0, len(bodies), _BATCH):
            batch = bodies[start : start + _BATCH]
            with calling("sqs:SendMessageBatch", self._url):
                answer = self._sqs.send_message_batch(
                    QueueUrl=self._url,
                    Entries=[{"Id": str(index), "MessageBody": body} for index, body in enumerate(batch)],
                )
            refused = answer.get("Failed", [])
            if refused:
                detail = f"{len(refused)} of {len(batch)} entries refused ({refused[0]['Code']})"
                raise Throttled("sqs:SendMessageBatch", self._url, detail)
