"""Windows: when they are open, on which wall clock, and whose limits hold."""

import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from tests.config.trees import WINDOW, changed, faults
from tidegate.config import PoolSettings, assemble
from tidegate.config.reading import read_settings
from tidegate.config.schedule import holds

BERLIN = ZoneInfo("Europe/Berlin")
OFFICE = {**WINDOW, "timezone": "Europe/Berlin", "min_workers": 5, "max_workers": 80}


def pool(*windows: dict[str, Any], **changes: Any) -> PoolSettings:
    return assemble(changed({"schedule": list(windows), **changes}), {}).settings.pools["orders"]


def berlin(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).timestamp()


def limits(settings: PoolSettings, now_s: float) -> tuple[int, int, str]:
    at = settings.at(now_s)
    return at.min_workers, at.max_workers, at.limits_from


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2024-06-03 07:59:59", (1, 50, "settings")),  # a Monday
        ("2024-06-03 08:00:00", (5, 80, "schedule 'office'")),
        ("2024-06-03 19:59:59", (5, 80, "schedule 'office'")),
        ("2024-06-03 20:00:00", (1, 50, "settings")),
        ("2024-06-07 12:00:00", (5, 80, "schedule 'office'")),  # a Friday
        ("2024-06-08 12:00:00", (1, 50, "settings")),
        ("2024-12-02 08:00:00", (5, 80, "schedule 'office'")),  # 07:00 UTC in winter, 06:00 in summer
        ("2024-12-02 07:59:59", (1, 50, "settings")),
    ],
)
def test_a_window_holds_from_its_start_up_to_its_end_on_its_own_wall_clock(
    now: str, expected: tuple[int, int, str]
) -> None:
    assert limits(pool(OFFICE), berlin(now)) == expected


def test_a_fraction_of_a_second_before_the_end_is_still_inside() -> None:
    assert holds("0 8 * * *", "0 20 * * *", "UTC", datetime(2024, 6, 3, 20, tzinfo=UTC).timestamp() - 0.001)
    assert holds("0 8 * * *", "0 20 * * *", "UTC", datetime(2024, 6, 3, 8, tzinfo=UTC).timestamp() + 0.001)


def test_a_window_over_midnight_and_one_over_the_weekend_stay_open() -> None:
    night = {"name": "night", "start": "0 22 * * *", "end": "0 6 * * *", "max_workers": 3}
    weekend = {"name": "weekend", "start": "0 18 * * FRI", "end": "0 6 * * MON", "max_workers": 2}
    assert limits(pool(night), datetime(2024, 6, 5, 1, tzinfo=UTC).timestamp())[1] == 3
    assert limits(pool(weekend), datetime(2024, 6, 9, 12, tzinfo=UTC).timestamp())[1] == 2
    assert limits(pool(weekend), datetime(2024, 6, 10, 6, tzinfo=UTC).timestamp())[1] == 50


def test_a_limit_that_the_window_leaves_out_stays_the_pools() -> None:
    noon = datetime(2024, 6, 3, 12, tzinfo=UTC).timestamp()
    assert limits(pool({**WINDOW, "min_workers": 7}), noon)[:2] == (7, 50)
    assert limits(pool({**WINDOW, "max_workers": 7}), noon)[:2] == (1, 7)


def test_where_windows_overlap_the_highest_minimum_and_the_highest_maximum_win() -> None:
    one = {**WINDOW, "min_workers": 5, "max_workers": 20}
    other = {**WINDOW, "name": "rush", "start": "0 11 * * *", "end": "0 13 * * *", "min_workers": 8, "max_workers": 9}
    noon = datetime(2024, 6, 3, 12, tzinfo=UTC).timestamp()
    assert limits(pool(one, other), noon) == (8, 20, "schedule 'office' and 'rush'")
    assert limits(pool(other, one), noon)[:2] == (8, 20)


def test_a_minimum_above_another_windows_maximum_is_cut_to_it_if_validation_was_left_out() -> None:
    """Only reachable without `load`: what core is given must hold together all the same."""
    windows = [{**WINDOW, "min_workers": 9}, {**WINDOW, "name": "b", "max_workers": 3}]
    read, _ = read_settings(changed({"schedule": windows}))
    assert read is not None
    assert limits(read.pools["orders"], datetime(2024, 6, 3, 12, tzinfo=UTC).timestamp())[:2] == (3, 3)


def test_a_start_and_an_end_at_the_same_instant_begin_a_new_window() -> None:
    monday = datetime(2024, 6, 3, 8, tzinfo=UTC).timestamp()
    assert holds("0 8 * * *", "0 8 * * MON", "UTC", monday)


