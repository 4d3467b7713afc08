"""Workers of the older revision, retired so that a deployment of a busy pool gets through."""

from dataclasses import replace

from tests.core.observations import NOW_S, capacity
from tests.core.retire.retiring import protected, seen, step
from tidegate.core.model import Retired
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerReport
from tidegate.core.retire.choice import Outcome, retire


def deploying(outdated: int, *workers: WorkerReport, desired: int) -> Observation:
    return seen(*workers, desired=desired, running=len(workers), deploying=True, outdated=outdated)


OLD = tuple(protected(f"old{n}", started_at_s=NOW_S - 5000 + n) for n in range(4))
NEW = tuple(protected(f"new{n}", started_at_s=NOW_S - 60 + n) for n in range(4))


def test_a_deaf_worker_of_the_older_revision_does_not_hold_the_deployment_of_the_others_up() -> None:
    deaf = (Retired("old0", NOW_S - 900, renewal=True),)
    outcome = step(4, deaf, deploying(4, *OLD, desired=4), lower=False)
    assert len(outcome.retired) == 2


def test_a_deployment_retires_as_many_old_workers_as_new_ones_take_work_and_keeps_the_count() -> None:
    outcome = step(4, (), deploying(4, *OLD, *NEW[:2], desired=4), lower=False)
    assert len(outcome.retired) == 2
    assert all(each.renewal and each.worker_id.startswith("old") for each in outcome.retired)
    assert outcome.workers == 4
    assert outcome.notes == ("2 of the older revision retired to be replaced",)


def test_a_deployment_that_starts_nothing_before_something_has_gone_gets_one_worker_at_a_time() -> None:
    first = step(4, (), deploying(4, *OLD, desired=4), lower=False)
    assert len(first.retired) == 1
    again = step(4, first.retired, deploying(4, *OLD, desired=4), lower=False)
    assert again.retired == first.retired


def test_a_deployment_gets_through_where_new_workers_can_not_be_protected_yet() -> None:
    unprotected = tuple(replace(each, protected=False) for each in NEW[:2])
    assert len(step(4, (), deploying(4, *OLD, *unprotected, desired=4), lower=False).retired) == 2


def test_after_the_deployment_nobody_is_left_on_the_list() -> None:
    renewed = (Retired("old0", NOW_S - 60, renewal=True),)
    outcome = step(4, renewed, seen(OLD[0], *NEW[:3]))
    assert outcome == Outcome(4, ())


def test_a_new_revision_that_takes_no_work_costs_no_old_worker_beyond_one_batch() -> None:
    """Its tasks run and hang, or are pending: ECS takes them for healthy, and would replace whoever has drained."""
    for running, pending in ((5, 0), (4, 1), (8, 0)):
        look = replace(
            deploying(4, *OLD, desired=4), capacity=capacity(4, running=running, pending=pending, outdated=4)
        )
        outcome = step(4, (), look, lower=False)
        assert outcome.retired == ()
        missing = running + pending - 4
        assert outcome.notes == (
            f"{missing} of the newer revision have not begun to take work: none of the older is retired for them",
        )
    gone = replace(deploying(3, *OLD[:3], desired=4), capacity=capacity(4, running=4, outdated=3))
    assert step(4, (), gone, lower=False).retired == (), "the one that was retired first has a successor that hangs"


def test_old_workers_are_retired_for_those_new_ones_that_do_take_work_however_many_hang() -> None:
    look = replace(deploying(4, *OLD, *NEW[:2], desired=4), capacity=capacity(4, running=8, outdated=4))
    assert len(step(4, (), look, lower=False).retired) == 2


def test_a_new_revision_that_works_in_silence_holds_no_deployment_up() -> None:
    look = replace(deploying(4, *OLD, desired=4), capacity=capacity(4, running=5, outdated=4))
    assert len(retire(4, (), look, gentle=True, lower=False, unheard=1).retired) == 1
    assert retire(4, (), look, gentle=True, lower=False, hanging=1).retired == ()
