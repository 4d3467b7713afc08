"""Retirement as the last step of a decision: which rules still hold anybody up, and which words are said."""

from dataclasses import replace

from tests.core.observations import NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.decide import decide
from tidegate.core.decision import Reason
from tidegate.core.directive import Directive, must_tell
from tidegate.core.model import Override, OverrideKind, PoolState, Retired
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerState

LONG_JOBS = replace(POOL, service_time_hint_s=600.0, min_workers=0)
CALM = PoolState(watched_since_s=NOW_S - 7200, ticked_at_s=NOW_S - 10, needs=((NOW_S - 10, 0),), desired=2)
RETIRED = replace(CALM, retired=(Retired("w2", NOW_S - 60),))


def look(*, protected: bool, state: WorkerState = WorkerState.RUNNING, busy: int = 4) -> Observation:
    workers = (
        worker("w1", busy=4, protected=protected, before=9, mean_s=600),
        worker("w2", busy=busy, protected=protected, before=9, mean_s=600, state=state),
    )
    return observe(queue(0, 4 + busy), workers=workers, seen=capacity(2))


def test_jobs_longer_than_the_stop_timeout_hold_no_scale_in_up_where_workers_are_protected() -> None:
    held, _ = decide(LONG_JOBS, CALM, look(protected=False))
    assert (held.reason, held.desired) == (Reason.BUSY_FLOOR, 2)
    assert "8 slots are busy with handlers that may outlast the stop timeout; 2 of 2 workers are not" in held.sentence
    assert "allow their task role ecs:UpdateTaskProtection and ecs:GetTaskProtection" in held.health.advice[-1]
    retired, state = decide(LONG_JOBS, CALM, look(protected=True))
    assert (retired.reason, retired.desired) == (Reason.RETIRING, 2)
    assert state.directive.retire == tuple(each.worker_id for each in state.retired) != ()
    assert "not stopped before" in retired.sentence
    assert "protected" not in retired.sentence


def test_an_unprotected_pool_that_handlers_do_not_hold_up_is_told_nothing() -> None:
    quick = replace(LONG_JOBS, stop_timeout_s=7200.0)
    lowered, _ = decide(quick, CALM, look(protected=False, busy=0))
    assert lowered.desired == 1
    assert "not protected" not in lowered.sentence


def test_a_frozen_pool_keeps_even_drained_workers() -> None:
    frozen = replace(RETIRED, override=Override(OverrideKind.FREEZE, "ada@desk", since_s=0.0))
    drained = look(protected=True, state=WorkerState.RELEASED, busy=0)
    decision, state = decide(LONG_JOBS, frozen, drained)
    assert (decision.desired, state.retired) == (2, RETIRED.retired)
    assert "frozen by ada@desk" in decision.sentence


def test_while_a_deployment_runs_the_count_stays_and_old_workers_are_retired() -> None:
    workers = tuple(worker(f"w{n}", busy=4, protected=True, mean_s=600, before=9) for n in (1, 2))
    seen = observe(queue(0, 8), workers=workers, seen=capacity(2, deploying=True, outdated=2))
    decision, state = decide(LONG_JOBS, CALM, seen)
    assert decision.desired == 2
    assert [each.renewal for each in state.retired] == [True]
    assert state.directive.retire == ("w1",) or state.directive.retire == ("w2",)


def test_a_drained_worker_goes_and_the_sentence_says_it() -> None:
    decision, state = decide(LONG_JOBS, RETIRED, look(protected=True, state=WorkerState.RELEASED, busy=0))
    assert (decision.desired, decision.reason) == (1, Reason.RETIRING)
    assert "1 drained and removed now" in decision.sentence
    assert state.directive.retire[0] == "w2"


def test_words_of_the_rule_before_stay_said() -> None:
    capped = replace(LONG_JOBS, max_workers=1)
    decision, _ = decide(capped, replace(CALM, needs=((NOW_S - 10, 9),)), look(protected=True))
    assert decision.reason is Reason.RETIRING
    assert "1 retired" in decision.sentence


EMPTIED = Directive(changed_at_s=NOW_S - 9000)


def test_a_worker_that_goes_by_an_older_word_is_told_again_that_it_may_work() -> None:
    """Of two controllers the one that had stalled wrote last; or the write that took it back was lost."""
    forgotten = look(protected=True, state=WorkerState.RELEASED, busy=0)
    _, state = decide(LONG_JOBS, replace(CALM, directive=EMPTIED, needs=((NOW_S - 10, 9),)), forgotten)
    assert state.directive.retire == ()
    assert must_tell(state.directive, NOW_S)


def test_a_controller_that_comes_back_after_a_gap_says_again_that_nobody_is_retired() -> None:
    """It may have been killed between the save of its state and the word to its workers and producers."""
    seen = look(protected=True)
    needed = replace(CALM, directive=EMPTIED, needs=((NOW_S - 10, 9),))
    _, state = decide(LONG_JOBS, needed, seen)
    assert not must_tell(state.directive, NOW_S)
    _, state = decide(LONG_JOBS, replace(needed, ticked_at_s=NOW_S - 9000), seen)
    assert must_tell(state.directive, NOW_S)
