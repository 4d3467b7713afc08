"""Cells, parts, the cache and the sums, on small synthetic cells."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from rich.console import Console

from tidegate.lab.cache import PartCache, part_from, part_json
from tidegate.lab.cells import Cell, Windows, cells, made_up, windows_of
from tidegate.lab.command import board_json
from tidegate.lab.headline import headline
from tidegate.lab.parts import Part, Task
from tidegate.lab.report_table import print_headline
from tidegate.lab.rivals import OURS, PERFECT_SIGHT, RIVALS, rival_named
from tidegate.lab.scoreboard import BOUND, CLAIRVOYANT, Row, run, work
from tidegate.lab.standings import standings
from tidegate.lab.stress import Strained
from tidegate.lab.tune import Score

SMALL = Windows(seeds=2, max_messages=400, max_length_s=3600.0)
CALM = Cell("constant", 20, 120.0, 30.0)


def scored(cost: float, late: float = 0.0) -> Score:
    return Score("p", 1.0, late, late, 1.0, 2.0, 3.0, 10.0, cost, 1.0, 2.0, 3.0)


def row(trace: str, parts: Mapping[str, Part] | None = None, sight: float = 0.0, load: float = 20) -> Row:
    seen = Part(default=scored(1.0, sight))
    return Row(Cell(trace, load, 60.0, 120.0), False, {PERFECT_SIGHT.key: seen, **(parts or {})})


def test_every_trace_meets_every_load_and_every_pair_of_times() -> None:
    assert len(cells(["a", "b"])) == 2 * 3 * 6
    assert len(set(cells(["a", "b"]))) == 36


def test_windows_differ_by_seed_and_are_the_same_each_time() -> None:
    first, second = windows_of(CALM, SMALL)
    again = windows_of(replace(CALM), SMALL)
    assert first.arrivals_s.tolist() == again[0].arrivals_s.tolist()
    assert first.arrivals_s.tolist() != second.arrivals_s.tolist()
    assert (first.target_wait_s, first.start_up_s, first.slots_per_worker, first.order) == (120.0, 30.0, 4, "sharded")


def test_the_maximum_is_twice_what_the_peak_could_use() -> None:
    for window in windows_of(CALM, SMALL):
        assert 2 * 20 / 4 <= window.max_workers < 200


def test_a_target_finer_than_half_a_bin_is_made_up(tmp_path: Path) -> None:
    trace = tmp_path / "five_minutes.csv"
    trace.write_text("t_s,count\n0,10\n300,20\n600,5\n")
    fine, coarse = Cell(str(trace), 5, 150.0, 30.0), Cell(str(trace), 5, 149.0, 30.0)
    assert made_up([fine, coarse]) == {fine: False, coarse: True}


@pytest.mark.parametrize("key", [OURS.key, BOUND, CLAIRVOYANT, *(rival.key for rival in RIVALS)])
def test_each_policy_can_be_worked_out(key: str) -> None:
    part = work(Task(CALM, SMALL, key))
    if key == BOUND:
        assert part.bound is not None
        assert part.bound >= 1.0
    else:
        best = part.tuned or part.default
        assert best is not None
        assert best.cost >= 0.9


def test_nothing_is_cheaper_than_the_bound() -> None:
    bound = work(Task(CALM, SMALL, BOUND)).bound
    best = work(Task(CALM, SMALL, CLAIRVOYANT)).tuned
    assert bound is not None
    assert best is not None
    assert best.cost > 0.98 * bound  # service times are drawn: the fluid bound holds for their mean


def test_tuned_is_never_dearer_than_the_default_that_is_on_time() -> None:
    part = work(Task(CALM, SMALL, "keda"))
    assert part.default is not None
    assert part.tuned is not None
    assert part.default.met
    assert part.tuned.cost <= part.default.cost


def test_ours_is_not_tuned_where_it_is_on_time() -> None:
    part = work(Task(CALM, SMALL, OURS.key))
    assert part.default is not None
    assert part.default.met
    assert part.tuned == part.default


def test_a_part_comes_back_from_the_cache_as_it_was(tmp_path: Path) -> None:
    task, part = Task(CALM, SMALL, "keda"), Part(scored(2.0), None, 1.5)
    cache = PartCache(tmp_path / "new")
    assert cache.get(task) is None
    cache.put(task, part)
    assert cache.get(task) == part
    assert cache.get(replace(task, windows=replace(SMALL, seeds=3))) is None
    assert cache.get(replace(task, key="wpa")) is None


def test_a_trace_that_changed_is_worked_out_anew(tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("t_s,count\n0,1\n60,2\n")
    new.write_text("t_s,count\n0,1\n60,3\n")
    cache = PartCache(tmp_path / "cache")
    cache.put(Task(replace(CALM, trace=str(old)), SMALL, "keda"), Part(scored(2.0)))
    assert cache.get(Task(replace(CALM, trace=str(new)), SMALL, "keda")) is None


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    cache, task = PartCache(tmp_path), Task(CALM, SMALL, "keda")
    cache.put(task, Part(scored(2.0)))
    for file in tmp_path.iterdir():
        file.write_text('{"default": {"unknown": 1}, "tuned": null, "bound": null}')
    assert cache.get(task) is None


def test_parts_survive_json() -> None:
    for part in (Part(), Part(scored(1.0), scored(2.0), None), Part(bound=1.25)):
        assert part_from(json.loads(json.dumps(part_json(part)))) == part


def test_a_run_works_out_ours_and_rivals_only_where_the_cell_counts(tmp_path: Path) -> None:
    hopeless = Cell("dumps", 20, 1.0, 120.0)
    finished: list[str] = []
    rows = run([CALM, hopeless], SMALL, processes=1, cache=tmp_path, done=lambda task: finished.append(task.key))
    assert [each.counts for each in rows] == [True, False]
    assert set(rows[0].parts) == {OURS.key, PERFECT_SIGHT.key, BOUND, CLAIRVOYANT, *(r.key for r in RIVALS)}
    assert set(rows[1].parts) == {PERFECT_SIGHT.key}
    assert len(finished) == len(rows[0].parts) + 1
    again = run([CALM, hopeless], SMALL, processes=1, cache=tmp_path)
    assert [each.parts for each in again] == [each.parts for each in rows]


def test_the_headline_compares_ours_with_each_rival_in_the_cells_that_both_meet() -> None:
    ours = Part(scored(2.0), scored(2.0))
    head = headline([
        row("a", {"tidegate": ours, "keda": Part(scored(8.0), scored(4.0))}),
        row("b", {"tidegate": ours, "keda": Part(scored(4.0, 0.5), scored(1.0))}),
        row("c", {"tidegate": ours, "keda": Part(scored(1.0, 0.5), None)}),
    ])  # fmt: skip
    keda = next(each for each in head.versus if each.key == "keda")
    assert keda.tuned is not None
    assert keda.tuned.value == pytest.approx(1.0)  # √(0.5 × 2)
    assert keda.tuned.cells == 2
    assert keda.unmet == (row("c").cell.name,)
    assert keda.default is not None
    assert keda.default.value == pytest.approx((0.25 * 0.5 * 2) ** (1 / 3))
    assert keda.default_on_time == pytest.approx(1 / 3)
    assert keda.default_late_share == pytest.approx(1 / 3)
    assert [loss.cell for loss in head.losses] == [row("b").cell.name]


def test_where_ours_is_late_its_raised_cost_counts_and_the_cell_is_listed() -> None:
    parts = {"tidegate": Part(scored(2.0, 0.02), scored(3.0)), "plain": Part(scored(2.0), scored(1.5))}
    head = headline([row("a", parts)])
    plain = next(each for each in head.versus if each.key == "plain")
    assert plain.tuned is not None
    assert plain.tuned.value == pytest.approx(2.0)
    assert head.on_time == 0.0
    assert head.late == (row("a").cell.name,)


def test_cells_that_perfect_sight_is_late_in_do_not_count_and_are_listed() -> None:
    late, good = {"tidegate": Part(scored(2.0, 0.5))}, {"tidegate": Part(scored(2.0))}
    head = headline([row("a", late, sight=0.011), row("b", good, sight=0.01)])
    assert (head.cells, head.counted, head.on_time) == (2, 1, 1.0)
    assert head.not_counted == (row("a").cell.name,)


def test_regret_is_judged_at_four_mean_workers_and_more() -> None:
    ours, best = Part(scored(3.0), scored(3.0)), Part(tuned=scored(2.0))
    parts = {"tidegate": ours, CLAIRVOYANT: best, BOUND: Part(bound=1.5)}
    head = headline([row("a", parts, load=5), row("b", parts, load=16)])
    assert head.regret is not None
    assert head.regret.value == pytest.approx(1.5)
    assert head.regret.cells == 1
    assert head.over_bound is not None
    assert head.over_bound.value == pytest.approx(2.0)


def test_each_policys_standing_is_a_mean_over_the_cells_that_count() -> None:
    good, late = replace(scored(2.0), wait_p50_s=6.0, wait_p99_s=30.0, wait_max_s=90.0), scored(4.0, 0.04)
    rows = [
        row("a", {"tidegate": Part(good)}),
        row("b", {"tidegate": Part(late)}),
        row("b", {"tidegate": Part(good)}, load=5),
        row("c", {"tidegate": Part(late)}, sight=0.5),
    ]
    ours = standings(rows)[0]
    assert (ours.key, ours.cells, ours.worker_hours) == ("tidegate", 3, 30.0)
    assert ours.cells_on_time == pytest.approx(2 / 3)
    assert ours.traces_on_time == pytest.approx(1 / 2)  # b is late by 2 % on average
    assert ours.late_share == pytest.approx(0.04 / 3)
    assert ours.wait_p50 == pytest.approx((6 + 1 + 6) / 60 / 3)
    assert ours.wait_max == pytest.approx((90 + 3 + 90) / 60 / 3)
    assert (ours.starts_per_hour, ours.reversals_per_hour) == (1.0, 2.0)


def test_a_policy_that_no_cell_has_a_score_of_has_no_standing() -> None:
    rows = [row("a", {"tidegate": Part(scored(2.0)), CLAIRVOYANT: Part(tuned=scored(1.5))})]
    assert [each.key for each in standings(rows)] == ["tidegate", "perfect_sight", CLAIRVOYANT]


def test_every_losing_cell_is_in_the_headline_and_the_first_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    lost = {"tidegate": Part(scored(2.0), scored(2.0)), "keda": Part(scored(1.0), scored(1.0))}
    head = headline([row(f"trace{n}", lost) for n in range(20)])
    assert len(head.losses) == 20
    print_headline(Console(width=200), head)
    shown = capsys.readouterr().out
    assert "where we lose: ours ÷ tuned rival, the worst first (20):" in shown
    assert "and 5 more (all are in the JSON)" in shown


def test_json_has_the_stress_rows_beside_the_cells() -> None:
    strained = Strained("one thing", "tidegate", 0.1, 0.2, 1.5, 7, 2.0)
    rows = [row("a", {"tidegate": Part(scored(2.0))})]
    data = json.loads(board_json(SMALL, rows, headline(rows), [strained]))
    assert data["stress"] == [asdict(strained)]
    assert data["headline"]["standings"][0]["key"] == "tidegate"
    assert len(data["cells"]) == 1


def test_nobody_is_a_rival_twice() -> None:
    keys = [each.key for each in (OURS, PERFECT_SIGHT, *RIVALS)]
    assert len(set(keys)) == len(keys)
    assert [rival_named(key).key for key in keys] == keys
    with pytest.raises(KeyError):
        rival_named("nobody")
