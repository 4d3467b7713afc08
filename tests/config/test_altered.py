"""Settings changed for a replay: the names, parsers and checks of the settings file."""

from dataclasses import replace
from typing import Any

import pytest

from tests.config.trees import GONE, changed
from tests.core.observations import POOL
from tidegate.config import assemble, json_schema
from tidegate.config.altered import altered
from tidegate.core.bottlenecks import ApiRate, Database
from tidegate.errors import ConfigError

EVERYTHING = [
    {name: (setting.get("examples") or [setting["default"]])[0]}
    for name, setting in json_schema()["$defs"]["PoolSettings"]["properties"].items()
    if name not in ("queue", "queues", "ecs", "asg", "schedule") and ("examples" in setting or "default" in setting)
]
"""Every setting of a pool, each alone, by its example or its default."""


def test_only_what_was_named_changes() -> None:
    changed = altered(["target_wait=45s", "ramp.percent=50", "tick=20s", "utilization=auto", "policy=wait"])(POOL)
    assert changed == replace(POOL, target_wait_s=45.0, ramp_share=0.5, tick_s=20.0, utilization=None, policy="wait")


def test_a_part_of_a_table_leaves_its_other_parts() -> None:
    pool = replace(POOL, max_workers=5, database=Database(connections=100, reserved=20))
    assert altered(["database.connections=40"])(pool).database == Database(connections=40, reserved=20)
    assert altered(["database.connections=40"])(replace(POOL, max_workers=5)).database == Database(connections=40)


def test_a_pool_with_every_table_can_be_changed() -> None:
    pool = replace(POOL, database=Database(100), api=ApiRate(50.0, 2.0), message_groups=8, max_workers=5)
    assert altered(["api.calls_per_second=80"])(pool).api == ApiRate(80.0, 2.0)
    assert altered(["message_groups=4"])(pool) == replace(pool, message_groups=4)


@pytest.mark.parametrize("more", EVERYTHING)
def test_whatever_a_pool_has_been_told_it_can_be_changed_and_keeps_the_rest(more: dict[str, Any]) -> None:
    tree = changed({**more, "target_wait": GONE} if "finish_by" in more else more)
    pool = assemble(tree, {}).settings.pools["orders"].at(0.0)
    assert altered(["tick=20s"])(pool) == replace(pool, tick_s=20.0)


def test_a_bulk_pool_that_is_given_a_wait_has_no_time_to_finish_by_any_more() -> None:
    bulk = replace(POOL, finish_in_s=3600.0)
    assert altered(["target_wait=45s"])(bulk) == replace(bulk, target_wait_s=45.0, finish_in_s=None)
    assert altered(["tick=20s"])(bulk).finish_in_s == 3600.0


def test_what_a_schedule_made_of_the_limits_stays_at_each_tick() -> None:
    change = altered(["target_wait=45s"])
    assert [change(replace(POOL, max_workers=most)).max_workers for most in (50, 20)] == [50, 20]


def test_each_pool_is_checked_with_its_own_settings() -> None:
    change = altered(["max_workers=3"])
    assert change(POOL).max_workers == 3
    with pytest.raises(ConfigError, match="min_workers"):
        change(replace(POOL, name="mail", min_workers=5))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target_wait", "--set = 'target_wait': is no NAME=VALUE; write NAME=VALUE"),
        ("=3", "is no NAME=VALUE"),
        ("target_wait=soon", "--set target_wait = 'soon': is not a duration; write seconds as a number"),
        ("max_workers=0", "--set max_workers = '0': is too small; write a whole number from 1"),
        ("target_wiat=3s", "--set target_wiat = "),
        ("ramp.percnt=3", "--set ramp.percnt = "),
        ("policy=best", "--set policy = 'best'"),
        ("queue=orders", "--set queue = 'orders': plays no part in a decision"),
        ("policy=wait", "--set policy = 'wait': does not decide while utilization is a share (0.7)"),
        ("target_wait.x=3", "target_wait = (a table): is not a duration"),
        ("database.connections=0", "--set database.connections = '0': is too small"),
    ],
)
def test_what_is_wrong_gets_one_line_with_setting_value_and_fix(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        altered([text])(POOL)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
