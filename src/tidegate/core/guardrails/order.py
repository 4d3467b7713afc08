"""A FIFO queue hands out one message per group at a time: beyond its groups, more slots only stand idle.

How many groups wait is nothing that SQS tells. That slots stand idle while messages wait is told by the workers.
"""

from tidegate.core.bounds import at_least
from tidegate.core.decision import Reason
from tidegate.core.limit import Limit, left_alone
from tidegate.core.signals.fleet import FleetSignals

__all__ = ["groups_bind", "idle_since"]

IDLE_SHARE = 0.2
IDLE_FOR_S = 60.0
"""As long as counts can be wrong about what waits."""

MARGIN = 1.25


def idle_since(known: float | None, fleet: FleetSignals | None, waiting: float, now_s: float) -> float | None:
    """Since when a fifth of the slots stand idle while messages wait; None: they do not.

    A fifth: between two jobs any slot is idle for a moment.
    """
    idle = fleet.free if fleet else 0
    if fleet is None or idle < at_least(IDLE_SHARE * fleet.slots, 1.0) or waiting <= 0:
        return None
    return now_s if known is None else known


def groups_bind(workers: int, fleet: FleetSignals | None, waiting: float, since_s: float | None, now_s: float) -> Limit:
    """At most a quarter more slots than are busy, and one: groups that become free show as busy slots first.

    That margin leaves a fifth of the slots idle, so that the rule holds until the groups are no longer what binds.
    """
    if fleet is None or since_s is None or now_s - since_s < IDLE_FOR_S:
        return left_alone(workers)
    most = -int(-MARGIN * (fleet.busy + 1) // fleet.slots_per_worker)
    if workers <= most:
        return left_alone(workers)
    note = (
        f"{waiting:.0f} messages wait while {fleet.free} of {fleet.slots} slots stand idle: "
        "their groups are being worked on, and a FIFO queue hands out one of a group at a time"
    )
    return Limit(most, Reason.CEILING, note)
