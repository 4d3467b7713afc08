"""A chart with its axes: the curves are stretched to their place, the labels beside them keep their size."""

import math
from collections.abc import Sequence
from html import escape

from tidegate.lab.report_svg import framed, hovering, level

__all__ = ["duration", "nice_top", "number", "plot", "time_ticks"]

_TICKS_AT_MOST = 5
_STEPS_S = (60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 1_209_600)


def nice_top(value: float) -> float:
    """The next round number: where an axis ends.

    >>> [nice_top(each) for each in (0, 0.7, 1, 33.8, 51, 240)]
    [1.0, 0.8, 1.0, 40.0, 60.0, 300.0]
    """
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        step * power for step in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0) if value <= step * power * (1 + 1e-9)
    )


def number(value: float) -> str:
    """Short enough for an axis.

    >>> [number(each) for each in (0, 0.25, 12.5, 1500, 2_000_000)]
    ['0', '0.25', '12.5', '1,500', '2M']
    """
    return f"{value / 1e6:g}M" if value >= 1e6 else f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def duration(seconds: float) -> str:
    """Two units at most.

    >>> [duration(each) for each in (7.26, 90, 3600, 34_560, 604_800)]
    ['7.3 s', '1 min 30 s', '1 h', '9 h 36 min', '7 d']
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    for size_s, unit, small_s, small in ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size_s:
            whole, rest = divmod(round(seconds / small_s), size_s // small_s)
            return f"{whole} {unit}" + (f" {rest} {small}" if rest else "")
    raise AssertionError(seconds)


def time_ticks(length_s: float) -> list[tuple[float, str]]:
    """(share of the length, label), the first at 0, five or so.

    >>> time_ticks(86_400)
    [(0.0, '0'), (0.25, '6 h'), (0.5, '12 h'), (0.75, '18 h'), (1.0, '1 d')]
    """
    step_s = next((step for step in _STEPS_S if length_s / step < _TICKS_AT_MOST), _STEPS_S[-1])
    count = math.floor(length_s / step_s + 1e-9)
    return [(n * step_s / length_s, duration(n * step_s) if n else "0") for n in range(count + 1)]


def plot(
    curves: str,
    *,
    title: str,
    label: str,
    top: float,
    length_s: float,
    told: Sequence[str],
    ticks: Sequence[float] = (),
) -> str:
    """`curves` were drawn up to `top`. `title` says what the axis shows and its unit, `label` the whole in words.

    `told` holds what to show at the pointer for each part of the length; `ticks` the values marked on the axis, else 0,
    half and top.
    """
    marks = ticks or (0.0, top / 2, top)
    grid = "".join(level(mark, top, "grid") for mark in marks)
    ys = "".join(f'<span style="bottom:{100 * mark / top:.1f}%">{number(mark)}</span>' for mark in marks)
    return (
        f'<figure><figcaption>{escape(title)}</figcaption><div class="plot">'
        + framed(grid + curves + hovering(told), escape(label))
        + f'<div class="ys" aria-hidden="true">{ys}</div></div>{_times(length_s)}</figure>'
    )


def _times(length_s: float) -> str:
    spans = [
        f'<span{" class=last" if share > 0.97 else ""} style="left:{100 * share:.1f}%">{text}</span>'
        for share, text in time_ticks(length_s)
    ]
    return f'<div class="xs" aria-hidden="true">{"".join(spans)}</div>'
