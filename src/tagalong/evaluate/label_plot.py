"""Plot of precision and recall of single labels."""

from typing import TYPE_CHECKING

import numpy as np

from tagalong.evaluate.label_names import shortened
from tagalong.evaluate.measures import LabelMeasures
from tagalong.evaluate.plot_parts import CERTIFIED, FAINT, INK, OURS, caption, fonts, panels, style
from tagalong.evaluate.report import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MAX_LABELS", "draw_labels"]

MAX_LABELS = 30


def draw_labels(report: Report) -> "Figure":
    """Return a figure of precision and recall of the most frequent labels."""
    occurring = [
        measured
        for measured in report.per_label()
        if measured.support or (measured.suggested if report.one_label else measured.chosen)
    ]
    shown = occurring[:MAX_LABELS]
    figure, (ax,) = panels(1, height=2.0 + 0.24 * max(len(shown), 2), left=0.34, right=0.88)
    places = np.arange(len(shown))
    precision = np.array([_precision(report, measured) for measured in shown])
    recall = np.array([_recall(report, measured) for measured in shown])
    ax.hlines(places, precision, recall, color=FAINT, linewidth=3, zorder=1)
    ax.scatter(precision, places, color=OURS, s=34, zorder=3, label="precision")
    ax.scatter(
        recall,
        places,
        color="white",
        edgecolors=CERTIFIED,
        linewidths=1.6,
        s=30,
        zorder=4,
        label="recall",
    )
    for place, measured in zip(places, shown, strict=True):
        ax.text(1.04, float(place), f"{measured.support:,}", va="center", fontsize=8, color=INK)
    ax.set_yticks(places, [shortened(measured.label) for measured in shown], fontsize=8)
    families = fonts()
    for tick in ax.get_yticklabels():
        tick.set_parse_math(False)  # draw dollar signs literally
        tick.set_fontfamily(families)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    heading = "Precision and recall by label"
    if len(shown) < len(occurring):
        heading += f": the {len(shown)} most frequent of {len(occurring):,}"
    style(ax, "")
    figure.text(
        0.02, 1 - 0.3 / figure.get_figheight(), heading, fontsize=11, fontweight="bold", color=INK
    )
    ax.grid(axis="x", color=FAINT, linewidth=0.6)
    if shown:
        ax.text(1.04, -0.95, "items", va="center", fontsize=8, color=INK, style="italic")
        ax.legend(
            loc="upper right",
            bbox_to_anchor=(1.0, -0.16 / (0.16 + 0.24 * len(shown))),
            ncols=2,
            frameon=False,
            fontsize=8,
        )
    else:
        ax.text(0.5, 0.3, "no labels", ha="center", color=INK)
    caption(figure, _CAPTION_OF_ONE if report.one_label else _CAPTION)
    return figure


_CAPTION = "A label counts as chosen if it scored at least the cut-off at that time."
_CAPTION_OF_ONE = (
    "Precision: of the items for which the label was suggested first, the share that has it. "
    "Recall: of the items that have it, the share for which it was suggested first."
)


def _precision(report: Report, measured: LabelMeasures) -> float:
    return measured.precision_first if report.one_label else measured.precision


def _recall(report: Report, measured: LabelMeasures) -> float:
    return measured.found_first if report.one_label else measured.recall
