"""Each kind of error leaves its own kind of absence."""

import pytest

from tidegate.core.absence import Absence, absence_of
from tidegate.errors import CloudError, Denied, Gone, Invalid, StateUnreadable, Throttled, TidegateError, Unreachable


@pytest.mark.parametrize(
    ("error", "absence"),
    [
        (Throttled("sqs:GetQueueAttributes", "mail", "RequestThrottled"), Absence.THROTTLED),
        (Denied("sqs:GetQueueAttributes", "mail", "AccessDenied"), Absence.DENIED),
        (Gone("sqs:GetQueueAttributes", "mail", "QueueDoesNotExist"), Absence.GONE),
        (Invalid("sqs:GetQueueAttributes", "mail", "InvalidAddress"), Absence.INVALID),
        (Unreachable("sqs:GetQueueAttributes", "mail", "connection refused"), Absence.UNREACHABLE),
        (StateUnreadable("report of worker i-1", "not JSON"), Absence.INVALID),
        (CloudError("sqs:GetQueueAttributes", "mail", "something new"), Absence.UNREACHABLE),
        (TidegateError("something newer"), Absence.UNREACHABLE),
    ],
)
def test_an_error_leaves_its_own_kind_of_absence_and_never_a_harmless_one(
    error: TidegateError, absence: Absence
) -> None:
    assert absence_of(error) is absence
    assert absence is not Absence.MISSING
