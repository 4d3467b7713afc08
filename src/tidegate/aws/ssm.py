"""Settings kept in a Systems Manager parameter."""

from typing import Any

from tidegate.aws.errors import calling

__all__ = ["SsmParameter"]


class SsmParameter:
    """IAM: ssm:GetParameter, and kms:Decrypt when the parameter is a SecureString under a key of one's own."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def read(self, name: str) -> bytes:
        """The value of a name or ARN, with ":VERSION" of one version. Raises Gone, Denied, Throttled, Unreachable.

        https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
        """
        with calling("ssm:GetParameter", name):
            value: str = self._client.get_parameter(Name=name, WithDecryption=True)["Parameter"]["Value"]
        return value.encode()
