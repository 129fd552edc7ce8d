"""Plots of a report, each with a caption that explains its lines."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tagalong import parameters
from tagalong.evaluate.measures import HIGHER_IS_BETTER, MEASURES
from tagalong.evaluate.plot_parts import (
    FAINT,
    INK,
    caption,
    finish,
    fonts,
    line,
    panels,
    shortened,
    style,
)
from tagalong.evaluate.report import Report, title
from tagalong.learning.certificates.mistake_bound import Certificate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KINDS", "draw", "save"]

MAX_LABELS = 30
DOTS_PER_INCH = 150

OURS, OTHER, CERTIFIED = "#1f5fa8", "#7fb2e5", "#c4531d"
LINES = ("#1f5fa8", "#c4531d", "#2a8c5a", "#8e4fa3", "#b08a00", "#5b6770")


def draw(report: Report, kind: str) -> "Figure":
    """Return a figure of a report.

    Parameters
    ----------
    report : Report
        The measures to plot.
    kind : str
        One of ``KINDS``.
    """
    parameters.choice(kind, "kind", tuple(KINDS))
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "plots need matplotlib: pip install 'tagalong[plots]'", name=error.name
        ) from error
    return KINDS[kind](report)


def save(report: Report, path: str | os.PathLike[str], kind: str) -> None:
    """Write a figure to a PNG or SVG file; an existing file is replaced at the end.

    Parameters
    ----------
    report : Report
        The measures to plot.
    path : str or path
        The file; its name ends in .png or .svg.
    kind : str
        One of ``KINDS``.
    """
    path = Path(path)
    extension = path.suffix.lower().removeprefix(".")
    if extension not in ("png", "svg"):
        raise ValueError(f"path must end in .png or .svg, got {str(path)!r}")
    figure = draw(report, kind)
    temporary = path.with_name(f".{path.name}.part")
    # Without the date, equal figures give equal files.
    metadata = {"Date": None} if extension == "svg" else None
    try:
        with warnings.catch_warnings():
            # Characters that no installed font has are drawn as boxes.
            warnings.filterwarnings("ignore", message="Glyph")
            figure.savefig(temporary, format=extension, dpi=DOTS_PER_INCH, metadata=metadata)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _mistakes(report: Report) -> "Figure":
    """Cumulated mistakes and loss, with their certified bounds."""
    curve, certificate = report.curve, report.certificate
    known = np.isfinite(curve["certified_dual"]) & (curve["certified_rounds"] > 0)
    if not isinstance(certificate, Certificate) or not known.any():
        figure, (above,) = panels(1, height=4.2)
        line(above, curve["items"], curve["mistakes_so_far"], OURS, "predictions made", from_0=True)
        finish(above, "Mistakes so far", "items")
        caption(figure, _DEFINITION_OF_MISTAKE)
        return figure
    figure, (above, below) = panels(2, height=7.2)
    items, rounds = curve["items"][known], curve["certified_rounds"][known]
    loss, dual = curve["certified_loss"][known], curve["certified_dual"][known]
    mistakes, gain = curve["certified_mistakes"][known], curve["certified_gain_per_mistake"][known]
    from_0 = bool(rounds[-1] == items[-1])
    if not np.array_equal(mistakes, curve["mistakes_so_far"][known]):
        line(
            above,
            curve["items"],
            curve["mistakes_so_far"],
            OTHER,
            "predictions made",
            from_0=True,
        )
    line(above, items, mistakes, OURS, "current weights, M", from_0=from_0)
    bound = np.divide(dual, gain, out=np.full(len(gain), np.nan), where=gain > 0)
    # The dual value may have fallen if it was recomputed for a larger number of features.
    holds = not (mistakes > bound * (1 + 1e-6) + 1e-6).any()
    if holds and bound[-1] <= rounds[-1]:
        label = "certified: M is at most D/λ"
        line(above, items, bound, CERTIFIED, label, dashed=True, from_0=from_0)
    finish(above, "Mistakes so far", "")
    line(below, items, loss, OURS, "current weights", from_0=from_0)
    label = "certified: D/C, at most loss + F/C of any fixed weights"
    line(below, items, dual / certificate.C, CERTIFIED, label, dashed=True, from_0=from_0)
    finish(below, "Loss so far", "items")
    kind = _loss_name(certificate)
    texts = [_DEFINITION_OF_MISTAKE]
    if holds:
        texts.append(_about_bound(certificate, float(bound[-1])))
    texts.append(
        f"Lower panel: for any data, no fixed weights w, even chosen in hindsight, have {kind}(w) "
        "+ F(w)/C below D/C, where F is the complexity and D the dual value. Nothing is proven "
        "about averaged weights."
    )
    if certificate.restarted:
        texts.append(
            f"The certificate restarted ({certificate.restarted}); since then F is measured "
            "from the weights at the restart."
        )
    if not from_0:
        texts.append(
            f"The certificate covers {certificate.rounds:,} rounds, but this run has "
            f"{report.items:,} items."
        )
    caption(figure, " ".join(texts))
    return figure


_DEFINITION_OF_MISTAKE = (
    "A mistake: before the item was learnt, some relevant label did not score above all "
    "irrelevant labels."
)


def _loss_name(certificate: Certificate) -> str:
    return "smoothed loss" if certificate.update == "smooth" else "loss"


def _about_bound(certificate: Certificate, bound: float) -> str:
    kind = _loss_name(certificate)
    if np.isnan(bound):
        return f"With update={certificate.update!r} and these settings no mistake bound is known."
    if bound > certificate.rounds:
        return (
            f"Each mistake of the current weights has increased D by at least λ, so M is at most "
            f"D/λ = {bound:,.0f}. This exceeds the number of rounds, so the line is not drawn."
        )
    return (
        "Each mistake of the current weights has increased D by at least λ, so M is at most D/λ. "
        f"No fixed weights give a mistake bound (F(w) + C {kind}(w))/λ below that line."
    )


def _measures(report: Report) -> "Figure":
    """The recent measures as the run proceeds."""
    figure, axes = panels(2, height=7.2, right=0.74)
    shown = [name for name in MEASURES if name != "coverage"]
    higher = [name for name in shown if name in HIGHER_IS_BETTER]
    lower = [name for name in shown if name not in HIGHER_IS_BETTER]
    for ax, names, text in zip(
        axes, (higher, lower), ("Higher is better", "Lower is better"), strict=True
    ):
        for name, colour in zip(names, LINES, strict=False):
            values = report.curve[f"recent_{name}"]
            last = values[-1]
            now = "–" if np.isnan(last) else f"{last:.3f}"
            line(ax, report.curve["items"], values, colour, f"{title(name, report.k)}  {now}")
        ax.set_ylim(0, 1)
        finish(ax, text, "items" if ax is axes[-1] else "", legend_outside=True)
    caption(
        figure,
        f"Each point covers the last {report.window:,} items, or all items if there are fewer. "
        "Each item was predicted before it was learnt. The numbers are the values at the end.",
    )
    return figure


def _labels(report: Report) -> "Figure":
    """Precision and recall of the most frequent labels."""
    occurring = [measured for measured in report.per_label() if measured.support or measured.chosen]
    shown = occurring[:MAX_LABELS]
    figure, (ax,) = panels(1, height=2.0 + 0.24 * max(len(shown), 2), left=0.34, right=0.88)
    places = np.arange(len(shown))
    precision = np.array([measured.precision for measured in shown])
    recall = np.array([measured.recall for measured in shown])
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
    caption(figure, "A label counts as chosen if it scored at least the cut-off at that time.")
    return figure


KINDS: dict[str, Callable[[Report], "Figure"]] = {
    "mistakes": _mistakes,
    "measures": _measures,
    "labels": _labels,
}
"""The plots by name."""
