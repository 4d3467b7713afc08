"""What the metadata endpoints know of each worker: task protection, IMDS tokens and notices. No HTTP, no clock.

Every method takes the time and may be called from any thread.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from tidegate.sandbox.platform import Identity

__all__ = ["Blocked", "Notices", "timestamp"]

Desired = Callable[[], int]


class Blocked(Exception):
    """DEPLOYMENT_BLOCKED: more tasks would be protected than are desired."""


@dataclass(slots=True)
class _Entry:
    identity: Identity
    protected_until_s: float = 0.0
    tokens: dict[str, float] = field(default_factory=dict)
    documents: dict[str, object] = field(default_factory=dict)


def timestamp(at_s: float) -> str:
    """As AWS writes times in these documents: 2017-09-18T08:22:00Z."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Notices:
    """`desired` is the service's desired count, against which ECS checks protection.

    A worker that is not (or no longer) registered has no documents and no protection, and can be given none.
    """

    def __init__(self, desired: Desired) -> None:
        self._desired = desired
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()

    def register(self, identity: Identity) -> None:
        documents: dict[str, object] = {"instance-id": identity.instance_id}
        if identity.task_arn is None:
            # https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html
            documents["autoscaling/target-lifecycle-state"] = "InService"
        with self._lock:
            self._entries[identity.worker_id] = _Entry(identity, documents=documents)

    def forget(self, worker_id: str) -> None:
        with self._lock:
            self._entries.pop(worker_id, None)

    def identity(self, worker_id: str) -> Identity | None:
        with self._lock:
            entry = self._entries.get(worker_id)
            return entry.identity if entry else None

    def protect(self, worker_id: str, minutes: int, now_s: float) -> None:
        """Each call sets the expiry anew. Raises Blocked when more would be protected than are desired:
        https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection.html
        """
        desired = self._desired()
        with self._lock:
            others = sum(entry.protected_until_s > now_s for key, entry in self._entries.items() if key != worker_id)
            if others + 1 > desired:
                raise Blocked(f"{others + 1} protected tasks, {desired} desired")
            self._set_protection(worker_id, now_s + 60 * minutes)

    def unprotect(self, worker_id: str) -> None:
        with self._lock:
            self._set_protection(worker_id, 0.0)

    def protected_until_s(self, worker_id: str, now_s: float) -> float | None:
        """None when it is not protected (any more)."""
        with self._lock:
            entry = self._entries.get(worker_id)
            return entry.protected_until_s if entry and entry.protected_until_s > now_s else None

    def protected(self, now_s: float) -> frozenset[str]:
        with self._lock:
            return frozenset(key for key, entry in self._entries.items() if entry.protected_until_s > now_s)

    def issue_token(self, worker_id: str, ttl_s: int, now_s: float) -> str:
        token = uuid4().hex
        with self._lock:
            if worker_id in self._entries:
                self._entries[worker_id].tokens[token] = now_s + ttl_s
        return token

    def token_holds(self, worker_id: str, token: str, now_s: float) -> bool:
        with self._lock:
            entry = self._entries.get(worker_id)
            return entry is not None and entry.tokens.get(token, 0.0) > now_s

    def document(self, worker_id: str, path: str) -> object | None:
        """Text, or a mapping to be sent as JSON; None when there is no such item (now)."""
        with self._lock:
            entry = self._entries.get(worker_id)
            return entry.documents.get(path) if entry else None

    def spot(self, worker_id: str, terminate_at_s: float) -> None:
        """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html"""
        self._set(worker_id, "spot/instance-action", {"action": "terminate", "time": timestamp(terminate_at_s)})

    def rebalance(self, worker_id: str, at_s: float) -> None:
        """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/rebalance-recommendations.html"""
        self._set(worker_id, "events/recommendations/rebalance", {"noticeTime": timestamp(at_s)})

    def target_lifecycle_state(self, worker_id: str, state: str) -> None:
        self._set(worker_id, "autoscaling/target-lifecycle-state", state)

    def _set_protection(self, worker_id: str, until_s: float) -> None:
        if worker_id in self._entries:
            self._entries[worker_id].protected_until_s = until_s

    def _set(self, worker_id: str, path: str, document: Mapping[str, object] | str) -> None:
        with self._lock:
            if worker_id in self._entries:
                self._entries[worker_id].documents[path] = document
