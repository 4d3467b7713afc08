"""What says that more workers would not help, and what a known curve says against it or by itself."""

from typing import Final

from tidegate.core.downstream.dependencies import signs_of
from tidegate.core.downstream.levels import busy, full
from tidegate.core.downstream.state import GuardMemory, Sign
from tidegate.core.downstream.step_effect import compare, text
from tidegate.core.downstream.stretch import Effect
from tidegate.core.downstream.worth import Worth
from tidegate.core.model import Pool
from tidegate.core.observation import Alarm, Observation

__all__ = ["by_curve", "effect_of", "known_alarms", "strongest"]

ALARM_MAX_AGE_S = 300.0
"""An alarm's state is read once a minute; one that could not be read again for so long is not known."""
FILLING = 1.2
"""With so many times the slots in use now that were on average, they are still being taken into use."""
_UNKNOWN: Final = Effect.UNKNOWN
_NO_GAIN: Final = Effect.NO_GAIN
_STRENGTH = (Sign.ALARM, Sign.FAILING, Sign.NO_GAIN, Sign.SLOW)


def known_alarms(seen: Observation) -> list[Alarm]:
    """Those that were read lately."""
    return [alarm for alarm in seen.alarms if seen.now_s - alarm.taken_at_s <= ALARM_MAX_AGE_S]


def effect_of(memory: GuardMemory, it: Worth, busy_now: float) -> Effect:
    """What the last step out bought. Where there is a curve, it outranks one comparison, and so do idle slots.

    With those the arrivals decide what is completed, and long runs are left over from when there were none. But slots
    that were idle because their workers had only just come say nothing, nor is it known yet what those bought.
    """
    if memory.level is None:
        return _UNKNOWN
    effect = compare(memory.before, memory.level)
    if effect is not _NO_GAIN or it.slots is None or (full(memory.level) and not it.buys):
        return effect
    return Effect.GAIN if it.buys or busy_now <= FILLING * busy(memory.level) else _UNKNOWN


def strongest(seen: Observation, memory: GuardMemory, effect: Effect) -> tuple[Sign, str] | None:
    """The strongest sign, with its reason."""
    alarms = known_alarms(seen) if seen.alarms else []
    signs = [(Sign.ALARM, f"alarm {alarm.name} is in ALARM") for alarm in alarms if alarm.state == "ALARM"]
    if memory.dependencies:
        signs += signs_of(memory.dependencies)
    if memory.before is not None and memory.level is not None and effect is _NO_GAIN:
        signs.append((Sign.NO_GAIN, text(memory.before, memory.level)))
    return min(signs, key=lambda sign: _STRENGTH.index(sign[0])) if signs else None


def by_curve(
    sign: tuple[Sign, str] | None, memory: GuardMemory, it: Worth, best: int | None, need: int, running: int, pool: Pool
) -> tuple[Sign, str] | None:
    """The sign, with what the curve says.

    Slow calls are none while more slots are known to complete more, nor a first one while no more workers are needed:
    they are left over from a burst. More than completes most is one by itself.
    """
    if sign is not None and sign[0] is Sign.SLOW and (it.more or (memory.hold is None and need <= running)):
        sign = None
    if sign is not None or best is None:
        return sign
    beyond = need > best if memory.hold is None else memory.hold.base > best and pool.step_back
    return (Sign.NO_GAIN, f"{it.slots:.0f} slots in use complete more than {it.knee:.0f}") if beyond else None
