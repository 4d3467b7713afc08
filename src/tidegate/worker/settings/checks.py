"""What must hold between a worker's settings, and variables that look like settings and are none."""

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidegate.core.notation.durations import format_duration
from tidegate.core.notation.queues import QUEUE_FIX, parse_queue
from tidegate.errors import Fault
from tidegate.worker.fleet.limits import ANY_CLASS

if TYPE_CHECKING:
    from tidegate.worker.settings.worker_settings import WorkerSettings

__all__ = ["PREFIX", "faults_together", "nearest", "unknown_variables"]

PREFIX: Final = "TIDEGATE_WORKER_"

_LONGEST_NAME: Final = 200
"""Bytes, so that a name with what is put around it fits into a file's name (255) and a key of the table (1024)."""


def unknown_variables(known: Mapping[str, object], environ: Mapping[str, str]) -> list[Fault]:
    """A fault for each TIDEGATE_WORKER_ variable that is no setting; what it holds may be a secret and is not shown."""
    names = {variable: variable[len(PREFIX) :].lower() for variable in environ if variable.upper().startswith(PREFIX)}
    return [
        Fault(variable, None, "is set, but there is no such setting", nearest(name, known, PREFIX))
        for variable, name in sorted(names.items())
        if name not in known and environ[variable].strip()
    ]


def nearest(name: str, known: Mapping[str, object], prefix: str = "") -> str:
    """What to write instead of a name that is no setting."""
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {prefix}{near[0].upper() if prefix else near[0]}?"
    return f"choose from {', '.join(known)}"


def faults_together(settings: "WorkerSettings") -> list[Fault]:
    """Every fault between settings that are each right by themselves."""
    return [
        *_faults_of_names(settings),
        *_faults_of_places(settings),
        *_faults_of_times(settings),
        *_faults_of_slots(settings),
        *_faults_of_the_fleets(settings),
    ]


def _faults_of_names(settings: "WorkerSettings") -> list[Fault]:
    queues = [("queue", name) for name in settings.shares]
    if settings.dead_letter_queue is not None:
        queues.append(("dead_letter_queue", settings.dead_letter_queue))
    faults = [Fault(setting, name, "is no queue", QUEUE_FIX) for setting, name in queues if parse_queue(name) is None]
    fix = f"write up to {_LONGEST_NAME} characters, without control characters"
    names = [("pool", settings.pool), ("id", settings.id)]
    faults += [Fault(setting, name, "is no name", fix) for setting, name in names if not _is_name(name)]
    return faults


def _is_name(text: str) -> bool:
    return text.isprintable() and len(text.encode()) <= _LONGEST_NAME


def _faults_of_places(settings: "WorkerSettings") -> list[Fault]:
    faults = []
    if settings.lifecycle_hook is not None and (settings.asg is None or not settings.notices):
        problem = "nobody would know when to keep and to complete it"
        fix = "set asg to the group that has this hook, and leave notices on"
        faults.append(Fault("lifecycle_hook", settings.lifecycle_hook, problem, fix))
    if settings.health_file is not None and (problem := _no_file(settings.health_file)):
        fix = "name a file in a directory that is there"
        faults.append(Fault("health_file", str(settings.health_file), problem, fix))
    if settings.table is not None and settings.state_dir is not None:
        fix = "give one of them"
        faults.append(Fault("state_dir", str(settings.state_dir), f"table = {settings.table!r} is given too", fix))
    if settings.dead_letter_queue is not None and settings.dead_letter_queue in settings.shares:
        fix = "name the queue that rejected messages go to"
        faults.append(Fault("dead_letter_queue", settings.dead_letter_queue, "is the queue that is worked on", fix))
    return faults


def _no_file(path: Path) -> str:
    """Why this can't be a file; "" when it can."""
    try:
        return "is a directory" if path.is_dir() else ""
    except OSError as error:
        return f"can't be: {(error.strerror or type(error).__name__).lower()}"


def _faults_of_slots(settings: "WorkerSettings") -> list[Fault]:
    most = settings.most_slots
    if ANY_CLASS in settings.class_limits:
        fix = "name the classes; those that are not named have all slots but one"
        return [Fault("class_slots", settings.class_slots, f"{ANY_CLASS} stands for no class here", fix)]
    return [
        Fault("class_slots", settings.class_slots, f"{name} may have {number:g} of {most} slots", f"write 1 to {most}")
        for name, number in settings.class_limits.items()
        if number > most
    ]


def _faults_of_the_fleets(settings: "WorkerSettings") -> list[Fault]:
    faults = _faults_of_fleet_slots(settings)
    if settings.retry_budget is None and "retry_floor" in settings.model_fields_set:
        fix = "set retry_budget too, 0.1 for example, or leave this out"
        faults.append(
            Fault("retry_floor", settings.retry_floor, "there is no budget that it could be the floor of", fix)
        )
    if settings.table is None and settings.state_dir is None:
        problem, fix = "workers agree on it in the fleet's table, and there is none", "set table, or state_dir"
        given = {name: getattr(settings, name) for name in ("fleet_slots", "class_fleet_slots", "retry_budget")}
        faults += [Fault(name, value, problem, fix) for name, value in given.items() if value not in (None, "")]
    return faults


def _faults_of_fleet_slots(settings: "WorkerSettings") -> list[Fault]:
    most = settings.fleet_slots
    fix = f"write 1 to {most}, or raise fleet_slots"
    return [
        Fault(
            "class_fleet_slots",
            settings.class_fleet_slots,
            f"{name} may have {number} of fleet_slots = {most}",
            fix,
        )
        for name, number in settings.fleet_limits.classes.items()
        if most is not None and number > most
    ]


def _faults_of_times(settings: "WorkerSettings") -> list[Fault]:
    faults = []
    if settings.retry_base > settings.retry_cap:
        problem = f"more than retry_cap = {format_duration(settings.retry_cap)}"
        faults.append(Fault("retry_base", settings.retry_base, problem, "lower it, or raise retry_cap"))
    if settings.grace is not None and settings.grace >= settings.stop_timeout:
        stop = format_duration(settings.stop_timeout)
        problem = f"reaches the stop timeout of {stop}, at which the platform kills what has not ended"
        faults.append(Fault("grace", settings.grace, problem, "shorten it, or set stop_timeout to the platform's own"))
    if settings.poll_wait is not None and settings.poll_wait > settings.grace_s:
        grace = format_duration(settings.grace_s)
        problem = f"longer than the grace of {grace}, so a worker told to leave could not finish its poll"
        faults.append(Fault("poll_wait", settings.poll_wait, problem, "shorten it, or raise grace"))
    return faults
