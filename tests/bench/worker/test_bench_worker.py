"""Our worker beside the loops that people write and the libraries that they use, at one endpoint, in one run."""

import os
import sys

import pytest

from tests.bench.worker.rig import CONTENDERS, Contender, Cost, Rig, rig

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

CELLS = {
    # concurrency, seconds a handler takes: messages queued, more than anybody works off in the window
    (10, 0.0): 40_000,
    (100, 0.0): 40_000,
    (10, 0.02): 8_000,
    (100, 0.02): 40_000,
}
OURS, LIMIT = "tidegate", "aiobotocore loop"


def say(text: str) -> None:
    """`make bench-worker` is read by people: the figures are its result."""
    sys.stdout.write(f"\n{text}")


def there() -> list[Contender]:
    wanted = os.environ.get("BENCH_ONLY")
    found = [each for each in CONTENDERS if each.needs is None or each.needs.exists()]
    for each in CONTENDERS:
        if each not in found:
            say(f"left out: {each.name} (no {each.needs}; `make bench-worker` makes it)")
    return [each for each in found if wanted is None or each.name in wanted.split(",")]


def row(name: str, cost: Cost, ours: Cost) -> str:
    return (
        f"  {name:18} {cost.rate_per_s:8,.0f}/s  ours is {ours.rate_per_s / max(cost.rate_per_s, 0.01):6.2f} ×  "
        f"calls {cost.calls:5.2f}  CPU {cost.cpu_ms:6.3f} ms  peak {cost.peak_mb:4.0f} MB  "
        f"(worker {cost.worker_share:4.0%}, endpoint {cost.server_share:4.0%} of a core)"
    )


def measured(bench: Rig, contenders: list[Contender], cell: tuple[int, float]) -> dict[str, Cost]:
    concurrency, takes_s = cell
    costs = {each.name: bench.measure(each, concurrency, takes_s, CELLS[cell]) for each in contenders}
    say(f"concurrency {concurrency}, handlers of {takes_s * 1000:.0f} ms; per message:")
    for name, cost in costs.items():
        say(row(name, cost, costs[OURS]))
    return costs


def test_ours_comes_near_the_bare_loop_and_is_well_ahead_of_every_library() -> None:
    with rig() as bench:
        table = {cell: measured(bench, there(), cell) for cell in CELLS}
    say("")
    for costs in table.values():
        assert costs[OURS].rate_per_s > 0
    if os.environ.get("BENCH_ONLY") is None:
        _judge(table)


def _judge(table: dict[tuple[int, float], dict[str, Cost]]) -> None:
    """Only where our worker is what limits it: at the endpoint's limit, or waiting for handlers, all are alike."""
    for (concurrency, _), costs in table.items():
        ours = costs[OURS]
        if ours.worker_share > 0.9 and ours.server_share < 0.8:
            assert ours.rate_per_s >= 0.85 * costs[LIMIT].rate_per_s
            if concurrency == 100:
                assert ours.calls <= 0.25
