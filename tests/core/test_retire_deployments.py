"""Workers of the older revision, retired so that a deployment of a busy pool gets through."""

from dataclasses import replace

from tests.core.observations import NOW_S
from tests.core.retiring import protected, seen, step
from tidegate.core.model import Retired
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkerReport
from tidegate.core.retire import Outcome


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
