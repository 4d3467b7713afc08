"""A pool's queue with its dead-letter queue, where none exists yet."""

from dataclasses import dataclass

from aws_cdk import Duration, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from tidegate_cdk import checks

_DEAD_LETTERS_FOR = Duration.days(14)


@dataclass(frozen=True)
class QueueTerms:
    """`visibility_timeout` is the lease of a received message (the SDK extends it), `retention` how long the queue
    keeps one, `max_receive_count` the receives after which SQS moves it to the dead-letter queue.
    """

    fifo: bool = False
    visibility_timeout: Duration | None = None
    retention: Duration | None = None
    max_receive_count: int = 5
    key: kms.IKey | None = None


def make_queues(scope: Construct, pool: str, terms: QueueTerms) -> tuple[sqs.Queue, sqs.Queue]:
    """The queue and its dead-letter queue, both encrypted, both refusing what does not come over TLS."""
    checks.between("max_receive_count", terms.max_receive_count, 1, 1000)
    called, suffix = pool.replace(".", "-"), ".fifo" if terms.fifo else ""
    name, dead_name = f"{called}{suffix}", f"{called}-dead{suffix}"
    dead_letters = sqs.Queue(
        scope,
        "DeadLetters",
        queue_name=dead_name,
        fifo=terms.fifo or None,
        retention_period=_DEAD_LETTERS_FOR,
        encryption=_encryption(terms),
        encryption_master_key=terms.key,
        enforce_ssl=True,
        redrive_allow_policy=_only_from(scope, name),
    )
    queue = sqs.Queue(
        scope,
        "Queue",
        queue_name=name,
        fifo=terms.fifo or None,
        visibility_timeout=terms.visibility_timeout or Duration.seconds(60),
        retention_period=terms.retention or Duration.days(4),
        receive_message_wait_time=Duration.seconds(20),
        encryption=_encryption(terms),
        encryption_master_key=terms.key,
        enforce_ssl=True,
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead_letters, max_receive_count=terms.max_receive_count),
    )
    return queue, dead_letters


def _encryption(terms: QueueTerms) -> sqs.QueueEncryption:
    return sqs.QueueEncryption.KMS if terms.key else sqs.QueueEncryption.SQS_MANAGED


def _only_from(scope: Construct, name: str) -> sqs.RedriveAllowPolicy:
    """No other queue may use the dead-letter queue. By its name: the queue itself refers to the dead-letter queue."""
    source = sqs.Queue.from_queue_arn(scope, "Source", Stack.of(scope).format_arn(service="sqs", resource=name))
    return sqs.RedriveAllowPolicy(redrive_permission=sqs.RedrivePermission.BY_QUEUE, source_queues=[source])
