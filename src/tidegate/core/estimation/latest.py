"""What the latest runs prove of the service time, where the mean over minutes goes on remembering others.

A mean over minutes is a mean over runs. Where a class of short runs gives way to one of long runs, or the other way
round, those that were more outweigh the others for several times those minutes: thousands of half a second, and then
four a minute of sixty seconds in the four slots of a pool that is too small for them.
"""

import math

from tidegate.core.bounds import at_least, at_most
from tidegate.core.estimation.balance import LATELY_S, PROOF_SIGMAS
from tidegate.core.estimation.times import squared_variation
from tidegate.core.model import Balance, ServiceTime
from tidegate.core.signals.fleet import FleetSignals

__all__ = ["learn_latest", "within_proof_s"]

LATEST_RUNS = 20.0
"""The latest runs are those of the last minute, or so many where it has fewer."""

_NONE = ServiceTime(0.0, 0.0, 0.0)


def learn_latest(known: ServiceTime | None, fleet: FleetSignals | None) -> ServiceTime | None:
    """Add the runs that reports tell of. Older ones fade within a minute, but as newer ones replace them where they are
    few."""
    if fleet is None:
        return known
    old = known or _NONE
    fade = math.exp(-fleet.since_s / LATELY_S)
    if old.runs * fade < LATEST_RUNS:
        fade = at_least(fade, math.exp(-fleet.runs / LATEST_RUNS))
    return ServiceTime(
        runs=old.runs * fade + fleet.runs,
        sum_s=old.sum_s * fade + fleet.service_time_sum_s,
        square_sum_s2=old.square_sum_s2 * fade + fleet.service_time_square_sum_s2,
    )


def within_proof_s(balance: Balance, latest: ServiceTime | None, believed_s: float, variation: float) -> float:
    """The service time as believed, as far as the latest runs don't prove it shorter or longer.

    Shorter, by the last minute: slot-seconds busy ÷ the less frequent of starts and ends, which holds those that still
    run, or the mean of the runs that ended, whichever is more. What is believed is then the longest of which so many
    runs, which differ by as much as all that are remembered, would come out so short by two standard errors. Longer,
    where a minute has few runs, by the latest of them, less two standard errors: how far these differ from each other
    is all that counts then. Slots that hang prove nothing here.
    """
    if latest is None or latest.runs <= 0:
        return believed_s
    mean_s, differ = latest.sum_s / latest.runs, at_least(squared_variation(latest), 1.0)
    runs = at_most(balance.lately_starts, balance.lately_ends)
    if runs < LATEST_RUNS:
        error = math.sqrt(differ / at_most(latest.runs, LATEST_RUNS))
        return at_least(believed_s, mean_s * (1.0 - PROOF_SIGMAS * error))
    share = 1.0 - PROOF_SIGMAS * math.sqrt(at_least(variation, differ) / runs)
    found_s = at_least(balance.lately_busy_s / runs, mean_s)
    return found_s / share if found_s < share * believed_s else believed_s
