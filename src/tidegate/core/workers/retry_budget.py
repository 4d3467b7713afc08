"""How many retries a worker may let go: a share of what it completes, and a trickle besides. Pure.

A dependency that fails makes every message a retry, and retries keep it down. With a budget they are at most a share of
the work that succeeds, so that in an outage they dry up to the trickle by themselves. The fleet's budget is the sum of
its workers': each spends `ratio` of its own completions and its share of the floor, and need not agree with anybody.

It is a bucket (GCRA's, ITU-T I.371) whose credit may go below zero: each retry beyond the credit has its time by the
floor alone, which is certain to come; the next one a step later. What is completed meanwhile pays for the *last* of
these: it goes now, its time falls away, and all others keep theirs. So the first ones are served by the floor, the last
ones by completions, and they meet.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["BURST", "RetryCredit", "RetryRule", "earned", "last_may_go", "spent"]

BURST: Final = 10.0
"""Retries that a worker may save up: so many go at once after a quiet time."""

_DRIFT: Final = 1e-9
"""What adding up tenths loses."""


@dataclass(frozen=True, slots=True)
class RetryRule:
    """This worker's budget: `ratio` retries for each completion, and `floor_per_s` in any case."""

    ratio: float
    floor_per_s: float
    """This worker's part of it."""
    burst: float = BURST


@dataclass(frozen=True, slots=True)
class RetryCredit:
    """Retries that may go at `at_s`; below zero, those that have their time by the floor."""

    credit: float
    at_s: float


def earned(rule: RetryRule, credit: RetryCredit, now_s: float, completions: int = 0) -> RetryCredit:
    """The credit now, after so many completions.

    >>> earned(RetryRule(ratio=0.1, floor_per_s=0.5), RetryCredit(-3.0, at_s=0.0), now_s=2.0, completions=10)
    RetryCredit(credit=-1.0, at_s=2.0)
    """
    more = rule.ratio * completions + rule.floor_per_s * max(0.0, now_s - credit.at_s)
    return RetryCredit(min(rule.burst, credit.credit + more), now_s)


def spent(rule: RetryRule, credit: RetryCredit) -> tuple[RetryCredit, float]:
    """The credit after one more retry, and how many seconds from then that one has to wait; inf without a floor.

    >>> rule = RetryRule(ratio=0.1, floor_per_s=0.5)
    >>> spent(rule, RetryCredit(1.0, 0.0)), spent(rule, RetryCredit(0.0, 0.0))
    ((RetryCredit(credit=0.0, at_s=0.0), 0.0), (RetryCredit(credit=-1.0, at_s=0.0), 2.0))
    """
    left = credit.credit - 1.0
    return replace(credit, credit=left), _until_paid_s(rule, -left)


def _until_paid_s(rule: RetryRule, debt: float) -> float:
    if debt <= _DRIFT:
        return 0.0
    return debt / rule.floor_per_s if rule.floor_per_s > 0 else math.inf


def last_may_go(rule: RetryRule, credit: RetryCredit, before_s: float | None) -> bool:
    """Whether the last of those that wait for their time has been paid for by completions, and may go now.

    `before_s`: how many seconds the one before it still has to wait; None: it is the only one. All that stay keep their
    times, so what is left must, with the floor, cover the latest of these; the earlier ones have more to spare.

    >>> rule = RetryRule(ratio=0.1, floor_per_s=0.5)
    >>> last_may_go(rule, RetryCredit(-2.0, 0.0), before_s=4.0), last_may_go(rule, RetryCredit(-2.0, 0.0), before_s=3.0)
    (True, False)
    """
    by_floor = rule.floor_per_s * before_s if before_s is not None and math.isfinite(before_s) else 0.0
    return credit.credit + by_floor >= -_DRIFT
