"""Curves and bars as SVG without text: labels stay in the page, where they keep their size on any screen."""

import math
from collections.abc import Sequence

__all__ = ["area", "bar", "curve", "framed", "level"]

WIDE, HIGH = 1000.0, 100.0


def area(values: Sequence[float], top: float, kind: str) -> str:
    """A filled curve from 0 to `top`, of the class `kind`."""
    points = _points(values, top)
    if not points:
        return ""
    return (
        f'<polygon class="{kind}" points="{points[0][0]:.1f},{HIGH:g} {_joined(points)} {points[-1][0]:.1f},{HIGH:g}"/>'
    )


def curve(values: Sequence[float], top: float, kind: str) -> str:
    """A line from 0 to `top`, broken where a value is not a number."""
    return "".join(f'<polyline class="{kind}" points="{_joined(run)}"/>' for run in _runs(values, top))


def level(value: float, top: float, kind: str) -> str:
    """A line straight across, left out where it is above `top`."""
    if value > top:
        return ""
    y = HIGH - HIGH * value / top
    return f'<line class="{kind}" x1="0" y1="{y:.2f}" x2="{WIDE:g}" y2="{y:.2f}"/>'


def bar(value: float, top: float, kind: str) -> str:
    """A bar from the left, `value` of `top` wide."""
    return f'<rect class="{kind}" x="0" y="0" height="{HIGH:g}" width="{WIDE * min(1.0, value / top):.1f}"/>'


def framed(inside: str, label: str, kind: str) -> str:
    """An image that is as wide as its place and as high as its class says; `label` is what it shows, in words."""
    return (
        f'<svg class="{kind}" role="img" aria-label="{label}" viewBox="0 0 {WIDE:g} {HIGH:g}" '
        f'preserveAspectRatio="none">{inside}</svg>'
    )


def _runs(values: Sequence[float], top: float) -> list[list[tuple[float, float]]]:
    runs: list[list[tuple[float, float]]] = [[]]
    for value, place in zip(values, _places(len(values)), strict=True):
        if math.isnan(value):
            runs.append([])
        else:
            runs[-1].append((place, HIGH - HIGH * min(1.0, value / top)))
    # a lone point is drawn as a short dash: a line of one point would not show
    return [run if len(run) > 1 else [run[0], (run[0][0] + 2.0, run[0][1])] for run in runs if run]


def _points(values: Sequence[float], top: float) -> list[tuple[float, float]]:
    return [
        (place, HIGH - HIGH * min(1.0, value / top)) for value, place in zip(values, _places(len(values)), strict=True)
    ]


def _places(count: int) -> list[float]:
    return [WIDE * (n + 0.5) / count for n in range(count)]


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.2f}" for x, y in points)
