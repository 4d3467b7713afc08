"""CloudWatch alarms that pools are held by: asked once a minute for all pools together, and remembered between."""

from collections.abc import Mapping, Sequence

from tidegate.core.absence import Absence
from tidegate.core.observation import Alarm
from tidegate.ports import AlarmReader

__all__ = ["MinuteAlarms"]


class MinuteAlarms:
    """The latest state of every alarm. What can't be read keeps the state it had, with the time that speaks of it:
    whether that is still to be believed is for the core to judge.
    """

    def __init__(self, reader: AlarmReader, names: Sequence[str]) -> None:
        self._reader = reader
        self.wanted = tuple(dict.fromkeys(names))
        """Every alarm that is asked for, each once."""
        self._known: Mapping[str, Alarm] = {}

    def of(self, names: Sequence[str]) -> tuple[Alarm, ...]:
        """What is known of these now."""
        return tuple(self._known.get(name, _unread(name)) for name in names)

    def refresh(self, now_s: float) -> tuple[str, ...]:
        """Ask once; what went wrong, each trouble once."""
        if not self.wanted:
            return ()
        found = self._reader.states(self.wanted, now_s)
        self._known = {name: self._kept(alarm) for name, alarm in found.items()}
        return tuple(dict.fromkeys(alarm.detail for alarm in found.values() if alarm.state is None))

    def _kept(self, found: Alarm) -> Alarm:
        """An alarm that is gone is gone; one that could not be asked about has the state that it had."""
        known = self._known.get(found.name)
        failed = found.state is None and found.absence is not Absence.GONE
        return known if failed and known is not None and known.state is not None else found


def _unread(name: str) -> Alarm:
    return Alarm(name, None, 0.0, Absence.MISSING, "CloudWatch not asked yet")
