"""The judge of `make bench-worker`: which cells count, and what is said of each limit."""

from dataclasses import replace

from tests.bench.worker.cells import CELLS, Cell, Cost, Table
from tests.bench.worker.contestants import LIMIT, OURS
from tests.bench.worker.verdict import Verdict, not_bound_by_the_client, verdicts

TEN, HUNDRED = CELLS[0], CELLS[1]
COST = Cost(
    rate_per_s=1_000, worker_share=0.95, server_share=0.5, calls=0.2, cpu_ms=0.1, peak_mb=70, grown_mb=0, done=3_000
)


def costs(
    ours: Cost = COST, limit: float = 1_000, boto3: float = 400, celery: float = 200, node: float = 900
) -> dict[str, Cost]:
    others = {LIMIT: limit, "boto3 loop": boto3, "celery": celery, "squiss-ts": node}
    return {OURS: ours, **{name: replace(COST, rate_per_s=rate) for name, rate in others.items()}}


def judged(table: Table) -> list[bool | None]:
    return [verdict.holds for verdict in verdicts(table)]


def test_all_limits_hold_where_ours_is_fast_enough() -> None:
    assert judged({TEN: costs(), HUNDRED: costs()}) == [True] * 5


def test_each_limit_is_missed_by_its_own_rival_alone() -> None:
    assert judged({HUNDRED: costs(limit=1_200)}) == [False, True, True, True, True]
    assert judged({HUNDRED: costs(celery=501)}) == [True, False, False, True, True]
    assert judged({HUNDRED: costs(boto3=501)}) == [True, True, False, True, True]
    assert judged({HUNDRED: costs(node=1_001)}) == [True, True, True, False, True]
    assert judged({HUNDRED: costs(replace(COST, calls=0.26))}) == [True, True, True, True, False]


def test_only_the_loop_in_threads_may_be_nearer_than_hoped() -> None:
    assert [verdict.hoped for verdict in verdicts({})] == [False, False, True, False, False]
    assert verdicts({})[0].line == "no verdict: at least 0.85 × the bare aiobotocore loop: no cell says"


def test_a_limit_must_hold_in_every_cell_that_counts_and_says_where_it_does_not() -> None:
    first, *_ = verdicts({TEN: costs(), HUNDRED: costs(limit=2_000)})
    assert first == Verdict(
        False,
        "at least 0.85 × the bare aiobotocore loop: held in 1 of 2 cells, at worst 0.50; missed at 100 at a time, 0 ms",
    )


def test_a_cell_in_which_the_endpoint_or_the_handlers_set_the_pace_does_not_count() -> None:
    assert not_bound_by_the_client(COST) is None
    slow_server, idle_worker = replace(COST, server_share=0.8), replace(COST, worker_share=0.9)
    assert not_bound_by_the_client(slow_server) == "the endpoint took 80% of its core"
    assert not_bound_by_the_client(idle_worker) == "the worker took 90% of its core"
    table: dict[Cell, dict[str, Cost]] = {
        TEN: costs(),
        HUNDRED: costs(slow_server, limit=9_000),
        CELLS[2]: costs(idle_worker, limit=9_000),
    }
    assert judged(table) == [True, True, True, True, None]


def test_where_no_cell_counts_nothing_is_claimed() -> None:
    assert judged({TEN: costs(replace(COST, worker_share=0.5))}) == [None] * 5
