"""Plot of the recent measures as a run proceeds."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.measures import HIGHER_IS_BETTER, MEASURES
from tagalong.evaluate.plot_parts import about_items, caption, finish, line, panels
from tagalong.evaluate.report import Report, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_measures"]

LINES = ("#1f5fa8", "#c4531d", "#2a8c5a", "#8e4fa3", "#b08a00", "#5b6770")

Values = npt.NDArray[np.float64]


def draw_measures(report: Report) -> "Figure":
    """Return a figure of the recent measures as the run proceeds."""
    return _draw_one_label(report) if report.one_label else _draw_several_labels(report)


def _draw_several_labels(report: Report) -> "Figure":
    figure, axes = panels(2, height=7.2, right=0.74)
    shown = [name for name in MEASURES if name != "coverage"]
    higher = [name for name in shown if name in HIGHER_IS_BETTER]
    lower = [name for name in shown if name not in HIGHER_IS_BETTER]
    for ax, names, text in zip(
        axes, (higher, lower), ("Higher is better", "Lower is better"), strict=True
    ):
        for name, colour in zip(names, LINES, strict=False):
            values = report.curve[f"recent_{name}"]
            _draw(ax, report.curve["items"], values, colour, title(name, report.k))
        ax.set_ylim(0, 1)
        finish(ax, text, "items" if ax is axes[-1] else "", legend_outside=True)
    caption(figure, _caption(report))
    return figure


def _draw_one_label(report: Report) -> "Figure":
    """Draw the measures of the ranking: exactly one label is chosen, whatever the cut-off."""
    figure, (ax,) = panels(1, height=4.2, right=0.7)
    items = report.curve["items"]
    _draw(ax, items, report.curve["recent_accuracy"], LINES[0], "accuracy")
    among_3 = report.curve["recent_accuracy_of_3"]
    _draw(ax, items, among_3, LINES[1], "right among the first 3")
    macro_recall = np.array([report.answers.recent_macro_recall])
    _draw(ax, items[-1:], macro_recall, LINES[2], "macro recall")
    ax.set_ylim(0, 1)
    finish(ax, "Higher is better", "items", legend_outside=True)
    caption(figure, f"{_caption(report)} Macro recall is known at the end only.")
    return figure


def _draw(ax: "Axes", items: Values, values: Values, colour: str, name: str) -> None:
    now = "–" if np.isnan(values[-1]) else f"{values[-1]:.3f}"
    line(ax, items, values, colour, f"{name}  {now}")


def _caption(report: Report) -> str:
    return (
        f"Each point covers the last {min(report.window, report.items):,} items, or all items if "
        "there are fewer. "
        f"{about_items(report.frozen)} The numbers are the values at the end."
    )
