"""How long handlers run by how many slots are in use, as it was seen: kept from burst to burst."""

import math
from collections.abc import Iterator
from dataclasses import replace

from tidegate.core.downstream.levels import SATURATED, balanced, mean_run_s, tells
from tidegate.core.downstream.state import Curve, Level, Point
from tidegate.core.signals.fleet import FleetSignals

__all__ = ["charted", "followed_curve", "without_more"]

BAND = math.log(1.2)
"""Points are a fifth apart."""
POINTS_AT_MOST = 24
FADE_S = 1800.0
"""Of the time that was spent at a point: what is not visited is not forgotten by it."""
FORGOTTEN_S = 6 * 3600.0
RUNS_LEAST = 40.0

MOVED = 0.1
UNSTEADY = 0.2
LEAVING = 0.1
"""While workers are added or leave, or slots in use change by more within a service time, runs belong to no count."""
SETTLES_RUNS = 4.0
"""Of slots that all started at once, short runs end first: by so many service times their mean is 93 % of what it will
be, where those are exponential (1 - x·exp(-x) ÷ (1 - exp(-x)))."""


def charted(curve: Curve) -> Iterator[Point]:
    """The points that rest on enough runs."""
    return (point for point in curve.points if point.runs >= RUNS_LEAST)


def followed_curve(curve: Curve, fleet: FleetSignals, level: Level, now_s: float, elapsed_s: float) -> Curve:
    """With the runs that ended in the last `elapsed_s`, if they all ran beside as many others.

    Slots in use are averaged over a service time: the runs that end now began that long ago.
    """
    if elapsed_s <= 0.0 or not fleet.runs:
        return curve
    mean_s = max(fleet.service_time_sum_s / fleet.runs, mean_run_s(level), elapsed_s)
    share = 1.0 - math.exp(-elapsed_s / mean_s)
    load = fleet.busy if curve.load is None else curve.load + share * (fleet.busy - curve.load)
    curve = replace(curve, load=load)
    settles_s = fleet.heartbeat_s + SETTLES_RUNS * mean_s
    if abs(fleet.taking - curve.workers) > MOVED * curve.workers:
        return replace(curve, workers=fleet.taking, since_s=now_s, settles_s=settles_s)
    steady = (
        load > 0.0
        and tells(level)
        and balanced(level)
        and abs(fleet.busy - load) <= UNSTEADY * load
        and not _leaving(fleet)
    )
    if not steady or now_s - curve.since_s < max(settles_s, curve.settles_s):
        return curve
    return replace(curve, points=_added(curve.points, fleet, load, now_s, math.exp(-elapsed_s / FADE_S)))


def without_more(curve: Curve) -> Curve:
    """Without the points of more slots than are in use."""
    load = curve.load or 0.0
    return replace(curve, points=tuple(point for point in curve.points if point.slots <= (1.0 + MOVED) * load))


def _leaving(fleet: FleetSignals) -> bool:
    return fleet.workers > (1.0 + LEAVING) * fleet.taking


def _added(points: tuple[Point, ...], fleet: FleetSignals, load: float, now_s: float, fade: float) -> tuple[Point, ...]:
    band = round(math.log(max(1.0, load)) / BAND)
    known = next((point for point in points if point.band == band), Point(band, now_s))
    point = Point(
        band,
        now_s,
        runs=known.runs * fade + fleet.runs,
        slot_runs=known.slot_runs * fade + load * fleet.runs,
        sum_s=known.sum_s * fade + fleet.service_time_sum_s,
        square_sum_s2=known.square_sum_s2 * fade + fleet.service_time_square_sum_s2,
        full_runs=known.full_runs * fade + (fleet.runs if fleet.busy >= SATURATED * fleet.slots else 0),
    )
    others = [other for other in points if other.band != band and now_s - other.at_s < FORGOTTEN_S]
    others.sort(key=lambda other: other.runs)
    return tuple(sorted([*others[1 - POINTS_AT_MOST :], point], key=lambda it: it.band))
