"""IMDSv2 as the sandbox serves it, and as it fails."""

import socket
from collections.abc import Iterator
from threading import Thread

import pytest

from tidegate.aws.imds import Imds
from tidegate.errors import Denied, Gone, Unreachable
from tidegate.ports import InstanceNotices
from tidegate.sandbox.metadata import MetadataServer
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Identity
from tidegate.testing import FakeClock

NOW_S = 1_700_000_000.0
INSTANCE = Identity("i-3", "i-3")


@pytest.fixture
def notices() -> Notices:
    made = Notices(lambda: 1)
    made.register(INSTANCE)
    return made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW_S)


@pytest.fixture
def imds(notices: Notices, clock: FakeClock) -> Iterator[Imds]:
    with MetadataServer(notices, clock.now) as server:
        found = Imds.from_environment(server.environment(INSTANCE), clock.now)
        assert found is not None
        yield found


async def test_an_instance_that_nothing_threatens_has_no_notices(imds: Imds) -> None:
    assert await imds.instance_id() == "i-3"
    assert await imds.look() == InstanceNotices()


async def test_each_notice_is_read_with_its_time(imds: Imds, notices: Notices) -> None:
    notices.spot("i-3", NOW_S + 120)
    notices.rebalance("i-3", NOW_S - 5)
    notices.target_lifecycle_state("i-3", "Terminated")
    assert await imds.look() == InstanceNotices(NOW_S + 120, NOW_S - 5, terminating=True)


async def test_a_token_is_renewed_before_it_ends_and_once_it_is_not_taken_any_more(
    imds: Imds, notices: Notices, clock: FakeClock
) -> None:
    """aws-node-termination-handler #668: a 401 ended the watch."""
    await imds.look()
    clock.advance(21_600)
    assert await imds.look() == InstanceNotices()
    notices.forget("i-3")
    notices.register(INSTANCE)
    assert await imds.look() == InstanceNotices()


async def test_a_notice_that_is_no_document_counts_as_none(imds: Imds, notices: Notices) -> None:
    notices._set("i-3", "spot/instance-action", "<html>")
    notices._set("i-3", "events/recommendations/rebalance", {"noticeTime": "soon"})
    assert await imds.look() == InstanceNotices()


async def test_where_nothing_listens_there_is_no_imds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as freed:
        port = freed.getsockname()[1]
    with pytest.raises(Gone, match="no EC2 instance"):
        await Imds(f"http://127.0.0.1:{port}/", lambda: 0.0).look()


async def test_an_imds_whose_tokens_never_arrive_is_told_from_none_and_the_hop_limit_is_named() -> None:
    """The answer to the PUT is lost one hop short of a container; the GET's refusal arrives."""

    def serve(listener: socket.socket) -> None:
        for _ in range(2):
            connection, _ = listener.accept()
            with connection:
                if connection.recv(4096).startswith(b"PUT"):
                    connection.recv(1)  # until the client gives up
                else:
                    connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Thread(target=serve, args=(listener,), daemon=True)
        server.start()
        imds = Imds(f"http://127.0.0.1:{listener.getsockname()[1]}/", lambda: 0.0, timeout_s=0.3)
        with pytest.raises(Denied, match="HttpPutResponseHopLimit to 2"):
            await imds.look()
        server.join(5)


async def test_an_imds_that_gives_no_token_to_this_worker_is_as_good_as_none(imds: Imds, notices: Notices) -> None:
    notices.forget("i-3")
    with pytest.raises(Gone):
        await imds.look()


async def test_any_other_answer_is_no_answer(imds: Imds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imds, "_token", "stale")
    monkeypatch.setattr(imds, "_token_ends_s", 9e9)
    monkeypatch.setattr(imds, "_renew_token", _no_renewal)
    with pytest.raises(Unreachable, match="status 401"):
        await imds.look()


async def _no_renewal() -> None:
    """The token stays what it is."""


@pytest.mark.parametrize("environ", [{"AWS_EC2_METADATA_DISABLED": "true"}, {"AWS_EXECUTION_ENV": "AWS_ECS_FARGATE"}])
def test_where_it_is_turned_off_or_missing_it_is_not_asked(environ: dict[str, str]) -> None:
    assert Imds.from_environment(environ, lambda: 0.0) is None
