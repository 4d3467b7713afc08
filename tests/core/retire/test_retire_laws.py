"""What holds of scale-in whatever is wanted, tick after tick, with a platform that obeys."""

from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import NOW_S, capacity, observe
from tests.core.retire.retiring import drained, protected, step
from tidegate.core.model import Retired
from tidegate.core.reports import WorkerReport, WorkerState
from tidegate.core.retire.choice import Outcome, is_gentle


@dataclass
class World:
    """A service as ECS runs it: it stops unprotected workers that are too many, and starts those that are missing."""

    desired: int
    busy: dict[str, int] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    retired: tuple[Retired, ...] = ()
    now_s: float = NOW_S
    born: int = 0

    def __post_init__(self) -> None:
        self.follow()

    def holds_nothing(self, name: str) -> bool:
        return name in self.listed and self.busy[name] == 0

    def reports(self) -> tuple[WorkerReport, ...]:
        return tuple(
            drained(name, at_s=self.now_s)
            if self.holds_nothing(name)
            else replace(
                protected(name, busy, at_s=self.now_s),
                state=WorkerState.DRAINING if name in self.listed else WorkerState.RUNNING,
            )
            for name, busy in self.busy.items()
        )

    def tick(self, wanted: int) -> Outcome:
        look = observe(workers=self.reports(), seen=capacity(self.desired, running=len(self.busy)), at_s=self.now_s)
        assert is_gentle(look) == bool(self.busy)
        outcome = step(wanted, self.retired, look)
        assert outcome.workers >= sum(not self.holds_nothing(name) for name in self.busy)
        self.retired, self.desired = outcome.retired, outcome.workers
        self.listed = {each.worker_id for each in outcome.retired}
        return outcome

    def follow(self) -> None:
        """What the platform does; no worker that holds something is ever stopped."""
        for name in [name for name in self.busy if self.holds_nothing(name)]:
            if len(self.busy) > self.desired:
                del self.busy[name]
        while len(self.busy) < self.desired:
            self.born += 1
            self.busy[f"w{self.born}"] = 0
        self.now_s += 10

    def work(self, loads: list[int]) -> None:
        """Workers on the list only finish; the others take what comes."""
        for name, load in zip(list(self.busy), loads, strict=False):
            self.busy[name] = max(0, self.busy[name] - 1) if name in self.listed else load


WANTED = st.integers(0, 8)
LOADS = st.lists(st.integers(0, 4), min_size=8, max_size=16)


@given(start=st.integers(1, 8), steps=st.lists(st.tuples(WANTED, LOADS), min_size=1, max_size=25))
def test_whatever_is_wanted_the_count_never_falls_below_the_workers_that_hold_something(
    start: int, steps: list[tuple[int, list[int]]]
) -> None:
    """Else ECS would have to stop one of them, or block every deployment. Nothing new starts beside retired ones."""
    world = World(start)
    for wanted, loads in steps:
        before, count = world.retired, world.desired
        world.work(loads)
        outcome = world.tick(wanted)
        assert outcome.workers >= wanted
        if outcome.workers > count:
            assert outcome.waiting == 0, "something new was started while retired workers were there to take back"
        kept = {each.worker_id: each for each in before}
        assert all(each.left_at_s is None or world.holds_nothing(each.worker_id) for each in outcome.retired)
        assert all(kept[name].since_s == each.since_s for each in outcome.retired if (name := each.worker_id) in kept)
        world.follow()


@given(start=st.integers(1, 8), wanted=WANTED, loads=LOADS)
def test_with_a_constant_need_the_count_gets_there_and_the_list_gets_empty(
    start: int, wanted: int, loads: list[int]
) -> None:
    world = World(start)
    world.work(loads)
    for _ in range(12):
        world.tick(wanted)
        world.follow()
        world.work(loads)
    assert world.desired == wanted
    assert len(world.busy) == wanted
    assert world.tick(wanted).retired == ()
