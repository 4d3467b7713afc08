"""The default Region, also where boto3 does not look for it."""

import os
from collections.abc import Mapping

__all__ = ["default_region"]


def default_region(environ: Mapping[str, str] = os.environ) -> str | None:
    """AWS_REGION, or None to leave it to boto3 (AWS_DEFAULT_REGION, then the profile).

    AWS's other SDKs and the CLI read AWS_REGION, and before AWS_DEFAULT_REGION; boto3 reads the latter only
    (https://docs.aws.amazon.com/sdkref/latest/guide/feature-region.html).
    """
    return environ.get("AWS_REGION") or None
