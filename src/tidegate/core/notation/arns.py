"""Amazon Resource Names taken apart.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
"""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Arn", "parse_arn", "region_in"]

_ARN: Final = re.compile(r"arn:aws[a-z-]*:([a-z0-9-]+):([a-z0-9-]+):([0-9]{12}):(\S+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Arn:
    """An ARN of a service whose resources are each in one Region and account; `resource` is all after the account."""

    service: str
    region: str
    account: str
    resource: str


def parse_arn(text: str) -> Arn | None:
    """None when it is no such ARN.

    >>> parse_arn("arn:aws:ecs:eu-west-1:111122223333:service/prod/mail")
    Arn(service='ecs', region='eu-west-1', account='111122223333', resource='service/prod/mail')
    """
    match = _ARN.fullmatch(text)
    return Arn(*match.groups()) if match else None


def region_in(*names: str) -> str | None:
    """The Region of the first of these that is an ARN: that is where the resource is, whatever the default Region.

    >>> region_in("prod", "arn:aws:ecs:eu-west-1:111122223333:service/prod/mail")
    'eu-west-1'
    """
    return next((arn.region for arn in map(parse_arn, names) if arn), None)