@pytest.mark.parametrize(
    ("now_s", "is_open"),
    [
        # 31 March 2024: 02:00 to 03:00 does not exist; a start at 02:30 comes at 03:00
        (berlin("2024-03-31 01:59:59"), False),
        (berlin("2024-03-31 03:00:00"), True),
        (berlin("2024-03-31 03:59:59"), True),
        (berlin("2024-03-31 04:00:00"), False),
        # 27 October 2024: 02:00 to 03:00 comes twice; a start at 02:30 comes the first time
        (berlin("2024-10-27 02:29:59", fold=0), False),
        (berlin("2024-10-27 02:30:00", fold=0), True),
        (berlin("2024-10-27 02:00:00", fold=1), True),
        (berlin("2024-10-27 02:45:00", fold=1), True),
        (berlin("2024-10-27 04:00:00"), False),
    ],
)
def test_a_start_in_the_hour_that_clocks_skip_or_repeat_comes_once(now_s: float, is_open: bool) -> None:
    assert holds("30 2 * * *", "0 4 * * *", "Europe/Berlin", now_s) is is_open


def test_an_end_in_the_first_pass_of_a_repeated_hour_does_not_open_the_window_again_in_the_second() -> None:
    for minute in range(0, 60, 5):
        assert not holds("0 1 * * *", "50 2 * * *", "Europe/Berlin", berlin(f"2024-10-27 02:{minute:02}", fold=1))


EXPRESSIONS = ["0 2 * * *", "30 2 * * *", "50 2 * * *", "0 3 * * *", "15 0 * * *", "*/20 * * * *", "45 1,2 * * SUN"]
CHANGES = [
    ("Europe/Berlin", datetime(2024, 3, 31, 1, tzinfo=UTC)),
    ("Europe/Berlin", datetime(2024, 10, 27, 1, tzinfo=UTC)),
    ("America/New_York", datetime(2024, 3, 10, 7, tzinfo=UTC)),
    ("America/New_York", datetime(2024, 11, 3, 6, tzinfo=UTC)),
    ("Australia/Lord_Howe", datetime(2024, 4, 6, 15, tzinfo=UTC)),  # half an hour
    ("America/Sao_Paulo", datetime(2018, 11, 4, 3, tzinfo=UTC)),  # at midnight
]


@given(
    change=st.sampled_from(CHANGES),
    start=st.sampled_from(EXPRESSIONS),
    end=st.sampled_from(EXPRESSIONS),
    minutes=st.integers(-400, 400),
)
def test_looking_back_from_now_agrees_with_walking_forward_in_time(
    change: tuple[str, datetime], start: str, end: str, minutes: int
) -> None:
    name, moment = change
    now_s = (moment + timedelta(minutes=minutes)).timestamp()
    begin = (moment - timedelta(days=9)).astimezone(ZoneInfo(name))

    def latest(expression: str) -> float:
        fired = 0.0
        for at in CronSim(expression, begin):
            if at.timestamp() > now_s:
                return fired
            fired = at.timestamp()
        raise AssertionError("these expressions never end")

    assert holds(start, end, name, now_s) is (latest(start) >= latest(end))


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("0 0 30 2 *", "is no cron expression that ever fires (look at its day-of-month)"),
        ("0 0 */31 2 MON#5", "never fires"),
        ("0 25 * * *", "is no cron expression that ever fires (look at its hour)"),
        ("61 * * * *", "is no cron expression that ever fires (look at its minute)"),
        ("0 8 * * MONDAY", "is no cron expression that ever fires (look at its day-of-week)"),
        ("0 8 * *", "is no cron expression of five fields"),
        ("0 0 8 * * MON", "is no cron expression of five fields"),
        ("@daily", "is no cron expression of five fields"),
        ("", "is empty"),
    ],
)
def test_a_cron_expression_that_never_fires_is_refused(expression: str, problem: str) -> None:
    (fault,) = faults(changed({"schedule": [{**OFFICE, "start": expression}]}))
    assert fault.setting == "pools.orders.schedule[0].start"
    assert fault.problem == problem
    assert fault.fix


def test_a_day_that_comes_once_in_four_years_is_a_day() -> None:
    leap = {"name": "leap", "start": "0 0 29 2 *", "end": "0 0 1 3 *", "min_workers": 9}
    assert limits(pool(leap), datetime(2024, 2, 29, 12, tzinfo=UTC).timestamp())[0] == 9
    assert limits(pool(leap), datetime(2025, 2, 28, 12, tzinfo=UTC).timestamp())[0] == 1


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../etc/passwd", "/etc/passwd", "Europe", "europe/berlin/x", "x\x7f"])
def test_an_unknown_time_zone_is_refused(zone: str) -> None:
    (fault,) = faults(changed({"schedule": [{**OFFICE, "timezone": zone}]}))
    assert fault.setting == "pools.orders.schedule[0].timezone"
    assert fault.fix


@pytest.fixture
def _no_system_zones() -> Iterator[None]:
    """As in a slim container image: the system has no time zone database."""
    zoneinfo.reset_tzpath(to=())
    ZoneInfo.clear_cache()
    yield
    zoneinfo.reset_tzpath()
    ZoneInfo.clear_cache()


@pytest.mark.usefixtures("_no_system_zones")
@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC"])
def test_zones_are_known_without_a_database_of_the_systems(zone: str) -> None:
    window = {**OFFICE, "timezone": zone}
    assert limits(pool(window), datetime(2024, 6, 3, 12, tzinfo=UTC).timestamp())[2] == "schedule 'office'"
