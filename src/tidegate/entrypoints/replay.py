"""`tidegate replay`: decide again what was recorded, with the same settings or with others."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.entrypoints.show import say
from tidegate.errors import ConfigError, Fault

if TYPE_CHECKING:
    from tidegate.core.decision import Decision
    from tidegate.core.replay import Difference, Instead
    from tidegate.core.stored.recording import Record

__all__ = ["EXIT_DIFFERENT", "replay"]

EXIT_DIFFERENT = 1


def replay(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="Recordings, the older one first.")],
    policy: Annotated[str | None, typer.Option(help="Decide by this policy instead; as --set policy=…")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="With this setting instead, such as target_wait=30s; repeat."),
    ] = None,
    pool: Annotated[str | None, typer.Option(help="This pool only.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON: with other settings a line per tick.")] = False,
) -> None:
    """Decide a recording again, asking nothing of AWS: "identical", or the first difference and exit code 1.

    With --policy or --set it shows what would have been asked for under those settings. Queue and workers stay as they
    were recorded: what would have become of them, `tidegate backtest` simulates.
    """
    changes = [*(settings or ()), *([] if policy is None else [f"policy={policy}"])]
    records = _of_pool(files, pool)
    if changes:
        _show_what_if(records, changes, as_json=as_json)
    elif not _is_identical(records, as_json=as_json):
        raise typer.Exit(EXIT_DIFFERENT)


def _of_pool(files: Sequence[Path], pool: str | None) -> "Iterator[Record]":
    """Raises ConfigError, at the end, when no record was of this pool."""
    from tidegate.stores.recording import read_recording

    others: set[str] = set()
    found = False
    for record in chain.from_iterable(map(read_recording, files)):
        if pool in (None, record.pool.name):
            found = True
            yield record
        else:
            others.add(record.pool.name)
    if not found:
        raise ConfigError(
            [Fault("--pool", pool, "is not in the recording", f"name one of {', '.join(sorted(others))}")]
        )


def _is_identical(records: "Iterator[Record]", *, as_json: bool) -> bool:
    from tidegate.core.replay import first_difference, recompute
    from tidegate.entrypoints.replay_table import counted

    count = 0
    for count, record in enumerate(records, start=1):
        again = recompute(record)
        different = first_difference(record.decision, again)
        if different is not None:
            say(_difference_json(count, record, different) if as_json else _told(count, record, again, different))
            return False
    say(json.dumps({"identical": True, "decisions": count}) if as_json else f"identical ({counted(count)})")
    return True


def _told(count: int, record: "Record", again: "Decision", different: "Difference") -> str:
    from tidegate.entrypoints.replay_table import clock_time

    return (
        f"decision {count:,} differs: pool {record.pool.name} at {clock_time(record.decision.at_s)}, "
        f"step {different.step}, {different.value}: "
        f"recorded {different.recorded!r}, now {different.recomputed!r}\n"
        f"  recorded: {record.decision.sentence}\n"
        f"  now:      {again.sentence}"
    )


def _difference_json(count: int, record: "Record", different: "Difference") -> str:
    told = {"decision": count, "pool": record.pool.name, "at_s": record.decision.at_s, **asdict(different)}
    return json.dumps({"identical": False, "first_difference": told})


def _show_what_if(records: "Iterator[Record]", changes: list[str], *, as_json: bool) -> None:
    from tidegate.config.altered import altered
    from tidegate.core.replay import what_if

    ticks = list(what_if(records, altered(changes)))
    if as_json:
        for tick in ticks:
            say(json.dumps(_tick_json(tick)))
        return
    from tidegate.entrypoints.replay_table import what_if_lines

    for line in what_if_lines(ticks, changes):
        say(line)


def _tick_json(tick: "Instead") -> dict[str, object]:
    return {
        "pool": tick.recorded.pool,
        "at_s": tick.recorded.at_s,
        "span_s": tick.span_s,
        "recorded": tick.recorded.desired,
        "instead": tick.instead.desired,
        "sentence": tick.instead.sentence,
    }
