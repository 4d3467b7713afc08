"""The public names are a promise: this test is where it is kept, and changing it is a change for the changelog."""

import subprocess
import sys

import pytest

import tidegate


def test_the_public_names_are_these() -> None:
    assert sorted(tidegate.__all__) == [
        "AsyncPool", "Decision", "Message", "Observation", "Pool", "PoolState", "Reject", "Retry", "Saturated",
        "TidegateError", "Worker", "auto", "decide", "max_workers_for",
    ]  # fmt: skip


@pytest.mark.parametrize("name", tidegate.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(tidegate, name).__doc__
    assert name in dir(tidegate)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Wroker'"):
        _ = tidegate.Wroker


@pytest.mark.integration
@pytest.mark.parametrize(
    ("imports", "must_not_load"),
    [
        ("import tidegate", ("boto3", "aiobotocore", "pydantic", "asyncio", "structlog")),
        ("from tidegate import decide", ("boto3", "aiobotocore", "numpy", "scipy")),
        ("from tidegate import Worker", ("boto3", "moto", "rich", "flask")),
        ("from tidegate import AsyncPool, auto", ("boto3", "aiobotocore", "pydantic")),
        ("import tidegate.controller", ("numpy", "scipy", "aiobotocore", "moto")),
        ("import tidegate.entrypoints.cli", ("boto3", "aiobotocore", "moto")),
    ],
)
def test_an_import_loads_only_what_it_needs(imports: str, must_not_load: tuple[str, ...]) -> None:
    code = f"{imports}; import sys; print(*[name for name in {must_not_load!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.split() == []
