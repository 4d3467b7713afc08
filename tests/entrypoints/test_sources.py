"""Settings from a file, a parameter and a bucket are the same settings; what is not there is said in one line."""

import json
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from tests.aws.moto_cloud import moto_clients
from tests.config.trees import PLAIN
from tidegate.aws.clients import AwsClients
from tidegate.config import assemble
from tidegate.entrypoints.sources import load_from
from tidegate.errors import ConfigError, Gone

TEXT = json.dumps(PLAIN)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsClients]:
    with moto_clients(monkeypatch) as clients:
        boto3.client("ssm").put_parameter(Name="/tidegate/prod", Value="tick = 1", Type="String")
        boto3.client("ssm").put_parameter(Name="/tidegate/prod", Value=TEXT, Type="String", Overwrite=True)
        boto3.client("s3", region_name="us-east-1").create_bucket(Bucket="settings")
        boto3.client("s3").put_object(Bucket="settings", Key="prod/tidegate.json", Body=TEXT.encode())
        yield clients


@pytest.mark.parametrize(
    "source",
    [
        "ssm:/tidegate/prod",
        "ssm:/tidegate/prod:2",
        "ssm:arn:aws:ssm:eu-west-1:123456789012:parameter/tidegate/prod",
        "s3://settings/prod/tidegate.json",
        "tidegate.json",
    ],
)
def test_the_same_settings_come_from_everywhere(account: AwsClients, tmp_path: Path, source: str) -> None:
    (tmp_path / "tidegate.json").write_text(TEXT)
    assert load_from(source, {}, tmp_path).settings == assemble(PLAIN, {}).settings


@pytest.mark.parametrize("source", ["ssm:/nowhere", "ssm:/tidegate/prod:9", "s3://settings/nothing", "s3://nowhere/x"])
def test_what_is_not_there_is_gone(account: AwsClients, source: str) -> None:
    with pytest.raises(Gone):
        load_from(source, {})


@pytest.mark.parametrize("source", ["ssm:", "s3://", "s3://bucket", "s3:///key"])
def test_a_source_that_names_nothing_is_refused_with_how_it_is_written(source: str) -> None:
    with pytest.raises(ConfigError, match=r"names no .*; write a file's path"):
        load_from(source, {})


def test_an_absolute_path_is_not_looked_up_in_the_folder(tmp_path: Path) -> None:
    file = tmp_path / "tidegate.json"
    file.write_text(TEXT)
    assert load_from(str(file), {}, Path("/nowhere")).settings == assemble(PLAIN, {}).settings


def test_a_variable_overrides_what_a_parameter_says(account: AwsClients) -> None:
    loaded = load_from("ssm:/tidegate/prod", {"TIDEGATE_POOLS__ORDERS__MAX_WORKERS": "7"})
    assert loaded.settings.pools["orders"].max_workers == 7


def test_a_fault_in_a_parameter_names_the_parameter(account: AwsClients) -> None:
    boto3.client("ssm").put_parameter(Name="/tidegate/prod", Value='{"pools": ', Type="String", Overwrite=True)
    with pytest.raises(ConfigError, match=r"^ssm:/tidegate/prod .* is not JSON: .* line 1"):
        load_from("ssm:/tidegate/prod", {})
