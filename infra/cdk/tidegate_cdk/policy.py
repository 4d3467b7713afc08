"""The controller's policy, which grows with the pools: infra/iam/controller.json and lambda.json with names in them."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from tidegate_cdk.sources import filled, statements

_KNOWN = {
    "ReadSettingsFromParameter",
    "ReadSettingsFromBucket",
    "ReadQueueCounts",
    "ReadMetricsWhichHaveNoResourceType",
    "ReadTheAlarmsThatHoldPools",
    "PublishMetricsIntoOneNamespace",
    "ScaleTheService",
    "ReadGroupsWhichHaveNoResourceType",
    "ScaleTheGroup",
    "KeepStateAndReadHeartbeats",
    "WriteItsOwnLog",
}


class ControllerPolicy:
    """A statement is made when it first has something to be about; one that is not known here is an error, so that the
    policy can't grow unseen.
    """

    def __init__(self, scope: Construct, role: iam.IRole, namespace: str) -> None:
        self._sources = {
            one["Sid"]: filled(one, {"NAMESPACE": namespace}) for one in statements("controller", "lambda")
        }
        unknown = {*self._sources} ^ _KNOWN
        if unknown:
            raise ValueError(f"infra/iam has other statements than this version of tidegate_cdk: {sorted(unknown)}")
        self._made: dict[str, iam.PolicyStatement] = {}
        self.policy = iam.Policy(scope, "ControllerPolicy", policy_name="controller", roles=[role])

    def allow(self, sid: str, *resources: str) -> None:
        """Let the controller do what the statement says on these too."""
        if sid not in self._made:
            self._made[sid] = iam.PolicyStatement.from_json({**self._sources[sid], "Resource": list(resources)})
            self.policy.add_statements(self._made[sid])
        else:
            self._made[sid].add_resources(*resources)

    def allow_key(self, key_arn: str) -> None:
        """Only what is encrypted with a key of one's own needs it."""
        self.policy.add_statements(
            iam.PolicyStatement(sid="ReadWhatIsEncryptedWithTheKey", actions=["kms:Decrypt"], resources=[key_arn])
        )
