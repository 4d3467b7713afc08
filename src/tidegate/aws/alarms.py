"""The state of CloudWatch alarms, up to a hundred in one call.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tidegate.aws.errors import calling
from tidegate.core.absence import Absence, absence_of
from tidegate.core.notation.arns import parse_arn
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
    says which Region to ask. Only alarms of one's own account are told of: one of another account is GONE, and never
    mistaken for one's own of that name.
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
            found: dict[str, tuple[str, str]] = {}
            for page in pages:
                for alarm in (*page.get("MetricAlarms", []), *page.get("CompositeAlarms", [])):
                    found[alarm["AlarmName"]] = alarm.get("AlarmArn", ""), alarm["StateValue"]
        return {written: _alarm(written, found.get(name), now_s, where) for name, written in batch.items()}


def _alarm(written: str, found: tuple[str, str] | None, now_s: float, where: str) -> Alarm:
    """`found` is the ARN and the state of the alarm of that name."""
    if found is None:
        detail = f"there is no alarm {written} in {where}, or none that this role may see; mend hold_on_alarms"
        return Alarm(written, None, now_s, Absence.GONE, detail)
    wanted, own = parse_arn(written), parse_arn(found[0])
    if wanted and own and wanted.account != own.account:
        detail = f"{written} is another account's alarm, which {own.account} can't read; mend hold_on_alarms"
        return Alarm(written, None, now_s, Absence.GONE, detail)
    return Alarm(written, found[1], now_s)


def _batches(names: Sequence[str]) -> Iterator[tuple[str | None, dict[str, str]]]:
    """(Region, up to a hundred alarms of it by their plain names, each with how it is written)."""
    by_place: defaultdict[tuple[str | None, str | None], dict[str, str]] = defaultdict(dict)
    for written in names:
        arn = parse_arn(written)
        place = (arn.region, arn.account) if arn else (None, None)
        by_place[place][arn.resource.removeprefix(_PREFIX) if arn else written] = written
    for (region, _), group in by_place.items():
        entries = list(group.items())
        for start in range(0, len(entries), ALARMS_PER_CALL):
            yield region, dict(entries[start : start + ALARMS_PER_CALL])
