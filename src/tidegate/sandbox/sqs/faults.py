"""What SQS answers when it refuses: the shape's name, the older query code, and the sentence.

Both names go out (`__type` and the `x-amzn-query-error` header), so that every SDK raises its right class. The pairs
are botocore's model of SQS plus what AWS's own answers carry for the errors that the model leaves out.
Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html
"""

from enum import Enum

from tidegate.errors import TidegateError

__all__ = ["Code", "Refusal", "invalid_value", "missing", "not_in_flight", "queue_does_not_exist"]

_SQS = "com.amazonaws.sqs#"
_CORAL = "com.amazon.coral.service#"
_QUERY = "AWS.SimpleQueueService."


class Code(Enum):
    """Shape name and query code of each refusal."""

    BATCH_ENTRY_IDS_NOT_DISTINCT = (_SQS + "BatchEntryIdsNotDistinct", _QUERY + "BatchEntryIdsNotDistinct")
    BATCH_REQUEST_TOO_LONG = (_SQS + "BatchRequestTooLong", _QUERY + "BatchRequestTooLong")
    EMPTY_BATCH_REQUEST = (_SQS + "EmptyBatchRequest", _QUERY + "EmptyBatchRequest")
    INVALID_ATTRIBUTE_NAME = (_SQS + "InvalidAttributeName", "InvalidAttributeName")
    INVALID_ATTRIBUTE_VALUE = (_SQS + "InvalidAttributeValue", "InvalidAttributeValue")
    INVALID_BATCH_ENTRY_ID = (_SQS + "InvalidBatchEntryId", _QUERY + "InvalidBatchEntryId")
    INVALID_MESSAGE_CONTENTS = (_SQS + "InvalidMessageContents", "InvalidMessageContents")
    INVALID_PARAMETER_VALUE = (_CORAL + "InvalidParameterValueException", "InvalidParameterValue")
    MESSAGE_NOT_IN_FLIGHT = (_SQS + "MessageNotInflight", _QUERY + "MessageNotInflight")
    MISSING_PARAMETER = (_CORAL + "MissingRequiredParameterException", "MissingParameter")
    OVER_LIMIT = (_SQS + "OverLimit", "OverLimit")
    PURGE_QUEUE_IN_PROGRESS = (_SQS + "PurgeQueueInProgress", _QUERY + "PurgeQueueInProgress")
    QUEUE_DOES_NOT_EXIST = (_SQS + "QueueDoesNotExist", _QUERY + "NonExistentQueue")
    QUEUE_NAME_EXISTS = (_SQS + "QueueNameExists", "QueueAlreadyExists")
    RECEIPT_HANDLE_IS_INVALID = (_SQS + "ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid")
    SERIALIZATION = (_CORAL + "SerializationException", "MalformedInput")
    TOO_MANY_ENTRIES = (_SQS + "TooManyEntriesInBatchRequest", _QUERY + "TooManyEntriesInBatchRequest")
    UNKNOWN_OPERATION = (_CORAL + "UnknownOperationException", "InvalidAction")

    @property
    def shape(self) -> str:
        return self.value[0]

    @property
    def query(self) -> str:
        return self.value[1]


class Refusal(TidegateError):
    """The endpoint's answer to a request that it refuses; it goes to the client and never out of the endpoint."""

    def __init__(self, code: Code, message: str) -> None:
        self.code = code
        super().__init__(message)


def invalid_value(value: object, parameter: str, reason: str) -> Refusal:
    return Refusal(
        Code.INVALID_PARAMETER_VALUE, f"Value {value} for parameter {parameter} is invalid. Reason: {reason}"
    )


def missing(parameter: str) -> Refusal:
    return Refusal(Code.MISSING_PARAMETER, f"The request must contain the parameter {parameter}.")


def not_in_flight() -> Refusal:
    return Refusal(Code.MESSAGE_NOT_IN_FLIGHT, "The specified message isn't in flight.")


def queue_does_not_exist() -> Refusal:
    return Refusal(Code.QUEUE_DOES_NOT_EXIST, "The specified queue does not exist.")
