"""Reports whose times are behind ours and stay so: another clock, and no silence.

A report that was not there at the last look was written since, so it can't be older than that look. If its own time
says that it is, its clock is behind by at least the difference (or it takes so long to arrive). Taken at its word, a
whole fleet of such workers would look silent for ever, and a pool that is never scaled in grows.
"""

from dataclasses import replace

from tidegate.core.bounds import at_least, at_most
from tidegate.core.memory import Skew
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerReport

__all__ = ["CLOCKS_APART_S", "learn_skew", "on_our_clock", "reports_on_our_clock", "said_of_clocks"]

CLOCKS_APART_S = 300.0
"""AWS refuses a request whose time is further off than that: "in most cases, a request must reach AWS within five
minutes of the time stamp in the request", https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_aws-signing.html
(as quoted on AWS re:Post; DynamoDB was seen to allow 5 and 15 minutes, https://github.com/aws/aws-sdk-js-v3/issues/7605
and https://github.com/praetorian-inc/chariot-ui/issues/453). Beyond it, a silence is the likelier reason."""

A_MOMENT_S = 1e-4
"""What a look has missed was written after it, be it by a moment: more than sums of such times are rounded by."""

WORTH_SAYING_S = 5.0
"""Less than that does no harm, and clocks that are kept by NTP are never so far apart."""


def learn_skew(known: Skew, seen: Observation) -> Skew:
    """By how much the fleet's newest report is behind: at least what the last look says, at most its age.

    So a report that is new to this look counts as written since the last one, as it was, even where workers report in
    step with our looks. Told whenever there is a newer one, and by the newest of all, so that a clock that is right
    counts: what single workers are behind makes them silent (`signals.silence`). While nothing new comes what is known
    stays, and ages grow.
    """
    if seen.fleet.absence is not None:
        return known
    newest_s = max([worker.reported_at_s for worker in seen.fleet.workers], default=known.newest_s)
    if known.looked_s is None or newest_s <= known.newest_s:
        return Skew(newest_s, seen.now_s, known.behind_s)
    least_s, most_s = known.looked_s + A_MOMENT_S - newest_s, at_least(seen.now_s - newest_s, 0.0)
    return Skew(newest_s, seen.now_s, at_most(at_least(known.behind_s, least_s), most_s))


def on_our_clock(seen: Observation, skew: Skew) -> Observation:
    """The same, with the times of all reports as our clock would have had them."""
    workers = reports_on_our_clock(seen.fleet.workers, skew)
    return seen if workers is seen.fleet.workers else replace(seen, fleet=replace(seen.fleet, workers=workers))


def reports_on_our_clock(workers: tuple[WorkerReport, ...], skew: Skew) -> tuple[WorkerReport, ...]:
    """Reports as they are stored, with their times as our clock would have had them."""
    if not 0.0 < skew.behind_s <= CLOCKS_APART_S:
        return workers
    return tuple([_later(worker, skew.behind_s) for worker in workers])


def said_of_clocks(skew: Skew) -> str:
    """What is said of them; nothing while they are about right."""
    if skew.behind_s < WORTH_SAYING_S:
        return ""
    corrected = skew.behind_s <= CLOCKS_APART_S
    what = "taken for as much younger" if corrected else "not gone by: no clocks may be so far apart"
    return (
        f"the workers' reports are {skew.behind_s:.0f} s behind and {what}; "
        "their clock is slow or the controller's fast: look at the time synchronisation of both"
    )


def _later(worker: WorkerReport, by_s: float) -> WorkerReport:
    return replace(
        worker,
        reported_at_s=worker.reported_at_s + by_s,
        started_at_s=worker.started_at_s + by_s,
        first_receive_at_s=None if worker.first_receive_at_s is None else worker.first_receive_at_s + by_s,
        answered_at_s=None if worker.answered_at_s is None else worker.answered_at_s + by_s,
    )
