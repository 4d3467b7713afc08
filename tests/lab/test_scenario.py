"""A scenario that can't be simulated is refused, with what is wrong."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.lab.rig import scenario


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"service_s": np.ones(2)}, "as many service times"),
        ({"arrivals_s": np.array([1.0, 0.0, 2.0])}, "arrivals_s rises"),
        ({"arrivals_s": np.array([-1.0, 0.0, 2.0])}, "arrivals_s rises, from 0 on"),
        ({"service_s": np.array([1.0, 0.0, 2.0])}, "service_s is above 0"),
        ({"length_s": 1.5}, "arrivals end by length_s"),
        ({"start_up_s": -1.0}, "target_wait_s, start_up_s"),
        ({"slots_per_worker": 0}, "slots_per_worker, shards, max_receives"),
        ({"count_error": 1.5}, "start_up_spread, count_error, the shares"),
        ({"poison_share": -0.1}, "start_up_spread, count_error, the shares"),
        ({"lease_s": -1.0}, "lags, lease, retry"),
        ({"initial_workers": 5, "max_workers": 4}, "min_workers ≤ initial_workers"),
        ({"min_workers": 1}, "min_workers ≤ initial_workers"),
    ],
)
def test_a_value_out_of_range_is_refused(how: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"scenario rig: {says}"):
        replace(scenario([0.0, 1.0, 2.0], 1.0), **how)


def test_load_is_the_slots_that_the_work_keeps_busy() -> None:
    made = scenario([0.0, 1.0], [30.0, 10.0], length_s=80.0)
    assert (made.mean_service_s, made.load_slots) == (20.0, 0.5)
    assert scenario([], 1.0).mean_service_s == 0
