"""Retirement as a step of the decision: from the workers that are to take work to the count to ask for."""

from collections.abc import Sequence

from tidegate.core.decision import Reason, Scalar
from tidegate.core.directive import Directive, said, to_repeat
from tidegate.core.limit import Limit
from tidegate.core.model import Override, OverrideKind, Retired
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerState
from tidegate.core.retire.choice import Outcome, retire
from tidegate.core.signals.fleet import heard_of
from tidegate.core.signals.read import Signals

__all__ = ["directed", "retire_step"]

_RUNNING = WorkerState.RUNNING


def retire_step(
    wanted: int,
    before: str,
    override: Override | None,
    retired: Sequence[Retired],
    signals: Signals,
    seen: Observation,
    *,
    gentle: bool,
) -> tuple[Limit, dict[str, Scalar], tuple[Retired, ...]]:
    """The count, the step's values, and who is retired.

    `before` are the words of the rules before this one: why so many workers are wanted stays said.
    """
    frozen = override is not None and override.kind is OverrideKind.FREEZE
    lower = not (frozen or seen.capacity.deploying) and signals.fresh
    heard = signals.hearing
    outcome = retire(wanted, retired, seen, gentle=gentle, lower=lower, unheard=heard.unheard, hanging=heard.hanging)
    values: dict[str, Scalar] = {
        "gentle": gentle,
        "retired": outcome.waiting,
        "left": outcome.left,
        "taken_back": outcome.taken_back,
    }
    return _limit(outcome, before), values, outcome.retired


def directed(
    before: Directive, retired: Sequence[Retired], seen: Observation, *, shed: bool, resumed: bool
) -> Directive:
    """What the pool's workers and producers are told; `resumed`: the first word after a gap in the ticks.

    A word may have been lost: the controller was killed between the state's save and it, or a second one that had
    stalled wrote its older one last. So it is repeated after a gap, and while a worker takes no work that was not told
    so. Most of those leave for another reason, and a word more is cheap.
    """
    listed = tuple([each.worker_id for each in retired])
    now = said(before, seen.now_s, retire=listed, shed=shed)
    idle = [each for each in seen.fleet.workers if each.state is not _RUNNING]
    astray = bool(idle) and any(each.worker_id not in listed for each in heard_of(idle, seen.now_s))
    return to_repeat(now, seen.now_s) if resumed or astray else now


def _limit(outcome: Outcome, before: str) -> Limit:
    if not (outcome.waiting or outcome.left or outcome.taken_back):
        return Limit(outcome.workers, note="; ".join(outcome.notes))
    moved = [(outcome.left, "drained and removed now"), (outcome.taken_back, "taken back")]
    words = [f"{count} {what}" for count, what in moved if count] + list(outcome.notes)
    return Limit(outcome.workers, Reason.RETIRING, "; ".join([before, *words] if before else words))
