"""The backtest and its reports."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from tidegate.errors import ConfigError
from tidegate.lab.backtest import REFERENCES, RUNS, Backtest, Question, backtest, scenario_of
from tidegate.lab.command import main
from tidegate.lab.report_backtest import backtest_json, by_cost, print_backtest, verdict
from tidegate.lab.report_figures import COLUMNS
from tidegate.lab.report_html import backtest_html
from tidegate.lab.report_svg import area, bars, curve, level
from tidegate.lab.traces import Bin

HOUR = [Bin(60.0 * n, 60.0 * (n + 1), 30 + 60 * (n > 30)) for n in range(60)]
ASKED = Question(target_s=60.0, start_up_s=30.0, service_s=4.0)


@pytest.fixture(scope="module")
def told() -> Backtest:
    return backtest(HOUR, "an <hour>", ASKED)


def test_every_policy_sees_the_whole_trace(told: Backtest) -> None:
    assert len(told.results) == RUNS
    assert {each.outcome.messages for each in told.results} == {sum(each.count for each in HOUR)}
    assert told.results[0].key == "tidegate"
    assert told.thinned == 1.0


def test_the_curves_hold_what_the_run_did(told: Backtest) -> None:
    for each in told.results:
        seen = each.outcome.waits_s[np.isfinite(each.outcome.waits_s)]
        assert np.nanmax(each.waits_s) == pytest.approx(seen.max(), abs=1e-3)
        assert each.workers.max() <= each.outcome.desired.max() + 1e-9
    assert told.arrivals_per_s.mean() == pytest.approx(sum(each.count for each in HOUR) / 3600)


def test_a_long_trace_is_thinned_and_what_it_costs_scaled_up() -> None:
    told = backtest(HOUR, "whole", Question(60.0, 30.0, 40.0))
    thin = backtest(HOUR, "thin", Question(60.0, 30.0, 40.0, max_messages=1000))
    assert thin.results[0].outcome.messages == pytest.approx(1000, rel=0.1)
    fixed = {each.key: each for each in thin.results}["fixed_mean"]
    whole = {each.key: each for each in told.results}["fixed_mean"]
    assert fixed.worker_hours == pytest.approx(whole.worker_hours, rel=0.15)  # whole workers
    assert thin.arrivals_per_s.mean() == pytest.approx(told.arrivals_per_s.mean(), rel=0.1)


def test_a_trace_without_messages_is_refused() -> None:
    with pytest.raises(ValueError, match="no messages"):
        scenario_of([Bin(0, 60, 0), Bin(60, 120, 0)], "empty", ASKED)


def test_those_on_time_come_first_and_what_cannot_be_had_last(told: Backtest) -> None:
    ordered = by_cost(told.results)
    assert {each.key for each in ordered[-2:]} == set(REFERENCES)
    met = [each.outcome.late_share <= 0.01 for each in ordered[:-2]]
    assert met == sorted(met, reverse=True)
    on_time = [each.worker_hours for each in ordered[:-2] if each.outcome.late_share <= 0.01]
    assert on_time == sorted(on_time)


def test_the_verdict_names_the_cheapest_that_is_on_time_and_its_price(told: Backtest) -> None:
    best = next(each for each in by_cost(told.results) if each.key != "tidegate")
    said = verdict(told, 0.5)
    assert best.title in said
    assert f"${best.worker_hours * 0.5:,.2f}" in said
    assert "$" not in verdict(told, None)


def test_a_late_tidegate_is_not_counted_among_those_on_time(told: Backtest) -> None:
    ours, *others = told.results
    punctual = replace(ours, outcome=replace(ours.outcome, late_share=0.0))
    late = replace(ours, outcome=replace(ours.outcome, late_share=0.5))
    assert "of the others on time" in verdict(replace(told, results=(punctual, *others)), None)
    assert "which tidegate is not" in verdict(replace(told, results=(late, *others)), None)


def test_traffic_that_needs_one_count_all_day_is_told_that_a_fixed_pool_is_simpler(told: Backtest) -> None:
    assert "a fixed pool" not in verdict(told, None)
    ours, *others = told.results
    still = replace(ours.outcome, desired_at_s=np.array([0.0, 900.0]), desired=np.array([4, 3]), end_s=90_000.0)
    calm = replace(told, length_s=90_000.0, results=(replace(ours, outcome=still), *others))
    assert "99% of the time at 3 workers (a fixed pool of 3 is simpler)" in verdict(calm, None)
    assert "a fixed pool" not in verdict(replace(calm, thinned=0.5), None)
    assert "a fixed pool" not in verdict(replace(calm, length_s=3600.0), None)
    varied = replace(still, desired_at_s=np.array([0.0, 45_000.0]))
    assert "a fixed pool" not in verdict(replace(calm, results=(replace(ours, outcome=varied), *others)), None)


def test_json_holds_each_policy_with_its_price(told: Backtest) -> None:
    data = json.loads(backtest_json(told, 0.25))
    assert len(data["policies"]) == RUNS
    for each in data["policies"]:
        assert each["dollars"] == pytest.approx(each["worker_hours"] * 0.25)
    assert data["question"]["target_s"] == 60.0


class Page(HTMLParser):
    """Notes what is opened and not closed, references to anything outside, and each policy's figures."""

    VOID = ("meta",)

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.outside: list[str] = []
        self.text = ""
        self.figures: dict[str, dict[str, float]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if policy := given.get("data-policy"):
            self.figures[policy] = {}
        if figure := given.get("data-figure"):
            self.figures[next(reversed(self.figures))][figure] = float(given["data-value"] or "nan")
        self.outside += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.outside += [f"{tag} {name}" for name, _ in attrs if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Page:
    page = Page()
    page.feed(html)
    return page


def test_the_page_is_whole_and_needs_nothing_from_outside(told: Backtest) -> None:
    html = backtest_html(told, 0.05)
    page = parsed(html)
    assert page.open == []
    assert page.outside == []
    assert not re.search(r"<script|<link|<iframe|url\(|@import|https?:|src=", html)
    assert 'name="viewport"' in html
    assert "prefers-color-scheme: dark" in html


def test_the_page_shows_every_policy_and_escapes_the_name(told: Backtest) -> None:
    html = backtest_html(told, None)
    page = parsed(html)
    assert "an <hour>" in page.text
    assert "<hour>" not in html
    for each in told.results:
        assert page.text.count(each.title) >= 3  # bar, card, table
    assert html.count("<svg") == 2 * RUNS + 1  # workers and waits of each, and what arrives
    assert "nan" not in re.sub(r"[a-z]*nan[a-z]+|[a-z]+nan[a-z]*", "", html.lower())


def test_every_chart_is_valid_svg_within_its_frame_and_says_in_words_what_it_shows(told: Backtest) -> None:
    charts = [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", backtest_html(told, None))]  # noqa: S314  our own page
    assert {(chart.get("role"), chart.get("viewBox")) for chart in charts} == {("img", "0 0 1000 100")}
    for chart in charts:
        drawn = [part for part in chart if part.tag != "rect"]
        points = [each.get("points", "") for each in drawn]
        places = [float(number) for number in re.split(r"[ ,]", " ".join(points)) if number]
        assert drawn
        assert all(0 <= x <= 1000 and 0 <= y <= 100 for x, y in zip(places[::2], places[1::2], strict=True))
    labels = [chart.get("aria-label") for chart in charts]
    assert labels[0] is not None
    assert labels[0].startswith("arrivals, up to ")
    for each in told.results:
        for what in ("workers", "longest waits"):
            assert (
                len([label for label in labels if label and label.startswith(f"{what} of {each.title}, up to ")]) == 1
            )


@pytest.mark.parametrize("price", [None, 0.05])
def test_the_figures_of_the_page_are_those_of_the_json(told: Backtest, price: float | None) -> None:
    page = parsed(backtest_html(told, price))
    data = json.loads(backtest_json(told, price))
    columns = [column.key for column in COLUMNS] + ([] if price is None else ["dollars"])
    assert page.figures == {each["key"]: {key: each[key] for key in columns} for each in data["policies"]}
    assert list(page.figures) == [each["key"] for each in data["policies"]]
    verdict_said = " ".join(data["verdict"].split())
    assert verdict_said in " ".join(page.text.split())


def test_axes_carry_their_units_and_every_part_tells_its_figures(told: Backtest) -> None:
    html = backtest_html(told, None)
    text = parsed(html).text
    for unit in ("messages a second", "workers", "longest wait, seconds"):
        assert unit in text
    columns = min(48, len(told.arrivals_per_s))
    assert html.count("<title>") == 1 + columns * (2 * RUNS + 1)
    assert re.search(r"<title>0 s – 1 min [0-9]+ s: [0-9.]+ messages/s</title>", html)


def test_ours_comes_first_among_the_charts_and_late_ones_are_marked_by_more_than_colour(told: Backtest) -> None:
    html = backtest_html(told, None)
    assert html.index('<section class="card wide ours">') < html.index('<section class="card">')
    late = sum(each.outcome.late_share > 0.01 for each in told.results)
    assert len(re.findall(r'class="bar[^"]*is-late', html)) == late
    assert "repeating-linear-gradient" in html


def test_notes_are_in_all_three(told: Backtest, capsys: pytest.CaptureFixture[str]) -> None:
    noted = replace(told, notes=("from <there>",))
    assert "from <there>" in parsed(backtest_html(noted, None)).text
    assert json.loads(backtest_json(noted, None))["notes"] == ["from <there>"]
    print_backtest(Console(width=200), noted, None)
    assert "from <there>" in capsys.readouterr().out


def test_bars_are_left_out_where_there_is_no_value() -> None:
    assert bars([1.0, float("nan"), 0.0, 4.0], 4.0, "w").count("M") == 2
    assert bars([float("nan")] * 3, 4.0, "w") == ""


def test_what_is_above_the_top_touches_the_edge() -> None:
    assert 'points="250.0,50.00 750.0,0.00"' in curve([2.0, 9.0], 4.0, "w")
    assert "M500.0,100V0.00h500.0" in bars([0.0, 9.0], 4.0, "b")
    assert level(5.0, 4.0, "t") == ""
    assert 'y1="50.00"' in level(2.0, 4.0, "t")
    assert area([], 1.0, "f") == ""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "orders.csv"
    file.write_text("t_s,count\n" + "".join(f"{60 * n},{20 + n}\n" for n in range(30)))
    return file


def test_the_command_writes_all_three(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, figures = tmp_path / "page.html", tmp_path / "figures.json"
    asked = ["--service-time", "2s", "--target-wait", "1m", "--price-per-worker-hour", "0.05"]
    assert main(["backtest", "--trace", str(trace), *asked, "--html", str(page), "--json", str(figures)]) == 0
    assert json.loads(figures.read_text())["verdict"] in capsys.readouterr().out.replace("\n", " ").replace("  ", " ")
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--target-wait", "0"], "--target-wait"),
        (["--start-up", "soon"], "--start-up"),
        (["--min-workers", "5", "--max-workers", "4"], "--max-workers"),
        (["--html", "/no/such/place/page.html"], "--html"),
    ],
)
def test_wrong_options_are_named(trace: Path, more: list[str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        main(["backtest", "--trace", str(trace), *more])


def test_an_empty_trace_is_named(tmp_path: Path) -> None:
    file = tmp_path / "empty.csv"
    file.write_text("t_s,count\n0,0\n60,0\n")
    with pytest.raises(ConfigError, match="holds no messages"):
        main(["backtest", "--trace", str(file)])


def test_the_scoreboard_runs_from_a_trace_to_its_json(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board = tmp_path / "board.json"
    args = [
        "--trace",
        str(trace),
        "--quick",
        "--processes",
        "1",
        "--seeds",
        "1",
        "--max-messages",
        "300",
        "--load",
        "40",
        "--hours",
        "0.5",
        "--no-stress",
    ]
    assert main(["lab", "scoreboard", *args, "--cache", str(tmp_path / "cache"), "--json", str(board)]) == 0
    data = json.loads(board.read_text())
    assert [cell["load_slots"] for cell in data["cells"]] == [40] * 5
    assert data["windows"] == {"seeds": 1, "max_messages": 300, "max_length_s": 1800}
    assert data["headline"]["counted"] == sum(cell["counts"] for cell in data["cells"])
    shown = capsys.readouterr().out
    assert f"{data['headline']['counted']} of 5 cells count" in shown
    assert "KEDA + HPA" in shown
    for column in ("worst hour", "p99 ÷ T", "worker-h", "traces met", "starts/h", "rev./h"):
        assert column in shown
    assert data["stress"] == []


def test_a_fault_in_a_trace_is_said_before_anything_runs(trace: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("when,what\n1,2\n")
    with pytest.raises(ConfigError, match=r"wrong\.csv"):
        main(["lab", "scoreboard", "--trace", str(trace), "--trace", str(wrong), "--quick"])
