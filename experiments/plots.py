"""The one style of all pictures: panels side by side, one legend for all, labels that say it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagalong.evaluate.plot_parts import FAINT, INK, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL_WIDTH, PANEL_HEIGHT = 4.4, 3.3
FOOT = 0.55  # inches for the legend, a row
COLOURS = (
    *("#1f5fa8", "#c4531d", "#2a8c5a", "#8e4fa3", "#b08a00", "#5b6770", "#d1477a"),
    *("#3aa6b9", "#7a5230"),
)


@dataclass(frozen=True)
class Line:
    """A line of a panel; ``spread`` are half lengths of error bars."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    spread: Sequence[float] | None = None
    colour: int = 0
    dashed: bool = False
    markers: bool = True


@dataclass(frozen=True)
class Panel:
    """A panel with lines."""

    heading: str
    lines: Sequence[Line]
    below: str
    beside: str
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = False
    ticks: Sequence[float] | None = None


def lines(panels: Sequence[Panel], columns: int = 2) -> Any:
    """Return a figure of panels with lines, a legend below all of them."""
    from matplotlib.figure import Figure

    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    per_row = 5 if columns > 1 else 3
    foot = FOOT + 0.22 * (-(-len(labels) // per_row) - 1)
    height = rows * PANEL_HEIGHT + foot
    width = columns * PANEL_WIDTH
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for ax, panel in zip(axes, panels, strict=False):
        for line in panel.lines:
            handles.setdefault(line.label, _draw(ax, line))
        _finish(ax, panel)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    figure.tight_layout(rect=(0, foot / height, 1, 1), w_pad=2.0, h_pad=1.6)
    figure.legend(
        [handles[label] for label in labels],
        labels,
        loc="lower center",
        ncols=min(per_row, len(labels)),
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )
    return figure


def _draw(ax: Axes, line: Line) -> Any:
    return ax.errorbar(
        list(line.x),
        list(line.y),
        yerr=None if line.spread is None else list(line.spread),
        color=COLOURS[line.colour % len(COLOURS)],
        linewidth=1.6,
        elinewidth=0.9,
        capsize=2.0,
        linestyle=(0, (3.5, 1.5)) if line.dashed else "-",
        marker=("s" if line.dashed else "o") if line.markers else None,
        markersize=4,
        markerfacecolor="white" if line.dashed else None,
    )


def _finish(ax: Axes, panel: Panel) -> None:
    style(ax, panel.heading)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_xlabel(panel.below, fontsize=9, color=INK)
    ax.set_ylabel(panel.beside, fontsize=9, color=INK)
    if panel.log_x:
        ax.set_xscale("log", base=2)
    if panel.log_y:
        ax.set_yscale("log")
    if panel.from_zero:
        ax.set_ylim(bottom=0)
    if panel.ticks is not None:
        ax.set_xticks(list(panel.ticks), [f"{tick:g}" for tick in panel.ticks])
        ax.minorticks_off()


def as_svg(figure: Any) -> str:
    """Return a figure as SVG: text stays text, and the same figure gives the same file."""
    import matplotlib

    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "tagalong",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    }
    out = io.StringIO()
    with matplotlib.rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"
