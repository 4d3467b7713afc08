"""A proxy that is no URL and certificates that are none: said as what they are, before anything is called."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

import botocore.session
import pytest
from botocore.exceptions import EndpointConnectionError
from botocore.httpsession import where

from tests.aws.moto_cloud import use_test_account
from tidegate.aws.aio import QUICK_CONFIG, open_client, session
from tidegate.aws.clients import AwsClients
from tidegate.aws.errors import wrap
from tidegate.aws.way_out import check_way_out
from tidegate.errors import ConfigError

HTTPS = "https://sqs.eu-west-1.amazonaws.com"


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    for name in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    use_test_account(monkeypatch)
    return monkeypatch


async def worker_client() -> None:
    async with AsyncExitStack() as stack:
        await open_client(stack, session(), "sqs", "eu-west-1", QUICK_CONFIG)


async def said(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What both the controller's clients and the worker's say."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as controllers:
        AwsClients("eu-west-1").sqs()
    with pytest.raises(ConfigError) as workers:
        await worker_client()
    assert str(controllers.value) == str(workers.value)
    return str(controllers.value)


@pytest.mark.parametrize("variable", ["AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("missing.pem", "can't be read (No such file or directory)"),
        ("", "is no file"),
        ("pipe", "is no file"),
        ("words.pem", "holds no certificate in PEM form"),
    ],
)
async def test_certificates_that_are_none_are_named_with_variable_value_and_fix(
    account: pytest.MonkeyPatch, tmp_path: Path, variable: str, name: str, problem: str
) -> None:
    (tmp_path / "words.pem").write_text("no certificate\n")
    os.mkfifo(tmp_path / "pipe")
    path = str(tmp_path / name)

    assert await said(variable, path, account) == (
        f"{variable} = {path!r}: {problem}; "
        "name a file of PEM certificates, or unset it to use those that come with botocore"
    )


@pytest.mark.parametrize("value", ["", "  "])
async def test_an_empty_variable_for_certificates_is_refused(account: pytest.MonkeyPatch, value: str) -> None:
    assert (await said("AWS_CA_BUNDLE", value, account)).startswith(f"AWS_CA_BUNDLE = {value!r}: names no file; ")


async def test_certificates_named_in_the_profile_are_looked_at_too(account: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("[default]\nca_bundle = /nonexistent.pem\n")
    line = await said("AWS_CONFIG_FILE", str(tmp_path / "config"), account)
    assert line.startswith("ca_bundle (of the AWS profile) = '/nonexistent.pem': can't be read (")


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("http://[::1", "is no URL (Invalid IPv6 URL)"),
        ("http://proxy:door", "is no URL (Port could not be cast to integer value as 'door')"),
        ("proxy:99999", "is no URL (Port out of range 0-65535)"),
        ("socks5://proxy:1080", "socks5 is no kind of proxy that botocore knows"),
        ("http://", "names no host"),
        ("http:", "names no host"),
        ("the proxy", "names no host"),
    ],
)
async def test_a_proxy_that_is_none_is_named_with_variable_value_and_fix(
    account: pytest.MonkeyPatch, variable: str, value: str, problem: str
) -> None:
    assert await said(variable, value, account) == (
        f"{variable} = {value!r}: {problem}; "
        "write it as http://host:port, or unset it (NO_PROXY names the hosts that need none)"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("http://ada:qwe/rty@uio@[::1", "http://***@[::1"),
        ("http://ada:qwe/rty@uio@proxy:3128", "http://***@proxy:3128"),
        ("ada:qwe/rty@uio@host:door", "***@host:door"),
        ("http://ada:qwe\u2100rty@proxy", "http://***@proxy"),
        ("ada:qwe@http://proxy", "***@http://proxy"),
        ("socks5://ada:qwe@proxy", "socks5://***@proxy"),
    ],
)
async def test_a_proxys_user_and_password_are_not_said_nor_parts_of_them(
    account: pytest.MonkeyPatch, value: str, shown: str
) -> None:
    line = await said("HTTPS_PROXY", value, account)
    assert line.startswith(f"HTTPS_PROXY = {shown!r}: ")
    assert not [part for part in ("ada", "qwe", "rty", "uio") if part in line]


@pytest.mark.parametrize("value", ["proxy", "proxy:3128", "http://proxy", "https://u:p@proxy:3128/", "//proxy:1"])
def test_a_proxy_as_botocore_takes_it_is_left_alone(account: pytest.MonkeyPatch, value: str) -> None:
    account.setenv("HTTPS_PROXY", value)
    check_way_out(HTTPS, None)


def test_what_is_not_used_is_not_looked_at(account: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "AWS_CA_BUNDLE"):
        account.setenv(name, "http://[nonsense")
    check_way_out("http://127.0.0.1:4566", None)
    account.setenv("NO_PROXY", "amazonaws.com")
    account.setenv("AWS_CA_BUNDLE", where())
    check_way_out(HTTPS, botocore.session.get_session())


def test_an_endpoint_behind_a_proxy_that_can_not_be_reached_names_the_proxy(account: pytest.MonkeyPatch) -> None:
    """aiobotocore has the endpoint only, where the proxy's name is unknown."""
    error = EndpointConnectionError(endpoint_url=HTTPS)
    assert str(wrap(error, "sqs:GetQueueUrl", "orders")).endswith("; check the endpoint, the network and the Region")
    account.setenv("HTTPS_PROXY", "http://ada:secret@foo")
    assert str(wrap(error, "sqs:GetQueueUrl", "orders")).endswith(
        "; check the proxy (HTTPS_PROXY = 'http://***@foo'), the endpoint, the network and the Region"
    )
