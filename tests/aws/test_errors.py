"""Which kind each AWS error is, and that its line helps."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from botocore import exceptions as boto
from botocore.parsers import ResponseParserError

from tidegate.aws.errors import calling, error_code, wrap, wrapping
from tidegate.errors import CloudError, Denied, Gone, Invalid, Throttled, Unreachable

Wraps = Callable[[str, str], AbstractContextManager[None]]

OPERATION, RESOURCE = "sqs:GetQueueAttributes", "mail"


def refusal(code: str, status: int = 400, message: str = "no") -> boto.ClientError:
    return boto.ClientError(
        {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]  # only what is read
        "GetQueueAttributes",
    )


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("QueueDoesNotExist", 400, Gone),
        ("AWS.SimpleQueueService.NonExistentQueue", 400, Gone),
        ("com.amazonaws.sqs#QueueDoesNotExist", 400, Gone),
        ("ResourceNotFoundException", 400, Gone),
        ("ClusterNotFoundException", 400, Gone),
        ("ServiceNotFoundException", 400, Gone),
        ("ServiceNotActiveException", 400, Gone),
        ("SomethingNew", 404, Gone),
        ("ThrottlingException", 400, Throttled),
        ("Throttling", 400, Throttled),
        ("RequestThrottled", 403, Throttled),
        ("AWS.SimpleQueueService.ThrottlingException", 400, Throttled),
        ("Some.NewThrottlingException", 400, Throttled),
        ("ProvisionedThroughputExceededException", 400, Throttled),
        ("ProvisionedThroughputExceeded", 400, Throttled),
        ("RequestLimitExceeded", 503, Throttled),
        ("TooManyRequestsException", 429, Throttled),
        ("SomethingNew", 429, Throttled),
        ("ScalingActivityInProgress", 400, Throttled),
        ("ResourceContention", 400, Throttled),
        ("TransactionConflictException", 400, Throttled),
        ("OverLimit", 403, Throttled),
        ("KmsThrottled", 400, Throttled),
        ("KMS.ThrottlingException", 400, Throttled),
        ("AccessDenied", 403, Denied),
        ("AccessDeniedException", 400, Denied),
        ("UnrecognizedClientException", 400, Denied),
        ("InvalidClientTokenId", 403, Denied),
        ("ExpiredToken", 403, Denied),
        ("ExpiredTokenException", 400, Denied),
        ("SignatureDoesNotMatch", 403, Denied),
        ("KmsAccessDenied", 400, Denied),
        ("KMS.AccessDeniedException", 400, Denied),
        ("KMS.OptInRequired", 403, Denied),
        ("SomethingNew", 403, Denied),
        ("KMS.DisabledException", 400, Invalid),
        ("KMS.NotFoundException", 400, Invalid),
        ("KmsNotFound", 400, Invalid),
        ("ValidationError", 400, Invalid),
        ("ValidationException", 400, Invalid),
        ("InvalidAttributeName", 400, Invalid),
        ("InvalidParameterException", 400, Invalid),
        ("SomethingNew", 400, Invalid),
        ("InternalFailure", 500, Unreachable),
        ("ServerException", 500, Unreachable),
        ("ServiceUnavailable", 503, Unreachable),
        ("SomethingNew", 502, Unreachable),
        ("RequestTimeout", 408, Unreachable),
    ],
)
def test_a_refusal_is_told_by_its_code_or_else_by_its_status(code: str, status: int, kind: type[CloudError]) -> None:
    assert type(wrap(refusal(code, status), OPERATION, RESOURCE)) is kind


def test_auto_scaling_says_not_found_in_a_validation_errors_message() -> None:
    error = refusal("ValidationError", 400, "AutoScalingGroup name not found - AutoScalingGroup 'g' not found")
    assert type(wrap(error, "autoscaling:SetDesiredCapacity", "asg:g")) is Gone


URL = "http://127.0.0.1:9/"


@pytest.mark.parametrize(
    ("error", "kind", "fix"),
    [
        (boto.EndpointConnectionError(endpoint_url=URL), Unreachable, "check the endpoint"),
        (boto.ConnectTimeoutError(endpoint_url=URL), Unreachable, "check the endpoint"),
        (boto.ReadTimeoutError(endpoint_url=URL), Unreachable, "check the endpoint"),
        (boto.ConnectionClosedError(endpoint_url=URL), Unreachable, "check the endpoint"),
        (boto.IncompleteReadError(actual_bytes=1, expected_bytes=2), Unreachable, "check the endpoint"),
        (boto.SSLError(endpoint_url=URL, error=OSError("bad certificate")), Unreachable, "AWS_CA_BUNDLE"),
        (boto.ProxyConnectionError(proxy_url=URL), Unreachable, "HTTPS_PROXY"),
        (ResponseParserError("not JSON"), Unreachable, "does not speak AWS's API"),
        (boto.NoCredentialsError(), Denied, "AWS_PROFILE"),
        (boto.PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"), Denied, "AWS_PROFILE"),
        (boto.ProfileNotFound(profile="nobody"), Denied, "AWS_PROFILE"),
        (boto.CredentialRetrievalError(provider="sso", error_msg="no"), Denied, "renew the credentials"),
        (boto.UnauthorizedSSOTokenError(), Denied, "aws sso login"),
        (boto.NoRegionError(), Invalid, "AWS_REGION"),
        (boto.InvalidRegionError(region_name="moon base"), Invalid, "AWS_REGION"),
        (boto.ParamValidationError(report="Unknown parameter in input"), Invalid, "see the AWS error"),
    ],
)
def test_a_call_that_never_reached_aws_is_told_by_what_stopped_it(
    error: Exception, kind: type[CloudError], fix: str
) -> None:
    wrapped = wrap(error, OPERATION, RESOURCE)
    assert type(wrapped) is kind
    assert fix in wrapped.fix


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        ("sqs:GetQueueAttributes", "sqs:GetQueueAttributes"),
        ("sqs:DeleteMessageBatch", "sqs:DeleteMessage"),
        ("sqs:ChangeMessageVisibilityBatch", "sqs:ChangeMessageVisibility"),
        ("ecs:UpdateService", "ecs:UpdateService"),
    ],
)
def test_a_denial_names_the_iam_action_to_allow(operation: str, action: str) -> None:
    """Batch calls are allowed under the single action's name:
    docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html
    """
    error = wrap(refusal("AccessDenied", 403), operation, RESOURCE)
    assert error.fix == f"allow {action} on mail to the role that tidegate runs as"


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("ExpiredToken", "renew the credentials"),
        ("InvalidClientTokenId", "AWS_PROFILE"),
        ("SignatureDoesNotMatch", "clock"),
        ("KMS.AccessDeniedException", "kms:Decrypt"),
        ("QueueDoesNotExist", "name, Region and account"),
        ("KmsDisabled", "KMS key"),
        ("ScalingActivityInProgress", "next tick"),
    ],
)
def test_each_kind_of_refusal_has_a_fix_of_its_own(code: str, fix: str) -> None:
    assert fix in wrap(refusal(code), OPERATION, RESOURCE).fix


def test_the_line_says_what_was_called_on_what_and_why_it_failed() -> None:
    error = wrap(refusal("QueueDoesNotExist", 400, "The specified queue does not exist."), OPERATION, RESOURCE)
    assert str(error) == (
        "sqs:GetQueueAttributes on mail found nothing: QueueDoesNotExist (The specified queue does not exist.); "
        "check the queue's name, Region and account (SQS also says this of a queue it may not show)"
    )


def test_the_canonical_request_with_its_session_token_never_gets_into_the_line() -> None:
    message = "The signature does not match.\n\nThe Canonical String was\n'POST\n/\nx-amz-security-token:SECRET\n'"
    error = wrap(refusal("SignatureDoesNotMatch", 403, message), OPERATION, RESOURCE)
    assert "SECRET" not in str(error)
    assert "\n" not in str(error)
    assert "The signature does not match." in str(error)


@pytest.mark.parametrize(
    ("status", "message", "kind", "says"),
    [
        (403, "<html>secret</html>", Denied, " was denied: 403; check the endpoint URL: whatever answered there"),
        (404, "secret", Gone, "found nothing: 404; check the endpoint URL: whatever answered there"),
        (302, "", Invalid, "was refused as invalid: 302; check the endpoint URL: whatever answered there"),
        (429, "secret", Throttled, "was throttled: 429; tidegate tries again"),
        (502, "Bad Gateway", Unreachable, "got no answer: 502 (Bad Gateway); check the endpoint, the network"),
    ],
)
def test_a_refusal_without_a_code_of_aws_s_is_a_page_of_somebody_and_not_quoted(
    status: int, message: str, kind: type[CloudError], says: str
) -> None:
    error = wrap(refusal(str(status), status, message), OPERATION, RESOURCE)
    assert type(error) is kind
    assert says in str(error)
    assert "secret" not in str(error)


def test_a_long_message_is_cut() -> None:
    assert len(wrap(refusal("Odd", 400, "x" * 5000), OPERATION, RESOURCE).detail) < 320


def test_a_failed_parameter_check_says_which_parameter() -> None:
    error = boto.ParamValidationError(report='Unknown parameter in input: "Foo"\nand more')
    assert 'Unknown parameter in input: "Foo"' in wrap(error, OPERATION, RESOURCE).detail


def test_calling_keeps_the_aws_error_as_the_cause() -> None:
    cause = refusal("AccessDenied", 403)
    with pytest.raises(Denied) as caught, calling(OPERATION, RESOURCE):
        raise cause
    assert caught.value.__cause__ is cause


async def test_calling_wraps_what_an_await_raises() -> None:
    async def call() -> None:
        raise boto.ReadTimeoutError(endpoint_url=URL)

    with pytest.raises(Unreachable), calling(OPERATION, RESOURCE):
        await call()


@pytest.mark.parametrize("error", [ZeroDivisionError(), OSError("disk"), Gone(OPERATION, RESOURCE, "typed already")])
@pytest.mark.parametrize("wraps", [calling, wrapping])
def test_what_neither_a_call_nor_its_answer_raises_is_left_alone(error: Exception, wraps: Wraps) -> None:
    with pytest.raises(type(error)) as caught, wraps(OPERATION, RESOURCE):
        raise error
    assert caught.value is error


UNREADABLE = [
    KeyError("QueueUrl"),
    IndexError("secret"),
    AttributeError("secret"),
    TypeError("secret"),
    ValueError("secret"),
    RecursionError("secret"),
]


@pytest.mark.parametrize("error", UNREADABLE, ids=repr)
def test_an_answer_that_cannot_be_read_is_unreachable_and_not_quoted(error: Exception) -> None:
    said = r"the answer can't be read \(\w+Error.*\); check the endpoint URL"
    with pytest.raises(Unreachable, match=said) as caught, calling(OPERATION, RESOURCE):
        raise error
    assert caught.value.__cause__ is error
    assert "secret" not in str(caught.value)
    assert ("no 'QueueUrl' in it" in str(caught.value)) is isinstance(error, KeyError)


@pytest.mark.parametrize("error", UNREADABLE, ids=repr)
def test_where_nothing_has_been_asked_yet_a_fault_of_our_own_shows_as_one(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, wrapping(OPERATION, RESOURCE):
        raise error
    assert caught.value is error


def test_the_code_of_an_error_that_aws_did_not_send_is_empty() -> None:
    assert error_code(boto.NoRegionError()) == ""
