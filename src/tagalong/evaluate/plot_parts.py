"""Shared parts of the plots: panels, lines, captions, shortened names."""

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.label_names import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CERTIFIED",
    "FAINT",
    "INK",
    "OTHER",
    "OURS",
    "TARGET_COLOURS",
    "about_items",
    "caption",
    "finish",
    "fonts",
    "line",
    "note_order",
    "panels",
    "share_axis",
    "shortened",
    "style",
]

CAPTION_WIDTH = 138

INK, FAINT = "#333333", "#d9d9d9"
OURS, OTHER, CERTIFIED = "#1f5fa8", "#7fb2e5", "#c4531d"
TARGET_COLOURS = ("#2a8c5a", "#1f5fa8", "#8e4fa3")
"""The colours of the lines for 90, 95 and 99 %."""

# Fonts for scripts that matplotlib's own font does not cover. Only installed fonts are used.
EXTRA_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "WenQuanYi Zen Hei",
    "Noto Sans Arabic",
    "Noto Sans Devanagari",
    "Noto Emoji",
    "Arial Unicode MS",
)

Values = npt.NDArray[np.float64]


def panels(
    count: int, height: float, left: float = 0.1, right: float = 0.97
) -> tuple["Figure", list["Axes"]]:
    """Return a figure with panels below each other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), facecolor="white")
    axes = figure.subplots(count, 1, squeeze=False)[:, 0].tolist()
    figure.subplots_adjust(left=left, right=right, top=1 - 0.42 / height, hspace=0.28)
    return figure, axes


def line(
    ax: "Axes",
    x: Values,
    y: Values,
    colour: str,
    label: str,
    dashed: bool = False,
    from_0: bool = False,
) -> None:
    """Draw a line through the finite values, with dots if there are fewer than three."""
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    if from_0:
        x, y = np.append(0.0, x), np.append(0.0, y)
    with_dots = len(x) < 3
    ax.plot(
        x,
        y,
        color=colour,
        linewidth=1.7,
        linestyle=(0, (4, 1.5)) if dashed else "-",
        marker="o" if with_dots else None,
        label=label,
        clip_on=not with_dots,
        zorder=3,
    )


def finish(ax: "Axes", heading: str, x_label: str, legend_outside: bool = False) -> None:
    """Add heading, axes and legend to a panel whose x axis counts items."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    style(ax, heading)
    ax.set_xlabel(x_label, fontsize=9, color=INK)
    ax.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    thousands = FuncFormatter(lambda value, _: f"{value:,.0f}")
    ax.xaxis.set_major_formatter(thousands)
    if not legend_outside:
        low, high = ax.get_ylim()
        lowest = min(float(np.min(line.get_ydata(), initial=0.0)) for line in ax.lines)
        ax.set_ylim(low if lowest < 0 else 0.0, max(high, 1.0))
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.yaxis.set_major_formatter(thousands)
    ax.set_xlim(0, max(ax.get_xlim()[1], 1.0))
    ax.grid(color=FAINT, linewidth=0.6)
    position: dict[str, Any] = {"loc": "upper left"}
    if legend_outside:
        position |= {"bbox_to_anchor": (1.01, 1.02)}
    legend = ax.legend(
        fontsize=9, frameon=not legend_outside, edgecolor="none", framealpha=0.85, **position
    )
    legend.set_zorder(5)


def share_axis(axis: Any) -> None:
    """Format an axis of shares from 0 to 1 in per cent."""
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(PercentFormatter(1.0, decimals=None, symbol=" %"))


def about_items(frozen: bool) -> str:
    """Return a sentence for captions: whether the model learnt from the items."""
    if frozen:
        return "The model did not learn from these items."
    return "Each item was predicted before it was learnt."


def note_order(ax: "Axes", is_sorted: bool) -> None:
    """Write into a panel that its figures must not be trusted, if the items came sorted."""
    if is_sorted:
        ax.text(
            0.98,
            0.04,
            "The items came sorted by label: do not trust these figures.",
            transform=ax.transAxes,
            ha="right",
            fontsize=9,
            fontweight="bold",
            color="#b00020",
            zorder=6,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85},
        )


def style(ax: "Axes", heading: str) -> None:
    """Set the common style of a panel."""
    ax.set_title(heading, loc="left", fontsize=11, fontweight="bold", color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.tick_params(colors=INK, labelsize=8, length=0)
    ax.set_axisbelow(True)


def caption(figure: "Figure", text: str) -> None:
    """Add a caption below the panels of a figure."""
    # A number stays on one line with its per cent sign.
    lines = textwrap.wrap(text.replace(" %", "\N{NO-BREAK SPACE}%"), CAPTION_WIDTH)
    height = figure.get_figheight()
    figure.text(
        0.02, 0.1 / height, "\n".join(lines), va="bottom", fontsize=8, color=INK, linespacing=1.35
    )
    figure.subplots_adjust(bottom=(0.75 + 0.16 * len(lines)) / height)


def fonts() -> list[str]:
    """Return the fonts for label names, in order of priority."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in EXTRA_FONTS if name in installed)]
