"""Whatever a file or the environment holds: settings, or ConfigError in plain words. Never another exception."""

import math
import tomllib
from copy import deepcopy
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.config.test_checks import EXAMPLE, EXAMPLE_TREE, _settings_of
from tidegate.config import assemble, load
from tidegate.config.models import Settings
from tidegate.config.pool import PoolSettings
from tidegate.config.setting import settings_of
from tidegate.config.tables import Window
from tidegate.errors import ConfigError

JARGON = ("input should", "validation", "pydantic", "instance of", "type=", "valid dictionary", "tuple", "errors.")

NAMES = [*settings_of(Settings), *settings_of(PoolSettings), *settings_of(Window)]
TEXTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["auto", "5m", "-1", "1e9", "UTC", "0 8 * * *", "* * * * *", "5L/2 * L * 1#2", "a" * 2000, "x.fifo"]
    ),
)
PLAIN_VALUES = st.one_of(
    TEXTS,
    st.integers(-3, 200),
    st.sampled_from([2**63, -(10**30), 10**400]),
    st.floats(),
    st.booleans(),
    st.sampled_from([date(2024, 1, 1), time(1, 2), datetime(2024, 1, 1)]),
)
VALUES = st.recursive(
    PLAIN_VALUES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
PLACES = st.sampled_from(_settings_of(EXAMPLE_TREE))
VARIABLES = st.builds(
    "TIDEGATE_{}".format,
    st.lists(st.sampled_from([*NAMES, "pools", "orders", "0", "", "CLUSTER"]), max_size=4)
    .map("__".join)
    .map(str.upper),
)


def judge(tree: dict[str, Any], environ: dict[str, str]) -> None:
    try:
        loaded = assemble(tree, environ)
    except ConfigError as error:
        said = error.faults
        assert said
    else:
        said = loaded.warnings
        for pool in loaded.settings.pools.values():
            at = pool.at(1_717_400_000.0)
            assert 0 <= at.min_workers <= at.max_workers
            assert math.isfinite(at.target_wait_s)
    for fault in said:
        assert fault.setting
        assert fault.problem
        assert fault.fix
        text = str(fault)
        assert text.startswith(f"{fault.setting} = ")
        assert "\n" not in text
        assert not any(word in (fault.problem + fault.fix).lower() for word in JARGON), text


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(changes=st.lists(st.tuples(PLACES, VALUES), min_size=1, max_size=4))
def test_any_values_in_place_of_right_ones_load_or_are_refused(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    tree = deepcopy(EXAMPLE_TREE)
    for at, value in changes:
        here: Any = tree
        for part in at[:-1]:
            if isinstance(here, dict):
                here = here.get(part)
            elif isinstance(here, list):
                here = here[0] if here else None
        if isinstance(here, dict):
            here[at[-1]] = deepcopy(value)
    judge(tree, {})


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(tree=st.dictionaries(st.sampled_from([*NAMES, "_env_file"]) | st.text(max_size=5), VALUES, max_size=4))
def test_any_tree_at_all_loads_or_is_refused(tree: dict[str, Any]) -> None:
    judge(tree, {})


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    environ=st.dictionaries(
        VARIABLES, TEXTS | st.sampled_from(["[]", "{}", "[1]", '{"a": 1}', "null", "1"]), max_size=4
    )
)
def test_any_variables_over_a_right_file_load_or_are_refused(environ: dict[str, str]) -> None:
    judge(deepcopy(EXAMPLE_TREE), environ)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.integers(0, 4000), drop=st.integers(0, 6), put=st.binary(max_size=4))
def test_a_file_with_a_few_bytes_changed_loads_or_is_refused(tmp_path: Path, place: int, drop: int, put: bytes) -> None:
    data = EXAMPLE.read_bytes()
    place %= len(data)
    path = tmp_path / "tidegate.toml"
    path.write_bytes(data[:place] + put + data[place + drop :])
    try:
        found = load(path, {}).warnings
    except ConfigError as error:
        found = error.faults
    assert all(fault.setting and fault.problem and fault.fix for fault in found)


def test_the_example_the_fuzz_starts_from_is_right() -> None:
    assert tomllib.loads(EXAMPLE.read_text()) == EXAMPLE_TREE
    judge(EXAMPLE_TREE, {})
