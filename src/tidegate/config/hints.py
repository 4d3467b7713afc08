"""What to do about a setting that is not known: the nearest name, or the table where it belongs."""

from difflib import get_close_matches

from tidegate.config.findings import HIDDEN, At, Finding
from tidegate.config.models import PoolSettings, Settings
from tidegate.config.shape import fields, spot

__all__ = ["unknown"]


def unknown(at: At, name: str, table: At) -> Finding:
    """A finding about `name`, which the table at `table` does not have. Its value may be a secret: it is never shown."""
    return Finding(at, HIDDEN, "is not a known setting", _fix(name, table))


def _fix(name: str, table: At) -> str:
    here = spot(table)
    known = list(fields(here)) if isinstance(here, type) else []
    if here is Settings and name in fields(PoolSettings):
        return f"move it into a pool's table: [pools.NAME] {name} = …"
    if here is not Settings and name in fields(Settings):
        return "move it to the top of the file, before the first [table]"
    if near := get_close_matches(name.lower(), known, n=1, cutoff=0.6):
        return f"did you mean {near[0]}?"
    return f"remove it; known here: {', '.join(known)}" if known else "remove it"
