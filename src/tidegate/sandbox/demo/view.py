"""The live view on a terminal: four charts over time, the workers, and the last decisions with their sentences."""

from collections.abc import Sequence

from rich.console import Console, Group
from rich.layout import Layout
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tidegate.sandbox.demo.frames import Frame
from tidegate.sandbox.demo.run import Scene
from tidegate.sandbox.demo.settings import DemoSettings

__all__ = ["LiveView", "bars"]

_BLOCKS = " ▁▂▃▄▅▆▇█"
_CHART_ROWS = 3
_DECISIONS = 30
_LABEL_WIDTH = 13


def bars(values: Sequence[float], rows: int, most: float) -> list[str]:
    """The values as columns of block characters, `rows` lines from top to bottom; `most` fills a column.

    >>> bars([0, 1, 2, 4], rows=2, most=4)
    ['   █', ' ▄██']
    """
    eighths = [min(rows * 8, round(value / most * rows * 8)) if most > 0 else 0 for value in values]
    return ["".join(_BLOCKS[max(0, min(8, level - 8 * row))] for level in eighths) for row in reversed(range(rows))]


class LiveView:
    """Call it with each scene. Leaving the context gives the terminal back as it was."""

    def __init__(self, settings: DemoSettings, length_s: float, console: Console) -> None:
        self._settings, self._length_s = settings, length_s
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False)

    @property
    def _chart_width(self) -> int:
        """Columns within one of the two panels side by side."""
        return max(10, self._console.width // 2 - 4)

    def __enter__(self) -> "LiveView":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, scene: Scene) -> None:
        layout = Layout()
        layout.split_column(
            Layout(self._head(scene.frame), size=3),
            Layout(self._charts(scene), size=2 * (_CHART_ROWS + 2)),
            Layout(name="log"),
        )
        layout["log"].update(
            Panel(self._decisions(scene), title="decisions, newest first", title_align="left", border_style="dim")
        )
        self._live.update(layout, refresh=True)

    def _head(self, frame: Frame) -> Panel:
        left_s = max(0.0, self._length_s - frame.at_s)
        phase = f"{left_s:.0f} s of traffic left" if left_s else "traffic is over; working off the rest"
        text = Text.assemble(
            ("tidegate ", "bold cyan"), f"{frame.at_s:.0f} s · {phase} · sent {frame.sent:,} · done {frame.deleted:,}"
        )
        return Panel(text, border_style="cyan")

    def _charts(self, scene: Scene) -> Table:
        target_s, frame, history = self._settings.target_wait_s, scene.frame, scene.history
        late = frame.head_age_s > target_s
        grid = Table.grid(expand=True)
        grid.add_column(ratio=1)
        grid.add_column(ratio=1)

        def chart(title: str, series: str, style: str, floor: float) -> Panel:
            values = history.series(series, self._chart_width)
            lines = bars(values, _CHART_ROWS, max([floor, *values]))
            return Panel(
                Text("\n".join(lines), style=style, no_wrap=True), title=title, title_align="left", border_style="dim"
            )

        age_style = "red" if late else "green"
        grid.add_row(
            chart(f"head age {frame.head_age_s:.1f} s (target {target_s:g} s)", "head_age_s", age_style, target_s),
            chart(f"arrivals {frame.arrivals_per_s:.0f}/s", "arrivals_per_s", "blue", 1),
        )
        grid.add_row(
            chart(f"backlog {frame.backlog:,} (in flight {frame.in_flight:,})", "backlog", "yellow", 10),
            self._workers(scene),
        )
        return grid

    def _workers(self, scene: Scene) -> Panel:
        """Three charts of one line each on one scale: what is asked for, what runs, what is leaving."""
        names = {"desired": "cyan", "running": "magenta", "stopping": "yellow"}
        series = {name: scene.history.series(name, self._chart_width - _LABEL_WIDTH) for name in names}
        most = max([4.0, *(value for values in series.values() for value in values)])
        text = Text(no_wrap=True)
        for name, style in names.items():
            label = "draining" if name == "stopping" else name
            text.append(f"{label:8} {getattr(scene.frame, name):3}".ljust(_LABEL_WIDTH), style="dim")
            text.append(bars(series[name], 1, most)[0] + "\n", style=style)
        return Panel(text, title="workers", title_align="left", border_style="dim")

    def _decisions(self, scene: Scene) -> Group:
        marks = {"out": ("▲", "green"), "in": ("▼", "magenta"), "hold": ("·", "dim")}
        lines = []
        for entry in reversed(list(scene.log.recent)[-_DECISIONS:]):
            mark, style = marks[entry["action"]]
            lines.append(Text.assemble((f"{mark} ", style), entry["sentence"]))
        return Group(*lines)
