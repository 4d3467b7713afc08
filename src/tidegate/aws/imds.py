"""What EC2 tells an instance about itself (IMDSv2): spot notices, rebalance recommendations, Auto Scaling's intent.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Self

from tidegate.aws.local_http import Answer, ask
from tidegate.errors import Denied, Gone, Unreachable
from tidegate.ports import InstanceNotices

__all__ = ["Imds"]

_GET: Final = "imds:Get"
_TOKEN_TTL_S: Final = 21_600
_RENEW_BEFORE_S: Final = 60.0
_TIMEOUT_S: Final = 1.0
_LINK_LOCAL: Final = "http://169.254.169.254/"

_HOPS: Final = (
    "raise the instance's HttpPutResponseHopLimit to 2: from a container the answer with the token needs one hop more"
)
"""https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-existing-instances.html"""


class Imds:
    """Implements `ports.InstanceWatch`; `clock` is a steady clock, for the token's time.

    Every method raises Gone where there is no IMDS, Denied when it answers but lets no token through, else Unreachable.
    """

    def __init__(self, endpoint: str, clock: Callable[[], float], timeout_s: float = _TIMEOUT_S) -> None:
        self._base = endpoint.rstrip("/") + "/"
        self._clock = clock
        self._timeout_s = timeout_s
        self._token = ""
        self._token_ends_s = 0.0

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], clock: Callable[[], float]) -> Self | None:
        """None where it is turned off, and on Fargate, which has none; the variables are those of AWS's own SDKs."""
        turned_off = environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true"
        if turned_off or environ.get("AWS_EXECUTION_ENV", "").startswith("AWS_ECS_FARGATE"):
            return None
        return cls(environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or _LINK_LOCAL, clock)

    async def instance_id(self) -> str:
        """For example "i-0123456789abcdef0"."""
        found = await self._get("instance-id")
        if not found:
            raise Unreachable(_GET, self._base, "no instance-id")
        return found

    async def look(self) -> InstanceNotices:
        """The notices of now. One that can't be read counts as none: no worker leaves on a riddle."""
        action = _document(await self._get("spot/instance-action"))
        rebalance = _document(await self._get("events/recommendations/rebalance"))
        target = await self._get("autoscaling/target-lifecycle-state")
        return InstanceNotices(
            stops_at_s=_time(action.get("time")),
            rebalance_at_s=_time(rebalance.get("noticeTime")),
            terminating=target == "Terminated",
        )

    async def _get(self, path: str) -> str | None:
        """None when there is no such item. A token that is not taken any more is renewed once."""
        answer = await self._ask(path)
        if answer.status == 401:
            self._token = ""
            answer = await self._ask(path)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise Unreachable(_GET, path, f"status {answer.status}")
        return answer.body

    async def _ask(self, path: str) -> Answer:
        if not self._token or self._clock() > self._token_ends_s - _RENEW_BEFORE_S:
            await self._renew_token()
        headers = {"X-aws-ec2-metadata-token": self._token}
        return await ask(_GET, "GET", f"{self._base}latest/meta-data/{path}", self._timeout_s, headers)

    async def _renew_token(self) -> None:
        asked_at_s = self._clock()
        headers = {"X-aws-ec2-metadata-token-ttl-seconds": str(_TOKEN_TTL_S)}
        try:
            answer = await ask(_GET, "PUT", f"{self._base}latest/api/token", self._timeout_s, headers)
        except Unreachable as error:
            raise await self._diagnosis(error) from error
        if answer.status != 200:
            raise Gone(_GET, self._base, f"no token (status {answer.status})")
        self._token, self._token_ends_s = answer.body, asked_at_s + _TOKEN_TTL_S

    async def _diagnosis(self, error: Unreachable) -> Gone | Denied:
        """Nothing there at all, or something that answers and whose tokens get lost on their way (the hop limit)."""
        try:
            answer = await ask(_GET, "GET", f"{self._base}latest/meta-data/", self._timeout_s)
        except Unreachable:
            return Gone(_GET, self._base, error.detail, "this is no EC2 instance, or its IMDS is off")
        return Denied(_GET, self._base, f"it answers (status {answer.status}) but no token comes", _HOPS)


def _document(text: str | None) -> dict[str, Any]:
    try:
        found: Any = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _time(text: object) -> float | None:
    """Of "2017-09-18T08:22:00Z" in seconds since the epoch.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
    """
    try:
        return datetime.fromisoformat(str(text)).timestamp() if text else None
    except ValueError:
        return None
