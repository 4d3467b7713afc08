"""What to do about a setting that is not known: the nearest name, or the table where it belongs."""

from difflib import get_close_matches

from tidegate.config.findings import HIDDEN, At, Finding
from tidegate.config.models import Settings
from tidegate.config.pool import PoolSettings
from tidegate.config.setting import settings_of
from tidegate.config.shape import spot

__all__ = ["meant", "unknown"]


def unknown(at: At) -> Finding:
    """A finding about a setting of the file that there is none of. Its value may be a secret: it is never shown."""
    return Finding(at, HIDDEN, "is not a known setting", _fix(str(at[-1]), at[:-1]))


def meant(name: str, table: At) -> At | None:
    """The setting that was likely meant by `name` in the table at `table`; NAME stands for a pool's."""
    here = spot(table)
    if here is Settings and name in settings_of(PoolSettings):
        return ("pools", "NAME", name)
    if here is not Settings and name in settings_of(Settings):
        return (name,)
    near = get_close_matches(name.lower(), settings_of(here), n=1) if isinstance(here, type) else []
    return (*table, near[0]) if near else None


def _fix(name: str, table: At) -> str:
    likely = meant(name, table)
    if likely is None:
        here = spot(table)
        return f"remove it; known here: {', '.join(settings_of(here))}" if isinstance(here, type) else "remove it"
    if likely[:-1] == table:
        return f"did you mean {likely[-1]}?"
    if len(likely) == 1:
        return "move it to the top of the file, before the first [table]"
    return f"move it into a pool's table, below [{'.'.join(map(str, likely[:-1]))}]"
