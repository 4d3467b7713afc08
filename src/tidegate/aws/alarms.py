"""The state of CloudWatch alarms, up to a hundred in one call.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidegate.aws.errors import calling
from tidegate.core.absence import Absence, absence_of
from tidegate.core.arns import parse_arn
from tidegate.core.observation import Alarm
from tidegate.errors import CloudError

if TYPE_CHECKING:
    from types_boto3_cloudwatch import CloudWatchClient

__all__ = ["ALARMS_PER_CALL", "CloudWatchAlarms"]

ALARMS_PER_CALL: Final = 100

_PREFIX: Final = "alarm:"


class CloudWatchAlarms:
    """Implements `ports.AlarmReader` on DescribeAlarms: metric alarms and composite ones.

    `client_in` gives the CloudWatch client of a Region (None: the default one), such as `AwsClients.cloudwatch`. An ARN
    says which Region to ask; the account is that of the credentials.
    IAM: cloudwatch:DescribeAlarms, which needs the resource * to tell of composite alarms.
    """

    def __init__(self, client_in: "Callable[[str | None], CloudWatchClient]") -> None:
        self._client_in = client_in

    def states(self, names: Sequence[str], now_s: float) -> Mapping[str, Alarm]:
        """Each alarm's state, or why it is not known: GONE where there is none of that name, else as the call failed.

        Never raises for AWS: alarms are one sense of several, and one Region may answer where another does not.
        """
        found: dict[str, Alarm] = {}
        for region, batch in _batches(names):
            try:
                found |= self._read(region, batch, now_s)
            except CloudError as error:
                absent = absence_of(error)
                found |= {name: Alarm(name, None, now_s, absent, str(error)) for name in batch.values()}
        return found

    def _read(self, region: str | None, batch: Mapping[str, str], now_s: float) -> dict[str, Alarm]:
        where = region or "the default Region"
        with calling("cloudwatch:DescribeAlarms", f"{len(batch)} alarms in {where}"):
            pages = (
                self._client_in(region)
                .get_paginator("describe_alarms")
                .paginate(AlarmNames=list(batch), AlarmTypes=["MetricAlarm", "CompositeAlarm"])
            )
            states: dict[str, str] = {}
            for page in pages:
                states |= {alarm["AlarmName"]: alarm["StateValue"] for alarm in page.get("MetricAlarms", [])}
                states |= {alarm["AlarmName"]: alarm["StateValue"] for alarm in page.get("CompositeAlarms", [])}
        return {written: _alarm(written, states.get(name), now_s, where) for name, written in batch.items()}


def _alarm(written: str, state: str | None, now_s: float, where: str) -> Alarm:
    if state is None:
        detail = f"there is no alarm {written} in {where}, or none that this role may see; mend hold_on_alarms"
        return Alarm(written, None, now_s, Absence.GONE, detail)
    return Alarm(written, state, now_s)


def _batches(names: Sequence[str]) -> Iterator[tuple[str | None, dict[str, str]]]:
    """(Region, up to a hundred alarms of it by their plain names, each with how it is written)."""
    by_region: defaultdict[str | None, dict[str, str]] = defaultdict(dict)
    for written in names:
        arn = parse_arn(written)
        by_region[arn.region if arn else None][arn.resource.removeprefix(_PREFIX) if arn else written] = written
    for region, group in by_region.items():
        entries = list(group.items())
        for start in range(0, len(entries), ALARMS_PER_CALL):
            yield region, dict(entries[start : start + ALARMS_PER_CALL])
