"""One tick of one pool: load, observe, decide, save, act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

from tidegate.controller.observe import PoolSources, observe
from tidegate.controller.shadow import ShadowStore
from tidegate.core.decide import decide as core_decide
from tidegate.core.model import Decision, Pool, PoolState
from tidegate.core.observation import Capacity, Observation, Reading
from tidegate.errors import StateConflict, TidegateError
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


@dataclass(frozen=True, slots=True)
class _Decided:
    before: PoolState
    after: PoolState
    version: int
    seen: Capacity
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
        the desired count meanwhile, StateUnreadable, and the CloudError tree for state and capacity.
        """
        retrying = Retrying(retry=retry_if_exception_type(StateConflict), stop=stop_after_attempt(_TRIES), reraise=True)
        decided = retrying(self._decide_and_save, readings)
        return Ticked(decided.decision, wrote=self._act(decided))

    def _decide_and_save(self, readings: Mapping[Metric, Reading]) -> _Decided:
        # Loaded before observing: whoever saves (and then acts) after this is found out by the version at the save, so
        # no decision joins a newer state with an older look at the platform.
        stored = self.store.load(self.name)
        observation = observe(self.sources, readings, self.clock)
        pool = self.sources.settings_at(observation.now_s)
        decision, after = self.decide(pool, stored.state, observation)
        version = self.store.save(self.name, after, stored.version)
        return _Decided(stored.state, after, version, observation.capacity, decision)

    def _act(self, decided: _Decided) -> bool:
        desired = decided.decision.desired
        if desired == decided.seen.desired:
            return False
        if self.dry_run:
            self._take_back(decided)
            return False
        try:
            return self.sources.capacity.set_desired(desired, decided.seen)
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
        state = replace(decided.after, desired=decided.before.desired, raises=raises)
        self.store.save(self.name, state, decided.version)
