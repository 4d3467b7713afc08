"""Noisy tenants on a fair queue: the others' waits are kept, and the noisy ones' backlog has a bound.

SQS tells the quiet groups' part of the counts and the age of their oldest message (AWS Compute blog, July 2025, "Amazon
SQS fair queues"), and hands their messages out first. So the quiet groups are sized as though they were alone, and the
noisy ones may add no more than a share of the pool's maximum, however much they send.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from tidegate.core.decision import Step
from tidegate.core.estimation.load import Load
from tidegate.core.model import Pool
from tidegate.core.signals.read import Quiet, Signals
from tidegate.core.sizing.need import Sized

__all__ = ["quiet_load", "sized_for_quiet"]


def quiet_load(load: Load, quiet: Quiet) -> Load:
    """The load of the quiet groups alone.

    Their messages are handed out first, so what arrives of them is what is worked on of them: by Little's law their
    messages in flight ÷ the service time, a second.
    """
    mean_s, arrivals = load.service_time.value, load.arrivals
    rate_per_s = min(arrivals.value, quiet.in_flight / mean_s) if mean_s > 0 else arrivals.value
    return replace(
        load,
        arrivals=replace(arrivals, value=rate_per_s),
        steady_per_s=min(load.steady_per_s, rate_per_s),
        mean_per_s=min(load.mean_per_s, rate_per_s),
        waiting=min(load.waiting, quiet.waiting),
    )


def sized_for_quiet(
    pool: Pool, load: Load, signals: Signals, size: Callable[[Load], Sized]
) -> tuple[Sized, Step | None]:
    """What `size` says; where there are noisy groups, no more workers than the quiet ones need and a share on top.

    With the step to show where the quiet groups were looked at. Without their metrics, or with no noisy
    group, it is what `size` says.
    """
    sized = size(load)
    quiet = signals.quiet
    if quiet is None or quiet.noisy_groups <= 0:
        return sized, None
    alone = size(quiet_load(load, quiet)).workers
    extra = math.ceil(pool.noisy_share * pool.max_workers)
    bounded = min(sized.workers, alone + extra)
    note = (
        f"{quiet.noisy_groups:.0f} noisy groups: the quiet ones have {quiet.waiting:.0f} of {load.waiting:.0f} waiting "
        f"and need {alone} workers; noisy ones may add {extra}"
    )
    values = {
        "noisy_groups": quiet.noisy_groups,
        "quiet_waiting": quiet.waiting,
        "quiet_in_flight": quiet.in_flight,
        "quiet_workers": alone,
        "noisy_at_most": extra,
        "before": sized.workers,
        "after": bounded,
    }
    return replace(sized, workers=bounded), Step("quiet_groups", values, note)
