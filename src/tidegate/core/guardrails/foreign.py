"""The desired count was changed by somebody else: Terraform, the console, Application Auto Scaling.

Once is taken as it is: the next decision starts from what was found. Again and again is a fight that nobody wins and
every round of which starts or stops workers. Then tidegate yields for a while and says so, tries again, and yields for
twice as long where the other is still there.
"""

from dataclasses import replace

from tidegate.core.decision import Reason
from tidegate.core.limit import Limit, left_alone
from tidegate.core.memory import Contest
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Capacity, Observation

__all__ = ["as_asked", "learn_foreign", "replaced_lately", "yielded"]

EFFECT_S = 60.0
"""For less than so long a platform may go on showing a count that was replaced: calls are throttled, answers are of a
moment ago. How long ECS does is unverified; a Lambda's next tick, a minute later, is beyond it."""

FIGHT_CHANGES = 3
FIGHT_WITHIN_S = 600.0
PAUSE_LONGEST_S = 4 * 3600.0
FORGOTTEN_S = 3600.0


def as_asked(state: PoolState, seen: Observation) -> tuple[Observation, str]:
    """The observation as it will be once the count that was asked for is there, with that in words; else as it is.

    A count that we ourselves replaced within the last minute was not set by somebody else: ours is on its way.
    """
    asked, found = state.desired, seen.capacity.desired
    if asked is None or asked == found:
        return seen, ""
    since_s = [seen.now_s - at_s for at_s, count in state.replaced if count == found]
    if not since_s or since_s[-1] >= EFFECT_S:
        return seen, ""
    note = f"the platform still shows {found} as the desired count, {since_s[-1]:.0f} s after it was replaced"
    return replace(seen, capacity=replace(seen.capacity, desired=asked)), note


def replaced_lately(state: PoolState, now_s: float, current: int, workers: int) -> tuple[tuple[float, int], ...]:
    """What `PoolState.replaced` is from now on, `workers` being asked for in place of `current`."""
    recent = tuple([each for each in state.replaced if now_s - each[0] < EFFECT_S])
    return recent if workers == current else (*recent, (now_s, current))


def learn_foreign(pool: Pool, state: PoolState, capacity: Capacity, now_s: float) -> tuple[Contest, str]:
    """What is remembered of others' changes, with this tick's if there was one, and that in words."""
    contest = _aged(state.contest, now_s)
    if state.desired is None or state.desired == capacity.desired:
        return contest, ""
    said = f"somebody else set the desired count from {state.desired} to {capacity.desired}"
    if pool.contested == "insist" or _yielding(contest, now_s):
        return contest, said
    changes = (*contest.changes_s, now_s)
    if len(changes) < FIGHT_CHANGES:
        return replace(contest, changes_s=changes), said
    return Contest((), now_s + contest.pause_s, min(2 * contest.pause_s, PAUSE_LONGEST_S)), said


def yielded(workers: int, current: int, contest: Contest, now_s: float) -> Limit:
    """Leave the count as the other has it while yielding."""
    if not _yielding(contest, now_s) or contest.until_s is None:
        return left_alone(workers)
    note = (
        f"somebody else set the desired count {FIGHT_CHANGES} times within {FIGHT_WITHIN_S / 60:.0f} min: left to them "
        f"for {(contest.until_s - now_s) / 60:.0f} min more, then tried again; "
        "stop the other (ignore_changes in Terraform, no second scaling policy)"
    )
    return Limit(current, Reason.CONTESTED, note)


def _yielding(contest: Contest, now_s: float) -> bool:
    return contest.until_s is not None and now_s < contest.until_s


def _aged(contest: Contest, now_s: float) -> Contest:
    """Changes of long ago are no fight; an hour of peace after yielding forgets the last one."""
    if contest.until_s is not None and now_s - contest.until_s > FORGOTTEN_S:
        contest = Contest()
    if not contest.changes_s:
        return contest
    recent = tuple(at_s for at_s in contest.changes_s if now_s - at_s <= FIGHT_WITHIN_S)
    return contest if recent == contest.changes_s else replace(contest, changes_s=recent)
