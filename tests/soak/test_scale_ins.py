"""Scale-ins by the real controller, again and again: `make soak`. `test_turnover` has a thousand, without it."""

from dataclasses import replace

import pytest

from tests.integration.interruptions import LONG_JOBS, Pins, Watched, play

pytestmark = [pytest.mark.soak, pytest.mark.timeout(400)]


def test_scale_ins_of_a_busy_pool_for_two_minutes_interrupt_nobody() -> None:
    """Jobs of 3 s at 1.5 s of grace; ten of eleven workers go in each turn."""
    settings = replace(LONG_JOBS, service_time_s=3.0, stop_timeout_s=3.0, slots=2, max_workers=11)
    watched = Watched(Pins((11, 1) * 24 + (11,), settle_s=0.5, until_s=120.0))
    outcome = play(settings, watched, length_s=120.0, per_s=3.0)
    verdict, stopped = outcome.verdict, watched.stopped_for("scale-in")
    print(f"{stopped} workers scaled in, {verdict.interrupted} interrupted, {verdict.lost} lost of {verdict.sent}")  # noqa: T201
    # A machine at its limit lets calls time out, which are errors and no matter here.
    assert (verdict.lost, verdict.interrupted) == (0, 0), outcome.errors
    assert stopped >= 20
