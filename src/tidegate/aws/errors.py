"""AWS's errors as tidegate's: which kind each one is, and what its reader can do about it.

Codes are compared by their last part, because services decorate them: SQS alone says "QueueDoesNotExist" (JSON
protocol), "AWS.SimpleQueueService.NonExistentQueue" (query protocol) and "com.amazonaws.sqs#QueueDoesNotExist".
Only the first line of AWS's message is kept: the lines after it may hold the canonical request, session token included.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.client import responses
from typing import Final

from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

from tidegate.aws.way_out import proxy_in_force
from tidegate.errors import CloudError, Denied, Gone, Invalid, Throttled, Unreachable

__all__ = ["AWS_ERRORS", "calling", "error_code", "from_code", "wrap", "wrapping"]

AWS_ERRORS: Final = (boto.ClientError, boto.BotoCoreError, ResponseParserError)
"""What boto3 and aiobotocore raise for a call: a refusal, a failure to call at all, an answer that is not AWS's."""

_UNREADABLE: Final = (LookupError, AttributeError, TypeError, ValueError, RecursionError)
"""What the reading of an answer raises, botocore's or ours, that is not what AWS answers (`null`, a page of HTML)."""

_NOT_AWS: Final = "check the endpoint URL: whatever answered there does not speak AWS's API"

_DETAIL_LIMIT: Final = 300

_PHRASES: Final = frozenset(responses.values())
"""What HTTP calls its statuses: "Bad Gateway"."""

_CODES: Final[dict[str, type[CloudError]]] = {
    code: kind
    for kind, codes in {
        Throttled: "Throttling ThrottlingException ThrottledException RequestThrottled RequestThrottledException "
        "TooManyRequestsException ProvisionedThroughputExceeded ProvisionedThroughputExceededException "
        "RequestLimitExceeded BandwidthLimitExceeded SlowDown PriorRequestNotComplete EC2ThrottledException "
        "KmsThrottled OverLimit ScalingActivityInProgress ResourceContention TransactionConflictException "
        "TransactionInProgressException ReplicatedWriteConflictException",
        Denied: "AccessDenied AccessDeniedException UnauthorizedOperation AuthFailure AuthorizationError NotAuthorized "
        "UnrecognizedClientException InvalidClientTokenId InvalidAccessKeyId ExpiredToken ExpiredTokenException "
        "RequestExpired SignatureDoesNotMatch InvalidSignatureException IncompleteSignature "
        "IncompleteSignatureException MissingAuthenticationToken MissingAuthenticationTokenException InvalidSecurity "
        "OptInRequired KmsAccessDenied KmsOptInRequired BlockedException",
        Gone: "QueueDoesNotExist NonExistentQueue ResourceNotFound ResourceNotFoundException "
        "ClusterNotFoundException ServiceNotFoundException ServiceNotActiveException TableNotFoundException "
        "ParameterNotFound ParameterVersionNotFound NoSuchEntity NoSuchKey NoSuchBucket",
        Unreachable: "InternalFailure InternalError InternalServerError InternalServiceError InternalServiceFault "
        "ServerException ServiceUnavailable ServiceUnavailableException ServiceFailure RequestTimeout "
        "RequestTimeoutException",
    }.items()
    for code in codes.split()
}

_STATUSES: Final[dict[int, type[CloudError]]] = {401: Denied, 403: Denied, 404: Gone, 408: Unreachable, 429: Throttled}

_KMS_FAULT: Final = "mend the KMS key that the queue is encrypted with (its state, its policy or its use)"
_NEW_CREDENTIALS: Final = "renew the credentials (aws sso login, a new session, or the role of the task or instance)"
_OWN_CREDENTIALS: Final = (
    "give tidegate credentials: set AWS_PROFILE, or the access key variables, or attach a role to the task or instance"
)
_CLOCK: Final = "check the secret key, and that this machine's clock is right"

