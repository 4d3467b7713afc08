"""ARNs taken apart."""

import pytest

from tidegate.core.notation.arns import Arn, parse_arn, region_in

SERVICE = "arn:aws:ecs:eu-west-1:111122223333:service/prod/mail"
TABLE = "arn:aws-us-gov:dynamodb:us-gov-west-1:111122223333:table/tidegate"


@pytest.mark.parametrize(
    ("text", "arn"),
    [
        (SERVICE, Arn("ecs", "eu-west-1", "111122223333", "service/prod/mail")),
        (TABLE, Arn("dynamodb", "us-gov-west-1", "111122223333", "table/tidegate")),
        (
            "arn:aws:autoscaling:eu-west-1:111122223333:autoScalingGroup:1a:autoScalingGroupName/g",
            Arn("autoscaling", "eu-west-1", "111122223333", "autoScalingGroup:1a:autoScalingGroupName/g"),
        ),
        ("mail", None),
        ("", None),
        ("arn:aws:s3:::bucket", None),
        ("arn:azure:ecs:eu-west-1:111122223333:service/prod/mail", None),
        ("arn:aws:ecs:eu-west-1:1111:service/prod/mail", None),
        ("arn:aws:ecs:eu-west-1:111122223333:", None),
        (SERVICE + "\n", None),
        (f" {SERVICE}", None),
    ],
)
def test_an_arn_is_taken_apart_and_anything_else_is_none(text: str, arn: Arn | None) -> None:
    """docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html"""
    assert parse_arn(text) == arn


@pytest.mark.parametrize(
    ("names", "region"),
    [((), None), (("prod", "mail"), None), (("prod", SERVICE), "eu-west-1"), ((TABLE, SERVICE), "us-gov-west-1")],
)
def test_the_region_is_that_of_the_first_arn(names: tuple[str, ...], region: str | None) -> None:
    assert region_in(*names) == region
