"""One tick of one pool: load, observe, decide, save, act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidegate.controller.conflicts import again_on_conflict
from tidegate.controller.observe import PoolSources, observe
from tidegate.controller.shadow import ShadowStore
from tidegate.core.condition import Condition, condition_of
from tidegate.core.decide import decide as core_decide
from tidegate.core.decision import Decision
from tidegate.core.directive import must_tell
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation, Reading
from tidegate.core.retire.choice import leaving_hosts, not_left
from tidegate.errors import TidegateError
from tidegate.ports import Clock, Metric, StateStore

__all__ = ["Decide", "PoolTick", "Ticked"]

Decide = Callable[[Pool, PoolState, Observation], tuple[Decision, PoolState]]

_TRIES = 3
"""A conflict: an operator or a second controller saved in the same second. Three in a row are no accident."""


@dataclass(frozen=True, slots=True)
class Ticked:
    """What one tick came to. `wrote`: the desired count was changed on the platform."""

    decision: Decision
    wrote: bool
    was: Condition = Condition.NORMAL
    """The pool's state before this tick."""


@dataclass(frozen=True, slots=True)
class _Decided:
    before: PoolState
    after: PoolState
    version: int
    seen: Observation
    decision: Decision


@dataclass(frozen=True, slots=True)
class PoolTick:
    """One pool with all that its ticks need. Over a `ShadowStore` it is a dry run: it decides but sets nothing."""

    sources: PoolSources
    store: StateStore
    clock: Clock
    decide: Decide = core_decide

    @property
    def name(self) -> str:
        """The pool's."""
        return self.sources.name

    @property
    def dry_run(self) -> bool:
        """Told by the store, so that no dry run can save by mistake and no real one forget."""
        return isinstance(self.store, ShadowStore)

    def run(self, readings: Mapping[Metric, Reading]) -> Ticked:
        """Decide and act once.

        The state is saved *before* acting. Of two controllers that decided from the same version only one can save it,
        and only that one acts; the other way round both would have acted before one of them found out.

        Raises StateConflict when the state changed under it three times running, CapacityChanged when somebody else set
        the desired count meanwhile, StateUnreadable, and the CloudError tree for state, capacity and directive. When
        only the directive could not be written the count has been set all the same.
        """
        decided = again_on_conflict(_TRIES, lambda: self._decide_and_save(readings))
        untold = self._tell(decided)
        ticked = Ticked(decided.decision, self._act(decided), condition_of(decided.before.pressure))
        if untold is not None:
            raise untold
        return ticked

    def _decide_and_save(self, readings: Mapping[Metric, Reading]) -> _Decided:
        # Loaded before observing: whoever saves (and then acts) after this is found out by the version at the save, so
        # no decision joins a newer state with an older look at the platform.
        stored = self.store.load(self.name)
        observation = observe(self.sources, readings, self.clock)
        pool = self.sources.settings_at(observation.now_s)
        decision, after = self.decide(pool, stored.state, observation)
        version = self.store.save(self.name, after, stored.version)
        return _Decided(stored.state, after, version, observation, decision)

    def _tell(self, decided: _Decided) -> TidegateError | None:
        """Tell the workers who retires and who is taken back, before anything new is started; the error if that failed.

        What fails is told again: a directive is written at each tick while it says something, and for a while after.
        """
        now_s, directive = decided.decision.at_s, decided.after.directive
        if self.dry_run or self.sources.directives is None or not must_tell(directive, now_s):
            return None
        try:
            self.sources.directives.direct(self.name, directive)
        except TidegateError as error:
            return error
        return None

    def _act(self, decided: _Decided) -> bool:
        desired, seen = decided.decision.desired, decided.seen.capacity
        if desired == seen.desired:
            return False
        if self.dry_run:
            self._take_back(decided)
            return False
        try:
            leaving = leaving_hosts(decided.after.retired, decided.seen.fleet, decided.decision.at_s)
            return self.sources.capacity.set_desired(desired, seen, leaving)
        except TidegateError as error:
            try:
                self._take_back(decided)
            except TidegateError as second:
                error.add_note(f"the state still holds what was to be asked for: {second}")
            raise

    def _take_back(self, decided: _Decided) -> None:
        """The state holds what was to be asked for, and it was not: a start-up would be timed from a raise never made.

        Should a call that got no answer have been carried out after all, the next tick finds another desired count than
        the state holds and takes it as it is.
        """
        raises = tuple(made for made in decided.after.raises if made[0] < decided.decision.at_s)
        retired = not_left(decided.after.retired, decided.decision.at_s)
        state = replace(decided.after, desired=decided.before.desired, raises=raises, retired=retired)
        self.store.save(self.name, state, decided.version)
