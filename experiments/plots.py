"""Line plots in a common style: panels side by side with one legend."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagalong.evaluate.plot_parts import FAINT, INK, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Sizes in inches.
PANEL_WIDTH, PANEL_HEIGHT = 4.4, 3.3
SINGLE_PANEL_WIDTH = 7.0
LEGEND_ENTRY, LEGEND_ROW = 1.3, 0.24
COLOURS = (
    *("#1f5fa8", "#c4531d", "#2a8c5a", "#8e4fa3", "#b08a00", "#5b6770", "#d1477a"),
    *("#3aa6b9", "#7a5230"),
)


@dataclass(frozen=True)
class Line:
    """A line of a panel; ``errors`` are half the lengths of the error bars."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    errors: Sequence[float] | None = None
    colour: int = 0
    dashed: bool = False
    markers: bool = True


@dataclass(frozen=True)
class Panel:
    """A panel with lines."""

    heading: str
    lines: Sequence[Line]
    x_label: str
    y_label: str
    log_x: bool = False
    log_y: bool = False
    from_zero: bool = False
    zero_line: bool = False
    ticks: Sequence[float] | None = None


def lines(panels: Sequence[Panel]) -> Any:
    """Return a figure of panels with lines, and a legend below the panels."""
    from matplotlib.figure import Figure

    columns = min(2 if len(panels) in (2, 4) else 3, len(panels))
    rows = -(-len(panels) // columns)
    width = SINGLE_PANEL_WIDTH if columns == 1 else columns * PANEL_WIDTH
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    legend_rows = -(-len(labels) // int(width / LEGEND_ENTRY))
    per_row = -(-len(labels) // legend_rows)
    foot = 0.15 + LEGEND_ROW * legend_rows
    height = rows * PANEL_HEIGHT + foot
    figure = Figure(figsize=(width, height), facecolor="white")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    for ax, panel in zip(axes, panels, strict=False):
        for line in panel.lines:
            handles.setdefault(line.label, _draw(ax, line))
        _style_axes(ax, panel)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    figure.tight_layout(rect=(0, foot / height, 1, 1), w_pad=2.0, h_pad=1.6)
    # matplotlib fills the legend by columns; readers read it by rows.
    shown = [label for first in range(per_row) for label in labels[first::per_row]]
    figure.legend(
        [handles[label] for label in shown],
        shown,
        loc="lower center",
        ncols=per_row,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )
    return figure


def _draw(ax: Axes, line: Line) -> Any:
    return ax.errorbar(
        list(line.x),
        list(line.y),
        yerr=None if line.errors is None else list(line.errors),
        color=COLOURS[line.colour % len(COLOURS)],
        linewidth=1.6,
        elinewidth=0.9,
        capsize=2.0,
        linestyle=(0, (3.5, 1.5)) if line.dashed else "-",
        marker=("s" if line.dashed else "o") if line.markers else None,
        markersize=4,
        markerfacecolor="white" if line.dashed else None,
    )


def _style_axes(ax: Axes, panel: Panel) -> None:
    style(ax, panel.heading)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_xlabel(panel.x_label, fontsize=9, color=INK)
    ax.set_ylabel(panel.y_label, fontsize=9, color=INK)
    if panel.log_x:
        ax.set_xscale("log", base=2)
    if panel.log_y:
        from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    if panel.zero_line:
        ax.axhline(0, color=INK, linewidth=0.8, zorder=1)
    if panel.from_zero:
        ax.set_ylim(bottom=0)
    if panel.ticks is not None:
        ax.set_xticks(list(panel.ticks), [f"{tick:g}" for tick in panel.ticks])
        ax.minorticks_off()


def as_svg(figure: Any) -> str:
    """Return a figure as SVG; text stays text, and equal figures give equal files."""
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
