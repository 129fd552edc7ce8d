"""Plots of a report, each with a caption that explains its lines."""

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tagalong import parameters
from tagalong.evaluate.accuracy_plot import draw_accuracy
from tagalong.evaluate.calibration_plot import draw_calibration
from tagalong.evaluate.certificate_plot import draw_certificate
from tagalong.evaluate.coverage_plot import draw_coverage
from tagalong.evaluate.label_plot import draw_labels
from tagalong.evaluate.measure_plot import draw_measures
from tagalong.evaluate.report import Report
from tagalong.files.replacement import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["KINDS", "draw", "save"]

DOTS_PER_INCH = 150

KINDS: dict[str, Callable[[Report], "Figure"]] = {
    "accuracy": draw_accuracy,
    "coverage": draw_coverage,
    "calibration": draw_calibration,
    "measures": draw_measures,
    "labels": draw_labels,
    "certificate": draw_certificate,
    "mistakes": draw_certificate,  # its name in earlier versions
}
"""The plots by name."""


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


def save(report: Report, path: str | os.PathLike[str], kind: str, *, private: bool = False) -> None:
    """Write a figure to a PNG or SVG file; an existing file is replaced at the end.

    Parameters
    ----------
    report : Report
        The measures to plot.
    path : str or path
        The file; its name ends in .png or .svg.
    kind : str
        One of ``KINDS``.
    private : bool
        Whether a new file is readable by its owner only.
    """
    path = Path(path)
    extension = path.suffix.lower().removeprefix(".")
    if extension not in ("png", "svg"):
        raise ValueError(f"path must end in .png or .svg, got {str(path)!r}")
    figure = draw(report, kind)
    # Without the date, equal figures give equal files.
    metadata = {"Date": None} if extension == "svg" else None
    with replacing(path, private=private) as file, warnings.catch_warnings():
        # Characters that no installed font has are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(file, format=extension, dpi=DOTS_PER_INCH, metadata=metadata)
