"""Task protection as the container agent answers: the sandbox's endpoint, and answers that it never gives."""

import asyncio
import json
import socket
from collections.abc import Iterator
from threading import Thread

import pytest

from tidegate.aws.ecs_agent import EcsAgent
from tidegate.errors import Blocked, CloudError, Denied, Gone, Invalid, Throttled, Unreachable
from tidegate.sandbox.metadata import MetadataServer
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.platform import Identity
from tidegate.testing import FakeClock

TASK = Identity("task1", "i-1", "arn:aws:ecs:eu-west-1:123456789012:task/cluster/task1")
CLOCK = FakeClock(1_000_000.0)


def desired() -> int:
    return 1


@pytest.fixture
def notices() -> Notices:
    made = Notices(desired)
    made.register(TASK)
    return made


@pytest.fixture
def agent(notices: Notices) -> Iterator[EcsAgent]:
    with MetadataServer(notices, CLOCK.now) as server:
        found = EcsAgent.from_environment(server.environment(TASK))
        assert found is not None
        yield found


async def test_a_task_is_protected_for_whole_minutes_and_no_longer_once_it_says_so(
    agent: EcsAgent, notices: Notices
) -> None:
    await agent.set_protected(True, 61.0)
    assert notices.protected_until_s("task1", CLOCK.now()) == CLOCK.now() + 120
    await agent.set_protected(False, 0.0)
    assert notices.protected_until_s("task1", CLOCK.now()) is None


async def test_more_protected_tasks_than_desired_are_told_that_a_deployment_is_in_the_way(
    agent: EcsAgent, notices: Notices
) -> None:
    notices.register(Identity("task2", "i-2", TASK.task_arn))
    notices.protect("task2", 10, CLOCK.now())
    with pytest.raises(Blocked, match="DEPLOYMENT_BLOCKED"):
        await agent.set_protected(True, 600.0)


async def test_a_task_that_the_agent_does_not_know_is_gone(agent: EcsAgent, notices: Notices) -> None:
    notices.forget("task1")
    with pytest.raises(Gone, match="ResourceNotFoundException"):
        await agent.set_protected(True, 600.0)


def test_outside_of_ecs_there_is_nothing_to_ask() -> None:
    assert EcsAgent.from_environment({}) is None


def _error(code: str) -> str:
    return json.dumps({"requestID": "1", "error": {"Arn": "a", "Code": code, "Message": "m"}})


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, json.dumps({"failure": {"Arn": "a", "Reason": "TASK_NOT_VALID", "Detail": "d"}}), Gone),
        (200, json.dumps({"failure": {"Arn": "a", "Reason": "SOMETHING_NEW"}}), Invalid),
        (400, _error("ThrottlingException"), Throttled),
        (400, _error("AccessDeniedException"), Denied),
        (500, _error("ServerException"), Unreachable),
        (408, _error("RequestCanceled"), Unreachable),
        (200, "<html>", Unreachable),
        (200, "[]", Unreachable),
        (200, json.dumps({"protection": {"ProtectionEnabled": False}}), Unreachable),
    ],
)
async def test_each_answer_is_the_error_that_it_means(status: int, body: str, kind: type[CloudError]) -> None:
    """The shapes are those of the page that the adapter cites."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Thread(target=_answer_once, args=(listener, status, body), daemon=True)
        server.start()
        with pytest.raises(kind):
            await EcsAgent(f"http://127.0.0.1:{listener.getsockname()[1]}/api/x").set_protected(True, 600.0)
        server.join(5)


def _answer_once(listener: socket.socket, status: int, body: str) -> None:
    connection, _ = listener.accept()
    with connection:
        while b"}" not in connection.recv(4096):
            pass
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        connection.sendall(head.encode() + body.encode())


async def test_an_agent_that_accepts_and_never_answers_is_unreachable_within_its_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        agent = EcsAgent(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2)
        async with asyncio.timeout(5):
            with pytest.raises(Unreachable, match="ecs:UpdateTaskProtection"):
                await agent.set_protected(True, 600.0)
