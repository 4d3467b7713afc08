"""What companies send through a queue, and what they would write into the pool's settings."""

import math

from tests.outside.scenario import Scenario
from tests.outside.traffic import (
    DAY_S,
    HOUR_S,
    burst,
    constant,
    exponential,
    fixed,
    lognormal,
    mixed,
    office,
    poisson,
    steps,
    trains,
)
from tidegate import Pool

__all__ = ["pool", "scenarios"]


def pool(target_s: float, most: int, slots: int = 4, least: int = 1) -> Pool:
    """Settings as somebody would first write them."""
    return Pool("own", target_s, least, most, slots_per_worker=slots)


def scenarios() -> list[Scenario]:
    """All of them."""
    return [*_webs(), *_batches(), *_long_jobs(), *_days(), *_small(), *_large()]


def _webs() -> list[Scenario]:
    chat = poisson(lambda at_s: 30 + 25 * math.sin(at_s / 600), HOUR_S, exponential(0.5))
    return [
        Scenario(
            "webhook trains, 5 % retries", pool(60, 200), trains(3 * HOUR_S, 90.0, exponential(0.8), 0.05), hours=3
        ),
        Scenario("chat T=30", pool(30, 100, slots=10), chat, hours=1, start_up_s=20),
        Scenario("calm", pool(60, 60), poisson(constant(10), 2 * HOUR_S, exponential(3)), start_up_s=45),
    ]


def _batches() -> list[Scenario]:
    imports = burst([600 + HOUR_S * i for i in range(4)], 3000, 60, exponential(2))
    mails = burst([2400, 9000, 15_600], 20_000, 600, exponential(0.6))
    return [
        Scenario(
            "hourly imports on a trickle",
            pool(300, 100),
            mixed(poisson(constant(1), 4 * HOUR_S, exponential(2)), imports),
            hours=4,
        ),
        Scenario("fan-outs of 10,000", pool(600, 300), burst([300, 3900, 7500], 10_000, 20, lognormal(5)), hours=3),
        Scenario(
            "e-mail campaigns",
            pool(900, 100, slots=8),
            mixed(poisson(constant(0.5), 6 * HOUR_S, exponential(0.6)), mails),
            hours=6,
        ),
        Scenario(
            "nightly jobs",
            pool(1800, 50),
            mixed(poisson(constant(0.05), DAY_S, exponential(10)), burst([2 * HOUR_S], 2000, 300, lognormal(60))),
            hours=24,
            tick_s=30,
        ),
    ]


def _long_jobs() -> list[Scenario]:
    videos, thumbs = lognormal(1200, 0.5), exponential(0.2)
    encode = poisson(steps((0, 0.02), (3600, 0.5), (7200, 0.02)), 3 * HOUR_S, exponential(60), job_class="encode")
    return [
        Scenario(
            "video 20 min T=1h",
            pool(3600, 60, slots=1),
            poisson(constant(1 / 60), 16 * HOUR_S, videos),
            hours=16,
            start_up_s=180,
            tick_s=30,
        ),
        Scenario(
            "fixed 30 s jobs T=60",
            pool(60, 100, slots=1),
            poisson(steps((0, 0.2), (1800, 0.8), (5400, 0.2)), 2 * HOUR_S, fixed(30)),
            start_up_s=45,
        ),
        Scenario(
            "two classes, 0.2 and 60 s",
            pool(120, 100),
            mixed(poisson(constant(10), 3 * HOUR_S, thumbs, job_class="thumb"), encode),
            hours=3,
            start_up_s=45,
        ),
    ]


def _days() -> list[Scenario]:
    growth = poisson(lambda at_s: 0.1 + 1.4 * at_s / (2 * DAY_S), 2 * DAY_S, exponential(12))
    return [
        Scenario(
            "office hours, 2 days",
            pool(120, 60),
            poisson(office(2, 0.03), 2 * DAY_S, exponential(9)),
            hours=48,
            start_up_s=90,
            tick_s=30,
        ),
        Scenario(
            "weekend lull from none",
            pool(120, 60, least=0),
            poisson(office(0.75, 0.0, 0.03), 6 * DAY_S, exponential(10)),
            144,
            90,
            tick_s=60,
        ),
        Scenario("slow growth", pool(120, 60), growth, 48, 90, tick_s=60),
    ]


def _small() -> list[Scenario]:
    day = poisson(constant(1 / HOUR_S), DAY_S, exponential(20))
    return [
        Scenario("one an hour from none", pool(120, 10, least=0), day, hours=24),
        Scenario("one an hour, one kept", pool(30, 10), day, hours=24, tick_s=60),
        Scenario("a tenth of a slot", pool(60, 10), poisson(constant(0.05), 4 * HOUR_S, exponential(2)), hours=4),
        Scenario(
            "from zero to 15 slots and back",
            pool(120, 60, least=0),
            poisson(steps((0, 0), (1800, 5), (5400, 0)), 2 * HOUR_S, exponential(3)),
        ),
    ]


def _large() -> list[Scenario]:
    jumps = steps((0, 500), (60, 2000), (120, 500))
    return [
        Scenario("50 ms, 2,000/s T=10", pool(10, 60, slots=10), poisson(jumps, 180, exponential(0.05)), 180 / 3600, 30),
        Scenario(
            "1,000 slots",
            pool(120, 600),
            poisson(steps((0, 75), (600, 150), (1500, 75)), 2100, exponential(6.6)),
            hours=2100 / 3600,
        ),
    ]