_CODE_FIXES: Final[dict[str, str]] = {
    "NonExistentQueue": "check the queue's name, Region and account (SQS also says this of a queue it may not show)",
    "QueueDoesNotExist": "check the queue's name, Region and account (SQS also says this of a queue it may not show)",
    "ClusterNotFoundException": "check the cluster's name, Region and account",
    "ServiceNotFoundException": "check the service's name, its cluster, Region and account",
    "ServiceNotActiveException": "the service was deleted: create it again or take its pool out of the settings",
    "ExpiredToken": _NEW_CREDENTIALS,
    "ExpiredTokenException": _NEW_CREDENTIALS,
    "InvalidClientTokenId": _OWN_CREDENTIALS,
    "InvalidAccessKeyId": _OWN_CREDENTIALS,
    "UnrecognizedClientException": _OWN_CREDENTIALS,
    "MissingAuthenticationToken": _OWN_CREDENTIALS,
    "MissingAuthenticationTokenException": _OWN_CREDENTIALS,
    "RequestExpired": _CLOCK,
    "SignatureDoesNotMatch": _CLOCK,
    "InvalidSignatureException": _CLOCK,
    "OverLimit": "120,000 messages are in flight, SQS hands out no more: delete finished ones, shorten what is held",
    "ScalingActivityInProgress": "another scaling activity is under way; the next tick tries again",
    "ResourceContention": "another change of the group is under way; the next tick tries again",
    "KmsAccessDenied": "allow kms:Decrypt on the queue's key to the role that tidegate runs as",
    "KmsDisabled": _KMS_FAULT,
    "KmsInvalidKeyUsage": _KMS_FAULT,
    "KmsInvalidState": _KMS_FAULT,
    "KmsNotFound": _KMS_FAULT,
}

_KMS_QUERY_CODES: Final = {
    "AccessDeniedException": "KmsAccessDenied",
    "DisabledException": "KmsDisabled",
    "InvalidKeyUsageException": "KmsInvalidKeyUsage",
    "InvalidStateException": "KmsInvalidState",
    "NotFoundException": "KmsNotFound",
    "OptInRequired": "KmsOptInRequired",
    "ThrottlingException": "KmsThrottled",
}
"""The query protocol says KMS.NotFoundException where the JSON protocol says KmsNotFound."""

_LOCAL: Final[tuple[tuple[tuple[type[BaseException], ...], type[CloudError], str], ...]] = (
    (
        (boto.SSLError,),
        Unreachable,
        "check the endpoint's certificate (AWS_CA_BUNDLE) and that https is what it speaks",
    ),
    ((boto.ProxyConnectionError,), Unreachable, "check HTTPS_PROXY and NO_PROXY"),
    ((boto.ConnectionError, boto.HTTPClientError, boto.IncompleteReadError), Unreachable, ""),
    ((ResponseParserError,), Unreachable, _NOT_AWS),
    (
        (boto.NoCredentialsError, boto.PartialCredentialsError, boto.ProfileNotFound),
        Denied,
        _OWN_CREDENTIALS,
    ),
    (
        (
            boto.CredentialRetrievalError,
            boto.TokenRetrievalError,
            boto.NoAuthTokenError,
            boto.SSOError,
            boto.LoginError,
            boto.RefreshWithMFAUnsupportedError,
            boto.MetadataRetrievalError,
            boto.UnknownCredentialError,
        ),
        Denied,
        _NEW_CREDENTIALS,
    ),
    ((boto.NoRegionError,), Invalid, "set `region` in the settings, or AWS_REGION"),
    ((boto.InvalidRegionError, boto.UnknownRegionError), Invalid, "correct `region` in the settings, or AWS_REGION"),
)
"""Failures that never reached AWS: the first row that fits decides; the rest of BotoCoreError is Invalid."""


@contextmanager
def calling(operation: str, resource: str) -> Iterator[None]:
    """For one call and the reading of its answer, and nothing else: what they raise becomes a CloudError `from` it.

    An answer that can't be read is Unreachable: a proxy, a sign-in page or another service has answered. So anything
    that is not the call or its answer (what it is called with, what is done with what was read) stays outside: a fault
    of ours there must show as one. For sync code and around an `await` alike. `operation` is written as IAM writes
    actions ("sqs:GetQueueAttributes").
    """
    try:
        with wrapping(operation, resource):
            yield
    except _UNREADABLE as error:
        raise Unreachable(operation, resource, _unreadable(error), _NOT_AWS) from error


