"""Where the settings are: a file, a Systems Manager parameter, or an object in S3."""

from collections.abc import Mapping
from pathlib import Path

from tidegate.config import Loaded, load, load_text
from tidegate.errors import ConfigError, Fault

__all__ = ["load_from"]

_SSM, _S3 = "ssm:", "s3://"
_HOW = 'write a file\'s path, "ssm:NAME" (or "ssm:NAME:VERSION"), or "s3://BUCKET/KEY"'


def load_from(source: str, environ: Mapping[str, str], folder: Path = Path()) -> Loaded:
    """The settings at `source`; a path that is not absolute is looked up in `folder`.

    Raises ConfigError as `load` does; for what is kept in AWS also Gone, Denied, Throttled, Unreachable, and Invalid
    when there is no Region.
    """
    if source.startswith(_SSM):
        return load_text(_parameter(source), source, environ)
    if source.startswith(_S3):
        return load_text(_object(source), source, environ)
    return load(folder / source, environ)


def _parameter(source: str) -> bytes:
    from tidegate.aws.clients import AwsClients
    from tidegate.aws.ssm import SsmParameter
    from tidegate.core.notation.arns import region_in

    name = source.removeprefix(_SSM)
    if not name:
        raise ConfigError([Fault("TIDEGATE_CONFIG", source, "names no parameter", _HOW)])
    return SsmParameter(AwsClients().ssm(region_in(name))).read(name)


def _object(source: str) -> bytes:
    from tidegate.aws.clients import AwsClients
    from tidegate.aws.s3 import S3Object

    bucket, _, key = source.removeprefix(_S3).partition("/")
    if not bucket or not key:
        raise ConfigError([Fault("TIDEGATE_CONFIG", source, "names no object", _HOW)])
    return S3Object(AwsClients().s3()).read(bucket, key)
