"""Extensions must come soon enough for one of them to fail."""

import pytest

from tidegate.core.workers.leases import LeaseRisk, lease_risk


@pytest.mark.parametrize(
    ("every_s", "risk"),
    [
        (1, None),
        (30, None),
        (30.1, LeaseRisk.THIN),
        (59.9, LeaseRisk.THIN),
        (60, LeaseRisk.LAPSES),
        (90, LeaseRisk.LAPSES),
    ],
)
def test_a_lease_of_a_minute_wants_an_extension_every_half_minute(every_s: float, risk: LeaseRisk | None) -> None:
    assert lease_risk(every_s, lease_s=60) is risk
