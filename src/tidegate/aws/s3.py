"""Settings kept in an object of S3."""

from typing import Any

from tidegate.aws.errors import calling

__all__ = ["S3Object"]


class S3Object:
    """IAM: s3:GetObject, and kms:Decrypt when the object is encrypted with a key of one's own."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def read(self, bucket: str, key: str) -> bytes:
        """The object's bytes. Raises Gone, Denied, Throttled, Unreachable.

        https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
        """
        with calling("s3:GetObject", f"{bucket}/{key}"):
            data: bytes = self._client.get_object(Bucket=bucket, Key=key)["Body"].read()
        return data
