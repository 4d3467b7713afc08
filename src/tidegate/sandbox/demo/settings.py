"""What the demo can be told, checked before anything is started."""

from dataclasses import dataclass
from pathlib import Path

from tidegate.errors import ConfigError, Fault

__all__ = ["DemoSettings", "check"]

LONGEST_S = 86_400.0


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """Times in seconds. The defaults show a spike within 90 s on two cores.

    `length_s` None is the trace's own length, or 90 s. `visibility_s` is the queue's lease; the demo goes on for
    `drain_limit_s` at most after the last message was sent. `record` is where the controller records its decisions.
    """

    length_s: float | None = None
    trace: Path | None = None
    speed: float = 1.0
    target_wait_s: float = 10.0
    service_time_s: float = 0.3
    capacity: str = "ecs"
    min_workers: int = 1
    max_workers: int = 20
    slots: int = 4
    tick_s: float = 2.0
    heartbeat_s: float = 2.0
    poll_wait_s: int = 5
    hold_s: float = 12.0
    visibility_s: int = 10
    start_up_s: float = 5.0
    stop_timeout_s: float = 30.0
    metric_lag_s: float = 60.0
    drain_limit_s: float = 300.0
    seed: int = 1
    record: Path | None = None


def check(settings: DemoSettings) -> None:
    """Raises ConfigError with every fault: what the command line lets through and the demo can't run with."""
    faults = [
        Fault(name, value, "must be more than 0", f"write a number above 0, for example {example}")
        for name, value, example in (
            ("--for", 90 if settings.length_s is None else settings.length_s, 90),
            ("--speed", settings.speed, 20),
            ("--target-wait", settings.target_wait_s, "10s"),
            ("--service-time", settings.service_time_s, "300ms"),
        )
        if not 0 < value < float("inf")
    ]
    if settings.length_s is not None and settings.length_s > LONGEST_S:
        faults.append(Fault("--for", settings.length_s, "is more than a day", "write 24h or less"))
    if settings.trace is None and settings.speed > 0 and settings.speed != 1:
        faults.append(Fault("--speed", settings.speed, "there is no trace to speed up", "give --trace FILE too"))
    if settings.capacity not in ("ecs", "asg"):
        faults.append(Fault("--capacity", settings.capacity, "no such platform", "write ecs or asg"))
    if settings.record is not None and not settings.record.resolve().parent.is_dir():
        fix = "create that directory or name another file"
        faults.append(Fault("--record", str(settings.record), "its directory does not exist", fix))
    if faults:
        raise ConfigError(faults)
