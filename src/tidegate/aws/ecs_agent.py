"""Task scale-in protection through the container agent's endpoint.

https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection-endpoint.html
The task's role needs ecs:UpdateTaskProtection and ecs:GetTaskProtection, though the agent makes the call.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Final, Self

from tidegate.aws.errors import from_code
from tidegate.aws.local_http import Answer, ask
from tidegate.errors import Blocked, CloudError, Gone, Invalid, Unreachable

__all__ = ["EcsAgent"]

_PUT: Final = "ecs:UpdateTaskProtection"
_LONGEST_MIN: Final = 2_880
_TIMEOUT_S: Final = 1.5
_OURS: Final = "this task"


class EcsAgent:
    """Implements `ports.ScaleInProtection` for a task of an ECS service; `uri` is ECS_AGENT_URI."""

    def __init__(self, uri: str, timeout_s: float = _TIMEOUT_S) -> None:
        self._url = f"{uri.rstrip('/')}/task-protection/v1/state"
        self._timeout_s = timeout_s

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self | None:
        """None outside of ECS, and where the container agent is too old to have the endpoint."""
        uri = environ.get("ECS_AGENT_URI", "")
        return cls(uri) if uri.startswith("http://") else None

    async def set_protected(self, protected: bool, for_s: float) -> None:
        """For whole minutes, rounded up, 1 to 2,880.

        Raises Blocked (DEPLOYMENT_BLOCKED), Gone (TASK_NOT_VALID: no task of a service), Throttled, Denied,
        Unreachable, Invalid.
        """
        wish: dict[str, object] = {"ProtectionEnabled": protected}
        if protected:
            wish["ExpiresInMinutes"] = min(_LONGEST_MIN, max(1, math.ceil(for_s / 60)))
        headers = {"Content-Type": "application/json"}
        answer = await ask(_PUT, "PUT", self._url, self._timeout_s, headers, json.dumps(wish))
        error = _error_in(answer, protected)
        if error is not None:
            raise error


def _error_in(answer: Answer, protected: bool) -> CloudError | None:
    """The agent answers 200 with `failure` when ECS refuses, and another status with `error` when the call failed."""
    try:
        said: Any = json.loads(answer.body)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        return Unreachable(_PUT, _OURS, f"the agent's answer {answer.status} is not JSON")
    if isinstance(failure := said.get("failure"), dict):
        return _refusal(str(failure.get("Reason", "")), str(failure.get("Detail", "")))
    if isinstance(error := said.get("error"), dict):
        return from_code(str(error.get("Code", "")), str(error.get("Message", "")), answer.status, _PUT, _OURS)
    state = said.get("protection")
    if isinstance(state, dict) and state.get("ProtectionEnabled") is protected:
        return None
    return Unreachable(_PUT, _OURS, f"the agent's answer {answer.status} does not say that it is done")


def _refusal(reason: str, detail: str) -> CloudError:
    words = f"{reason} ({detail})" if detail else reason
    if reason == "DEPLOYMENT_BLOCKED":
        return Blocked(_PUT, _OURS, words)
    if reason == "TASK_NOT_VALID":
        fix = "only tasks of a service can be protected, and only those are ever chosen"
        return Gone(_PUT, _OURS, words, fix)
    return Invalid(_PUT, _OURS, words)
