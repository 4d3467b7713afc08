"""One exception tree. Every message is one line: what happened, to what, and how to mend it.

TidegateError
├── ConfigError            the settings are wrong (all their faults at once)
├── CloudError             AWS refused or could not be asked
│   ├── Throttled          too many calls; it passes by itself
│   ├── Blocked            something else that AWS does has to end first
│   ├── Denied             credentials or permissions
│   ├── Gone               the queue, service, group, table or metric does not exist
│   ├── Invalid            AWS calls the request wrong
│   └── Unreachable        no answer: endpoint, network, DNS or an AWS-side failure
├── CapacityChanged        somebody else set the desired count since it was read
├── Saturated              a pool of work has as many items waiting as it may
├── StateConflict          somebody else saved the pool's state since it was read
├── StateUnreadable        the stored state has another schema or is damaged
├── Wedged                 a worker's handlers do not end any more
└── RecordingUnreadable    a file can't be replayed
"""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "Blocked",
    "CapacityChanged",
    "CloudError",
    "ConfigError",
    "Denied",
    "Fault",
    "Gone",
    "Invalid",
    "RecordingUnreadable",
    "Saturated",
    "StateConflict",
    "StateUnreadable",
    "Throttled",
    "TidegateError",
    "Unreachable",
    "Wedged",
]


class TidegateError(Exception):
    """Base of everything that tidegate raises on purpose; `str()` of it is one clear line."""

    exit_status = 2
    """What a program ends with that can't go on for it: 2, the same would happen again; 1, a fresh process helps."""


def _printable(text: str) -> str:
    """As Python writes what is no character to look at: a line's end, a terminal's command, a change of direction."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the settings: where, what stands there, and what to write instead.

    Names that people give (files, pools, job classes) may hold anything; as text it is one line that prints as it is.
    """

    setting: str
    value: object
    problem: str
    fix: str

    def __str__(self) -> str:
        return _printable(f"{self.setting} = {self.value!r}: {self.problem}; {self.fix}")


class ConfigError(TidegateError):
    """The settings are wrong. `faults` holds every fault found, not only the first."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class CloudError(TidegateError):
    """AWS refused a call or did not answer it.

    `operation` is the API call ("sqs:GetQueueAttributes"), `resource` what it was about, `detail` AWS's own
    words, `fix` what the reader can do.
    """

    kind = "failed"
    default_fix = "see the AWS error for the cause"

    def __init__(self, operation: str, resource: str, detail: str, fix: str = "") -> None:
        self.operation = operation
        self.resource = resource
        self.detail = detail
        self.fix = fix or self.default_fix
        super().__init__(f"{operation} on {resource} {self.kind}: {detail}; {self.fix}")


class Throttled(CloudError):
    """AWS asked to slow down. Controller and worker try again by themselves."""

    kind = "was throttled"
    default_fix = (
        "tidegate tries again by itself; if it lasts, find out who calls so often, or ask AWS for a higher rate"
    )


class Blocked(CloudError):
    """AWS can't do it while something else is under way (a deployment, say)."""

    kind = "is blocked for now"
    default_fix = "tidegate asks again; if it lasts, find out what holds the deployment up"


class Denied(CloudError):
    """Credentials are missing, expired or lack the permission."""

    kind = "was denied"
    default_fix = "allow this action on this resource to the role that tidegate runs as"


class Gone(CloudError):
    """The resource does not exist (or no longer, or not in this Region and account)."""

    kind = "found nothing"
    default_fix = "check its name, Region and account"


class Invalid(CloudError):
    """AWS calls the request itself wrong."""

    kind = "was refused as invalid"


class Unreachable(CloudError):
    """No answer within the time allowed, or a failure on AWS's side."""

    kind = "got no answer"
    default_fix = "check the endpoint, the network and the Region"


class CapacityChanged(TidegateError):
    """Somebody else changed the desired count between reading and writing it. The next tick decides anew."""

    def __init__(self, target: str, seen: int, found: int) -> None:
        self.target, self.seen, self.found = target, seen, found
        super().__init__(
            f"desired count of {target} went from {seen} to {found} while deciding; "
            "nothing was written, the next tick decides anew (who else sets it?)"
        )


class Saturated(TidegateError):
    """An `AsyncPool` holds as many waiting items as it may. Nothing was taken; the caller decides what gives way."""

    def __init__(self, most_waiting: int, busy: int) -> None:
        self.most_waiting, self.busy = most_waiting, busy
        super().__init__(
            f"{most_waiting} items wait already, as many as may, and {busy} are worked on; "
            "submit more slowly, shed the load, or raise most_waiting"
        )


class StateConflict(TidegateError):
    """Somebody else saved this pool's state since it was read. Load it again and decide anew."""

    def __init__(self, pool: str, expected_version: int) -> None:
        self.pool, self.expected_version = pool, expected_version
        super().__init__(f"state of pool {pool} is no longer at version {expected_version}; load it again")


class StateUnreadable(TidegateError):
    """The stored state of a pool has another schema version or is damaged. It is never guessed at."""

    def __init__(self, what: str, detail: str) -> None:
        self.what, self.detail = what, detail
        super().__init__(
            f"{what} can't be read: {detail}; "
            "run the tidegate version that wrote it, or delete it to start afresh (estimates are learned again)"
        )


class RecordingUnreadable(TidegateError):
    """A file can't be replayed: it is not there, not tidegate's, of another schema, or cut off."""

    def __init__(self, file: str, problem: str, fix: str) -> None:
        self.file, self.problem, self.fix = file, problem, fix
        super().__init__(f"recording {file} {problem}; {fix}")


class Wedged(TidegateError):
    """A worker's handlers do not end any more; threads can't be ended from outside, so its process has to."""

    exit_status = 1

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(f"the worker is wedged: {what}; it left, for a fresh process to take its place")
