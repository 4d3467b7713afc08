"""Curves as SVG without text: labels stay in the page, where they keep their size on any screen."""

from collections.abc import Sequence
from html import escape

__all__ = ["area", "bars", "curve", "framed", "hovering", "level"]

WIDE, HIGH = 1000.0, 100.0


def area(values: Sequence[float], top: float, kind: str) -> str:
    """A filled curve from 0 to `top`, of the class `kind`."""
    points = _points(values, top)
    if not points:
        return ""
    return f'<polygon class="{kind}" points="0,{HIGH:g} {_joined(points)} {WIDE:g},{HIGH:g}"/>'


def curve(values: Sequence[float], top: float, kind: str) -> str:
    """A line from 0 to `top`."""
    return f'<polyline class="{kind}" points="{_joined(_points(values, top))}"/>'


def bars(values: Sequence[float], top: float, kind: str) -> str:
    """A bar for each value above 0, side by side; nothing where a value is not a number."""
    wide = WIDE / max(1, len(values))
    drawn = "".join(
        f"M{n * wide:.1f},{HIGH:g}V{HIGH - HIGH * min(1.0, value / top):.2f}h{wide:.1f}V{HIGH:g}z"
        for n, value in enumerate(values)
        if value > 0
    )
    return f'<path class="{kind}" d="{drawn}"/>' if drawn else ""


def level(value: float, top: float, kind: str) -> str:
    """A line straight across, left out where it is above `top`."""
    if value > top:
        return ""
    y = HIGH - HIGH * value / top
    return f'<line class="{kind}" x1="0" y1="{y:.2f}" x2="{WIDE:g}" y2="{y:.2f}"/>'


def hovering(told: Sequence[str]) -> str:
    """Columns side by side that say what is under the pointer."""
    wide = WIDE / max(1, len(told))
    return "".join(
        f'<rect class="hover" x="{n * wide:.1f}" y="0" width="{wide:.1f}" height="{HIGH:g}">'
        f"<title>{escape(text)}</title></rect>"
        for n, text in enumerate(told)
    )


def framed(inside: str, label: str) -> str:
    """An image that fills its place; `label` is what it shows, in words."""
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {WIDE:g} {HIGH:g}" '
        f'preserveAspectRatio="none">{inside}</svg>'
    )


def _points(values: Sequence[float], top: float) -> list[tuple[float, float]]:
    return [
        (place, HIGH - HIGH * min(1.0, value / top)) for value, place in zip(values, _places(len(values)), strict=True)
    ]


def _places(count: int) -> list[float]:
    return [WIDE * (n + 0.5) / count for n in range(count)]


def _joined(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.2f}" for x, y in points)
