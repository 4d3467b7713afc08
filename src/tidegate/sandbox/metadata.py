"""The endpoints that ECS and EC2 give each worker: task protection, task metadata and IMDSv2, one path per worker.

The answers to protection follow the container agent: a refusal by ECS is HTTP 200 with "failure", a bad request is
400 with "error". https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection-endpoint.html
"""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Self

from aiohttp import web

from tidegate.errors import TidegateError
from tidegate.sandbox.notices import Blocked, Notices, timestamp
from tidegate.sandbox.platform import Identity
from tidegate.sandbox.startable import Startable

__all__ = ["MetadataServer"]

PROTECTION_MINUTES = range(1, 2881)
DEFAULT_PROTECTION_MINUTES = 120
TOKEN_TTL_S = range(1, 21601)
TTL_HEADER = "X-aws-ec2-metadata-token-ttl-seconds"
TOKEN_HEADER = "X-aws-ec2-metadata-token"  # noqa: S105 - a header's name


class MetadataServer(Startable):
    """Serves `notices` on 127.0.0.1 from a thread of its own. `now` is wall time in seconds since the epoch."""

    def __init__(self, notices: Notices, now: Callable[[], float]) -> None:
        self._notices, self._now = notices, now
        self._url: str | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()

    def start(self) -> Self:
        ready: Future[str] = Future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="metadata", daemon=True)
        self._thread.start()
        self._url = ready.result(timeout=10)
        return self

    def stop(self) -> None:
        """Safe to call twice, or without a start."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()
            self._thread = None

    def environment(self, identity: Identity) -> dict[str, str]:
        """What a worker's environment tells it about these endpoints."""
        if self._url is None:
            raise TidegateError("the metadata server is not started; call start() first")
        env = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": f"{self._url}/imds/{identity.worker_id}/"}
        if identity.task_arn is not None:
            env["ECS_AGENT_URI"] = f"{self._url}/api/{identity.worker_id}"
            env["ECS_CONTAINER_METADATA_URI_V4"] = f"{self._url}/v4/{identity.worker_id}"
        return env

    def _run(self, ready: "Future[str]") -> None:
        try:
            asyncio.run(self._serve(ready))
        except OSError as error:
            ready.set_exception(error)

    async def _serve(self, ready: "Future[str]") -> None:
        self._loop = asyncio.get_running_loop()
        app = web.Application()
        app.add_routes(
            [
                web.get("/api/{worker}/task-protection/v1/state", self._get_protection),
                web.put("/api/{worker}/task-protection/v1/state", self._put_protection),
                web.get("/v4/{worker}/task", self._get_task),
                web.put("/imds/{worker}/latest/api/token", self._put_token),
                web.get("/imds/{worker}/latest/meta-data/{path:.+}", self._get_document),
            ]
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            host, port = runner.addresses[0][:2]
            ready.set_result(f"http://{host}:{port}")
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _get_protection(self, request: web.Request) -> web.Response:
        identity = self._notices.identity(request.match_info["worker"])
        if identity is None:
            return _refused(404, "", "ResourceNotFoundException", "Failed to find a task for the request")
        return self._protection(identity)

    async def _put_protection(self, request: web.Request) -> web.Response:
        identity = self._notices.identity(request.match_info["worker"])
        if identity is None:
            return _refused(404, "", "ResourceNotFoundException", "Failed to find a task for the request")
        arn = identity.task_arn or ""
        try:
            enabled, minutes = _wish(await request.text())
        except ValueError as error:
            return _refused(400, arn, "InvalidParameterException", str(error))
        if not enabled:
            self._notices.unprotect(identity.worker_id)
            return self._protection(identity)
        try:
            self._notices.protect(identity.worker_id, minutes, self._now())
        except Blocked as blocked:
            failure = {"Arn": arn, "Detail": str(blocked), "Reason": "DEPLOYMENT_BLOCKED"}
            return web.json_response({"failure": failure})
        return self._protection(identity)

    def _protection(self, identity: Identity) -> web.Response:
        until_s = self._notices.protected_until_s(identity.worker_id, self._now())
        protection = {
            "ExpirationDate": None if until_s is None else timestamp(until_s),
            "ProtectionEnabled": until_s is not None,
            "TaskArn": identity.task_arn,
        }
        return web.json_response({"protection": protection})

    async def _get_task(self, request: web.Request) -> web.Response:
        """In part: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-response.html"""
        identity = self._notices.identity(request.match_info["worker"])
        if identity is None or identity.task_arn is None:
            return web.Response(status=404)
        cluster = identity.task_arn.split("/")[1]
        return web.json_response({"Cluster": cluster, "TaskARN": identity.task_arn, "LaunchType": "FARGATE"})

    async def _put_token(self, request: web.Request) -> web.Response:
        """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html"""
        worker_id, ttl = request.match_info["worker"], request.headers.get(TTL_HEADER, "")
        if self._notices.identity(worker_id) is None:
            return web.Response(status=404)
        if not ttl.isdigit() or int(ttl) not in TOKEN_TTL_S:
            return web.Response(status=400)
        token = self._notices.issue_token(worker_id, int(ttl), self._now())
        return web.Response(text=token, headers={TTL_HEADER: ttl})

    async def _get_document(self, request: web.Request) -> web.Response:
        worker_id = request.match_info["worker"]
        if not self._notices.token_holds(worker_id, request.headers.get(TOKEN_HEADER, ""), self._now()):
            return web.Response(status=401)
        document = self._notices.document(worker_id, request.match_info["path"])
        if document is None:
            return web.Response(status=404)
        return web.Response(text=document if isinstance(document, str) else json.dumps(document))


def _wish(body: str) -> tuple[bool, int]:
    """(enabled, minutes) of a request to protect. Raises ValueError with the reason when it is none."""
    try:
        wish: Any = json.loads(body)
    except ValueError as error:
        raise ValueError("UpdateTaskProtection: failed to decode request") from error
    if not isinstance(wish, dict) or wish.keys() - {"ProtectionEnabled", "ExpiresInMinutes"}:
        raise ValueError("UpdateTaskProtection: failed to decode request")
    enabled, minutes = wish.get("ProtectionEnabled"), wish.get("ExpiresInMinutes")
    if not isinstance(enabled, bool):
        raise ValueError("Invalid request: does not contain 'ProtectionEnabled' field")  # noqa: TRY004 - one kind of refusal
    if minutes is not None and (not isinstance(minutes, int) or minutes not in PROTECTION_MINUTES):
        raise ValueError("expiresInMinutes must be between 1 and 2880")
    return enabled, DEFAULT_PROTECTION_MINUTES if minutes is None else minutes


def _refused(status: int, arn: str, code: str, message: str) -> web.Response:
    error = {"Arn": arn, "Code": code, "Message": message}
    return web.json_response({"error": error}, status=status)
