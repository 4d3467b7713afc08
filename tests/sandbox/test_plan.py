"""Which workers the agent starts, cancels and stops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.sandbox.plan import Plan, plan
from tidegate.sandbox.platform import Phase, Wanted, WorkerView

P, R, S = Phase.PENDING, Phase.RUNNING, Phase.STOPPING


def worker(worker_id: str, phase: Phase, revision: str = "new", since_s: float = 0.0) -> WorkerView:
    return WorkerView(worker_id, phase, revision, since_s)


@pytest.mark.parametrize(
    ("wanted", "workers", "expected"),
    [
        pytest.param(Wanted(3, "new"), [], Plan(start=3), id="missing ones are started"),
        pytest.param(Wanted(2, "new"), [worker("a", P), worker("b", R)], Plan(), id="a pending one counts"),
        pytest.param(Wanted(1, "new"), [worker("a", S)], Plan(start=1), id="a stopping one does not count"),
        pytest.param(
            Wanted(1, "new"), [worker("a", R), worker("b", P)], Plan(cancel=("b",)), id="a pending one goes first"
        ),
        pytest.param(
            Wanted(1, "new"),
            [worker("a", R, since_s=1), worker("b", R, since_s=2)],
            Plan(stop=("b",)),
            id="then the newest",
        ),
        pytest.param(
            Wanted(1, "new", protected=frozenset({"b"})),
            [worker("a", R, since_s=1), worker("b", R, since_s=2)],
            Plan(stop=("a",)),
            id="a protected one is spared",
        ),
        pytest.param(
            Wanted(0, "new", protected=frozenset({"a", "b"})),
            [worker("a", R), worker("b", R)],
            Plan(),
            id="all protected: nothing stops though none is wanted",
        ),
        pytest.param(
            Wanted(2, "new", protected=frozenset({"a"}), doomed=frozenset({"a"})),
            [worker("a", R), worker("b", R)],
            Plan(start=1, stop=("a",)),
            id="a doomed one goes in spite of protection, and is replaced",
        ),
        pytest.param(
            Wanted(2, "new"),
            [worker("a", R, "old"), worker("b", R, "old")],
            Plan(start=2),
            id="a deployment starts all new ones first",
        ),
        pytest.param(
            Wanted(2, "new"),
            [worker("a", R, "old"), worker("b", R, "old"), worker("c", R), worker("d", P)],
            Plan(stop=("b",)),
            id="and stops as many old ones as new ones are up",
        ),
        pytest.param(
            Wanted(2, "new", protected=frozenset({"a"})),
            [worker("a", R, "old"), worker("c", R), worker("d", R)],
            Plan(),
            id="but waits for a protected old one",
        ),
        pytest.param(
            Wanted(1, "new"),
            [worker("a", P, "old"), worker("b", P)],
            Plan(cancel=("a",)),
            id="an old one that is not up yet never comes up",
        ),
        pytest.param(
            Wanted(2, "new"),
            [worker("a", R, "older"), worker("b", R, "older"), worker("c", R, "old"), worker("d", R, "old")],
            Plan(stop=("d", "c")),
            id="no more than twice the wanted are there during a deployment",
        ),
    ],
)
def test_plan(wanted: Wanted, workers: list[WorkerView], expected: Plan) -> None:
    assert plan(wanted, workers) == expected


fleets = st.lists(
    st.builds(
        worker,
        st.uuids().map(str),
        st.sampled_from([P, R, S]),
        st.sampled_from(["new", "old"]),
        st.floats(0, 100),
    ),
    max_size=12,
)


def after(step: Plan, wanted: Wanted, workers: list[WorkerView]) -> list[WorkerView]:
    """The fleet once everything planned has come to its end."""
    gone = {*step.cancel, *step.stop}
    stayed = [
        WorkerView(one.worker_id, R, one.revision, one.since_s)
        for one in workers
        if one.worker_id not in gone and one.phase is not S
    ]
    return stayed + [worker(f"started-{number}", R, wanted.revision) for number in range(step.start)]


@given(fleets, st.integers(0, 12), st.data())
def test_protected_workers_are_never_ended(workers: list[WorkerView], count: int, data: st.DataObject) -> None:
    ids = [one.worker_id for one in workers if one.phase is R]
    protected = frozenset(data.draw(st.sets(st.sampled_from(ids)))) if ids else frozenset()
    step = plan(Wanted(count, "new", protected=protected), workers)
    assert not protected & {*step.stop, *step.cancel}


@given(fleets, st.integers(0, 12))
def test_repeated_steps_end_at_exactly_what_is_wanted(workers: list[WorkerView], count: int) -> None:
    wanted = Wanted(count, "new")
    for _ in range(30):
        step = plan(wanted, workers)
        before, workers = workers, after(step, wanted, workers)
        if step == Plan() and workers == before:  # an old one goes only once pending ones are up
            break
    up = [one for one in workers if one.phase is not S]
    assert [one.revision for one in up] == ["new"] * count


@given(fleets, st.integers(0, 12))
def test_a_step_never_takes_the_running_below_the_wanted(workers: list[WorkerView], count: int) -> None:
    step = plan(Wanted(count, "new"), workers)
    running = sum(one.phase is R for one in workers)
    assert running - len(step.stop) >= min(running, count)