@contextmanager
def wrapping(operation: str, resource: str) -> Iterator[None]:
    """As `calling`, for AWS's own errors only: where nothing has been asked yet that could be answered wrong."""
    try:
        yield
    except AWS_ERRORS as error:
        raise wrap(error, operation, resource) from error


def wrap(error: Exception, operation: str, resource: str) -> CloudError:
    """The typed error for what boto3 or aiobotocore raised (one of `AWS_ERRORS`); the caller raises it `from error`."""
    if isinstance(error, boto.ClientError):
        return _from_answer(error, operation, resource)
    for classes, kind, fix in _LOCAL:
        if isinstance(error, classes):
            return kind(operation, resource, _one_line(str(error)), fix or _by_way_of(error))
    return Invalid(operation, resource, _one_line(str(error)))


def _by_way_of(error: Exception) -> str:
    """aiobotocore says that it can't reach the endpoint where it is the proxy that it can't reach."""
    proxy = proxy_in_force(str(getattr(error, "kwargs", {}).get("endpoint_url", "")))
    return f"check the proxy ({proxy}), the endpoint, the network and the Region" if proxy else ""


def _unreadable(error: Exception) -> str:
    """Never the error's own text, which may quote the answer: a message's body is in one."""
    missing = f", no {error.args[0]!r} in it" if isinstance(error, KeyError) and error.args else ""
    return f"the answer can't be read ({type(error).__name__}{missing})"


def error_code(error: Exception) -> str:
    """The bare code of a ClientError ("QueueDoesNotExist"), "" for every other error."""
    if not isinstance(error, boto.ClientError):
        return ""
    raw = str(error.response.get("Error", {}).get("Code", ""))
    code = raw.rpartition("#")[2].rpartition(".")[2]
    return _KMS_QUERY_CODES.get(code, code) if raw.startswith("KMS.") else code


def _from_answer(error: boto.ClientError, operation: str, resource: str) -> CloudError:
    code = error_code(error)
    message = _one_line(str(error.response.get("Error", {}).get("Message", "")))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code.isdigit():
        return _from_page(code, message, status, operation, resource)
    return from_code(code, message, status, operation, resource)


def _from_page(code: str, message: str, status: int, operation: str, resource: str) -> CloudError:
    """For an answer without a code of AWS's, for which botocore puts the HTTP status: a proxy's, whose page it takes
    for the message. A page may quote the request, so that only a status' own phrase is passed on."""
    phrase = message if message in _PHRASES else ""
    kind = _kind(code, status, "")
    detail = f"{code} ({phrase})" if phrase else code
    return kind(operation, resource, detail, _NOT_AWS if kind in (Denied, Gone, Invalid) else "")


def from_code(code: str, message: str, status: int, operation: str, resource: str) -> CloudError:
    """The typed error for a code of AWS's, whoever passed it on; `status` is HTTP's, 0 where there is none."""
    kind = _kind(code, status, message)
    fix = _CODE_FIXES.get(code) or (_allow(operation, resource) if kind is Denied else "")
    return kind(operation, resource, f"{code} ({message})" if message else code, fix)


def _kind(code: str, status: int, message: str) -> type[CloudError]:
    if code == "ValidationError" and "not found" in message.lower():
        return Gone  # Auto Scaling has no not-found code: it says "AutoScalingGroup name not found" in the message
    if code in _CODES:
        return _CODES[code]
    if code.startswith("Kms"):
        return Invalid
    if code.endswith(("ThrottlingException", "Throttled")):
        return Throttled
    return Unreachable if status >= 500 else _STATUSES.get(status, Invalid)


def _allow(operation: str, resource: str) -> str:
    """Names the IAM action; SQS checks its batch calls under the name of the single one.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html
    """
    action = operation.removesuffix("Batch") if operation.startswith("sqs:") else operation
    return f"allow {action} on {resource} to the role that tidegate runs as"


def _one_line(text: str) -> str:
    """The first line that says something: "Parameter validation failed:" alone does not."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = lines[0] if lines else ""
    if first.endswith("failed:") and len(lines) > 1:
        first = f"{first} {lines[1]}"
    return first if len(first) <= _DETAIL_LIMIT else first[: _DETAIL_LIMIT - 1] + "…"
