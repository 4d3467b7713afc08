"""Scale-ins and rolling deployments of busy pools whose jobs outlast the stop timeout, with real processes."""

from dataclasses import replace

import pytest

from tests.integration.interruptions import LONG_JOBS, Pins, Watched, assert_nobody_was_interrupted, play
from tidegate.sandbox.demo.run import Scene
from tidegate.sandbox.platform import Phase
from tidegate.sandbox.platform.ecs import EcsService

pytestmark = [pytest.mark.integration, pytest.mark.timeout(150)]


@pytest.mark.xdist_group("demos-1")
def test_a_busy_pool_of_long_jobs_is_scaled_in_again_and_again_and_no_handler_is_interrupted() -> None:
    watched = Watched(Pins((5, 1, 5)))
    outcome = play(LONG_JOBS, watched, length_s=26.0, per_s=2.2)
    assert_nobody_was_interrupted(outcome)
    assert watched.stopped_for("scale-in") >= 4


@pytest.mark.xdist_group("demos-2")
def test_a_rolling_deployment_of_a_pool_that_is_never_idle_gets_through_and_interrupts_nobody() -> None:
    """Whether a backlog is left by then is the machine's speed; that jobs run at every look is what makes it a test."""
    revisions: list[str] = []
    renewed_at_s: list[float] = []
    in_flight: list[int] = []

    def deploy(scene: Scene) -> None:
        platform = scene.cast.platform
        assert isinstance(platform, EcsService)
        if not revisions and scene.frame.at_s > 6:
            platform.deploy()
            revisions.append(platform.wanted().revision)
        if revisions and not renewed_at_s:
            in_flight.append(scene.frame.in_flight)
        running = [worker for worker in scene.cast.agent.workers() if worker.phase is Phase.RUNNING]
        if revisions and not renewed_at_s and running and all(w.revision == revisions[0] for w in running):
            renewed_at_s.append(scene.frame.at_s)

    watched = Watched(deploy)
    outcome = play(replace(LONG_JOBS, min_workers=3, max_workers=3), watched, length_s=24.0, per_s=2.5)
    assert_nobody_was_interrupted(outcome)
    assert renewed_at_s, "the deployment never got through"
    assert min(in_flight) > 0, "the pool was idle: that would have been no test"
    assert watched.stopped_for("deployment") == 3
