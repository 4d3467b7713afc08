"""One pool, whose traffic goes up fourfold and down again, and one thing that goes wrong at a time."""

from dataclasses import replace

from tests.outside.companies import pool
from tests.outside.scenario import Faults, Scenario, Signals
from tests.outside.traffic import DAY_S, HOUR_S, burst, constant, exponential, mixed, poisson, steps
from tidegate import Pool

__all__ = ["STEPS", "scenarios"]

_UP_AND_DOWN = steps((0, 2.5), (900, 10), (2400, 2.5))
_WAVES = steps(*[(600 * n, 2 if n % 2 else 4) for n in range(12)])
_TRAFFIC = poisson(_UP_AND_DOWN, HOUR_S, exponential(6))
STEPS = Scenario("steps", pool(60, 60), _TRAFFIC, hours=1, start_up_s=45)
_EVEN = replace(STEPS, name="even", traffic=poisson(constant(5), 2 * HOUR_S, exponential(6)), hours=2)


def scenarios() -> list[Scenario]:
    """All of them."""
    return [STEPS, *_settings(), *_signals(), *_losses(), *_controller(), *_queues(), *_work()]


def _settings() -> list[Scenario]:
    def shift(settings: Pool, now_s: float) -> Pool:
        return replace(settings, min_workers=20 if 600 <= now_s < 2700 else 1)

    def by_two(settings: Pool, now_s: float) -> Pool:
        return replace(settings, finish_in_s=2 * HOUR_S - now_s if now_s < 2 * HOUR_S else DAY_S)

    return [
        replace(STEPS, name="prompt", pool=replace(STEPS.pool, economy="prompt")),
        replace(STEPS, name="littles-law", pool=replace(STEPS.pool, policy="littles-law")),
        replace(STEPS, name="a schedule", pool_at=shift),
        replace(
            STEPS,
            name="finish by two",
            pool=pool(2 * HOUR_S, 60),
            pool_at=by_two,
            traffic=burst([1200], 8000, 30, exponential(3)),
            hours=2,
        ),
        *[replace(STEPS, name=f"ticks of {tick_s:.0f} s", tick_s=tick_s) for tick_s in (5.0, 15.0, 30.0)],
        replace(STEPS, name="a Lambda's minutes T=120", pool=pool(120, 60), tick_s=60.0),
        replace(STEPS, name="maximum reached", pool=pool(60, 10)),
    ]


def _signals() -> list[Scenario]:
    none = Signals(reporting=0.0)
    hinted = replace(STEPS.pool, service_time_hint_s=6.0, start_up_hint_s=45.0, stop_timeout_s=120.0)
    return [
        replace(STEPS, name="no reports", signals=none, pool=replace(STEPS.pool, stop_timeout_s=120.0)),
        replace(STEPS, name="no reports, hints", signals=none, pool=hinted),
        replace(STEPS, name="no reports, no CloudWatch", signals=replace(none, metric_lag_s=None), pool=hinted),
        replace(
            STEPS, name="half report", signals=Signals(reporting=0.5), pool=replace(STEPS.pool, stop_timeout_s=120.0)
        ),
        replace(STEPS, name="CloudWatch three minutes late", signals=Signals(metric_lag_s=180.0)),
        replace(STEPS, name="age counts in flight", signals=Signals(age_counts_in_flight=True)),
        replace(STEPS, name="rough counts", signals=Signals(count_every_s=60.0, noise=0.3)),
    ]


def _losses() -> list[Scenario]:
    return [
        replace(STEPS, name="30 % of starts fail", faults=Faults(failed_starts=0.3)),
        replace(STEPS, name="spot, each lost within the hour", faults=Faults(spot_losses_per_hour=1.0)),
        replace(STEPS, name="three deploys", faults=Faults(deploys_s=(400, 1500, 2500))),
    ]


def _controller() -> list[Scenario]:
    return [
        replace(STEPS, name="away ten minutes at the rise", faults=Faults(outage=(800, 1400))),
        replace(STEPS, name="away ten minutes in calm", faults=Faults(outage=(1500, 2100))),
        replace(STEPS, name="table dark at the rise", faults=Faults(table_outage=(800, 1400))),
        replace(STEPS, name="counts take effect 25 s late", faults=Faults(takes_effect_s=25)),
        replace(STEPS, name="half of the sets refused", faults=Faults(refused=0.5)),
    ]


def _queues() -> list[Scenario]:
    trickle, jobs = poisson(constant(10), 2 * HOUR_S, exponential(1)), exponential(6)
    back, few = (burst([HOUR_S / 2], n, 60, exponential(1), age_s=3 * DAY_S) for n in (50_000, 500))
    grouped, waves = poisson(_UP_AND_DOWN, HOUR_S, jobs, groups=200), poisson(_WAVES, 2 * HOUR_S, exponential(8))
    return [
        replace(STEPS, name="fifo, 200 groups", fifo=True, traffic=grouped),
        replace(STEPS, name="fifo, 10 groups", fifo=True, traffic=poisson(constant(1), HOUR_S, jobs, groups=10)),
        Scenario("picked at random T=600", pool(600, 60), waves, start_up_s=120, at_random=True),
        replace(STEPS, name="50,000 redriven", pool=pool(300, 100), traffic=mixed(trickle, back), hours=2),
        replace(STEPS, name="500 redriven", traffic=mixed(trickle, few), hours=2),
        replace(
            STEPS,
            name="a purge",
            traffic=mixed(_TRAFFIC, burst([1500], 5000, 10, jobs)),
            faults=Faults(purge_s=1590),
        ),
        replace(STEPS, name="a third delayed", traffic=poisson(_UP_AND_DOWN, HOUR_S, jobs, delayed=0.33)),
    ]


def _work() -> list[Scenario]:
    failing = poisson(constant(4), 2 * HOUR_S, exponential(6), fails=0.2)
    return [
        replace(_EVEN, name="service time doubles", faults=Faults(slower=(3600, 2.0))),
        replace(_EVEN, name="a fifth fails", traffic=failing),
    ]
