"""How long a lease lasts at most, and how often it must be extended so that it does not lapse."""

from enum import StrEnum
from typing import Final

__all__ = ["LONGEST_LEASE_S", "LeaseRisk", "lease_risk"]

LONGEST_LEASE_S: Final = 43_200
"""SQS ends every lease 12 hours after the receive; a change beyond that is refused, not clamped.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
"""


class LeaseRisk(StrEnum):
    """What is wrong with an interval of extensions, in words that follow "N s"."""

    LAPSES = "leases lapse before they are extended"
    THIN = "one failed extension loses the lease"


def lease_risk(every_s: float, lease_s: float) -> LeaseRisk | None:
    """Extending every `every_s` seconds a lease of `lease_s`; None when it outlives a failed extension.

    >>> lease_risk(every_s=20, lease_s=60), lease_risk(31, 60), lease_risk(60, 60)
    (None, <LeaseRisk.THIN: 'one failed extension loses the lease'>, \
<LeaseRisk.LAPSES: 'leases lapse before they are extended'>)
    """
    if every_s >= lease_s:
        return LeaseRisk.LAPSES
    return LeaseRisk.THIN if every_s > lease_s / 2 else None
