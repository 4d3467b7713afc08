"""What the demo prints: progress lines where there is no terminal to draw on, and the verdict."""

from collections.abc import Callable
from dataclasses import asdict

from rich.console import Console

from tidegate.sandbox.demo.run import Outcome, Scene
from tidegate.sandbox.demo.settings import DemoSettings

__all__ = ["Progress", "print_verdict"]

PROGRESS_S = 10.0


class Progress:
    """A line for each decision that changed something, and one on the state every ten seconds."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._next_s = PROGRESS_S

    def __call__(self, scene: Scene) -> None:
        frame = scene.frame
        for entry in scene.fresh:
            if entry["action"] != "hold":
                self._say(f"{frame.at_s:5.0f} s  {entry['sentence']}")
        if frame.at_s >= self._next_s:
            self._next_s += PROGRESS_S
            self._say(
                f"{frame.at_s:5.0f} s  head age {frame.head_age_s:.1f} s, backlog {frame.backlog}, "
                f"{frame.arrivals_per_s:.0f}/s arriving, workers running: {frame.running}, "
                f"{frame.deleted} of {frame.sent} done"
            )


def print_verdict(outcome: Outcome, settings: DemoSettings, console: Console) -> None:
    """The table, the errors in words, and one line that says how it went."""
    verdict = outcome.verdict
    for name, value in asdict(verdict).items():
        console.print(f"{name:<15} {'-' if value is None else f'{value:,}'}", highlight=False)
    for error in outcome.errors[:10]:
        console.print(f"error: {error[:400]}", markup=False, highlight=False, soft_wrap=True)
    if len(outcome.errors) > 10:
        console.print(f"and {len(outcome.errors) - 10} more errors", markup=False, highlight=False)
    console.print(_summary(outcome, settings), markup=False, highlight=False, soft_wrap=True)


def _summary(outcome: Outcome, settings: DemoSettings) -> str:
    verdict = outcome.verdict
    if not verdict.passed:
        named = f" ({', '.join(outcome.messages.lost_ids[:5])})" if verdict.lost else ""
        return f"FAILED: messages lost: {verdict.lost}{named}; handlers interrupted: {verdict.interrupted}"
    wait = "no message was started" if verdict.wait_p99_s is None else f"99 % started within {verdict.wait_p99_s:.1f} s"
    return (
        f"nothing lost, nobody interrupted; {wait} (target {settings.target_wait_s:g} s), "
        f"{verdict.late_share:.1%} late; "
        f"{verdict.min_workers} → {verdict.peak_workers} → {verdict.final_workers} workers"
    )
