"""The demo's outcome in numbers: the keys of `--json`."""

import signal
from dataclasses import dataclass, fields

from tidegate.sandbox.agent import Agent
from tidegate.sandbox.demo.cast import Cast
from tidegate.sandbox.demo.ledger import MessageCounts, Messages, read_journals, reckon
from tidegate.sandbox.demo.logs import DecisionLog, errors_in
from tidegate.sandbox.events import AgentEvent, EventKind

__all__ = ["Verdict", "reach_verdict"]

_COUNTS = tuple(field.name for field in fields(MessageCounts))


@dataclass(frozen=True, slots=True)
class Verdict(MessageCounts):
    """The messages and the fleet. `worker_seconds` counts from the moment that a worker was asked for."""

    worker_seconds: float
    min_workers: int
    peak_workers: int
    final_workers: int
    scale_outs: int
    scale_ins: int
    decisions: int
    errors: int

    @property
    def passed(self) -> bool:
        """Nothing lost, nobody interrupted."""
        return self.lost == 0 and self.interrupted == 0


def reach_verdict(
    cast: Cast, log: DecisionLog, peak_workers: int, final_workers: int, faults: list[str]
) -> tuple[Verdict, Messages, list[str]]:
    """After everything has been stopped: the verdict, the messages behind it, and every error in words."""
    sent_at_s, deleted = cast.ledger.accounts()
    killed_pids = {event.pid for event in cast.agent.events() if event.pid is not None and _killed_from_outside(event)}
    runs = read_journals(cast.journals)
    messages = reckon(sent_at_s, deleted, runs, killed_pids, cast.settings.target_wait_s)
    began = {run.pid for run in runs}
    errors = [*faults, *errors_in(sorted(cast.logs.glob("*.jsonl"))), *_bad_exits(cast.agent, began)]
    log.read()
    verdict = Verdict(
        **{name: getattr(messages, name) for name in _COUNTS},
        worker_seconds=round(cast.agent.usage().billed_s, 1),
        min_workers=cast.settings.min_workers,
        peak_workers=peak_workers,
        final_workers=final_workers,
        scale_outs=log.scale_outs,
        scale_ins=log.scale_ins,
        decisions=log.decisions,
        errors=len(errors),
    )
    return verdict, messages, errors


def _killed_from_outside(event: AgentEvent) -> bool:
    """SIGKILL by a test or by whoever watches, and not by the agent after the stop timeout."""
    return event.exit_code == -signal.SIGKILL and event.killed_by != "stop_timeout"


def _bad_exits(agent: Agent, began: set[int]) -> list[str]:
    """Workers that ended with another code than 0 and were not killed with -9 from outside.

    SIGTERM may also meet an interpreter that is still starting and knows no handlers yet; nothing was received then.
    """
    while_starting = -signal.SIGTERM
    return [
        f"worker {event.worker_id} exited with {event.exit_code}"
        + (f" (killed by {event.killed_by})" if event.killed_by else "")
        for event in agent.events()
        if event.kind is EventKind.STOPPED
        and event.exit_code not in (0, None)
        and not _killed_from_outside(event)
        and not (event.exit_code == while_starting and event.pid not in began)
    ]
