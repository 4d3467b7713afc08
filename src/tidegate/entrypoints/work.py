"""`tidegate work`: a worker from the command line. Its options are a table, one row for each setting of a worker."""

import inspect
from pathlib import Path
from typing import Annotated, Any, Final

import typer

__all__ = ["work"]

_OPTIONS: Final[dict[str, tuple[type, str]]] = {
    "queue": (str, "The queue's URL, ARN or name; several: orders=3, mail=1."),
    "pool": (str, "The pool to report to; left out: the queue's name."),
    "id": (str, "The worker's name in reports; left out: made up."),
    "slots": (str, "Messages at a time, or auto(min=2, max=32, target_wait=50ms); left out: 1."),
    "poll_wait": (str, "Long poll, whole seconds from 1 to 20; left out: 20s, or half the grace."),
    "visibility_timeout": (str, "Lease, whole seconds from 1s to 12h; left out: the queue's own."),
    "grace": (str, "Time for handlers to end after SIGTERM; left out: the stop timeout less 5s."),
    "stop_timeout": (str, "When the platform kills; left out: ECS_CONTAINER_STOP_TIMEOUT, or 30s."),
    "heartbeat": (str, "How often to report; left out: 10s."),
    "table": (str, "DynamoDB table to report to."),
    "state_dir": (Path, "Directory to report to, on one machine."),
    "region": (str, "AWS Region; a queue's URL or ARN may name its own."),
    "retry_base": (str, "Longest wait of a message that failed once; doubled each time; left out: 1s."),
    "retry_cap": (str, "Longest wait of a message that failed, however often; left out: 5m."),
    "retry_budget": (float, "Retries of all workers per completed message; left out: no limit."),
    "retry_floor": (float, "Retries a second besides, of all workers together; left out: 1."),
    "max_receives": (int, "Receives before a dead letter; left out: as the redrive policy says."),
    "start_delay": (str, "Longest random delay before the first poll; left out: none."),
    "health_port": (int, "Port of /healthz and /readyz; left out: none."),
    "health_file": (Path, "File for `tidegate health`; left out: none."),
    "stuck_after": (str, "Unhealthy after so long without an end; left out: by what handlers take."),
    "leave_when_stuck": (bool, "Drain and end when stuck; left out: when --stuck-after is given."),
    "dead_letter_queue": (str, "Where rejected messages go; left out: what the redrive policy names."),
    "class_slots": (str, 'Most slots of job classes, such as "bulk=2, mail=1".'),
    "fleet_slots": (int, "Most slots of all the pool's workers together; left out: no limit."),
    "class_fleet_slots": (str, 'Most slots of job classes in all workers, such as "bulk=2, *=5".'),
    "batch_size": (int, "Most messages of a batch handler's call; left out: 10."),
    "prefetch": (int, "Messages that may wait in hand; left out: some for quick handlers."),
    "executor": (str, "thread, or process for handlers that keep the CPU busy."),
    "max_extensions": (int, "How often a lease is extended; left out: until SQS ends it after 12h."),
    "progress_timeout": (str, "Longest silence of a handler whose lease is kept; left out: any."),
    "protect": (bool, "Have the platform spare this worker; left out: yes."),
    "notices": (bool, "Heed EC2's notices to its instances; left out: yes."),
    "asg": (str, "The Auto Scaling group that this instance is in: it is protected in scale-in."),
    "lifecycle_hook": (str, "That group's hook on termination: kept while handlers finish, then completed."),
    "log_level": (str, "debug, info, warning or error; left out: info."),
}
"""Each setting's type on the command line, and its help. What they mean is `WorkerSettings`' to say and to check."""

Target = Annotated[str, typer.Argument(metavar="MODULE:FUNCTION", help="What to call with each message.")]


def work(handler: str, **options: Any) -> None:
    """Run a worker until SIGTERM or Ctrl-C; then it finishes what it holds.

    Every option can also be a variable, such as TIDEGATE_WORKER_POLL_WAIT; the option wins.
    """
    from tidegate.entrypoints.worker import run_worker

    run_worker(handler, **options)


def _option(name: str, kind: type, text: str) -> inspect.Parameter:
    """None, where the option is left out: then the setting has its say."""
    flag = f"--{name.replace('_', '-')}"
    written = f"{flag}/--no-{flag[2:]}" if kind is bool else flag
    annotation = Annotated[kind | None, typer.Option(written, help=text)]  # type: ignore[valid-type]  # from the table
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _as_typer_reads_it() -> inspect.Signature:
    handler = inspect.Parameter("handler", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Target)
    return inspect.Signature([handler, *(_option(name, *rest) for name, rest in _OPTIONS.items())])


# typer makes a command of a function's signature and type hints: of the table, then, and not of **options.
work.__signature__ = _as_typer_reads_it()  # type: ignore[attr-defined]
work.__annotations__ = {each.name: each.annotation for each in work.__signature__.parameters.values()}  # type: ignore[attr-defined]
