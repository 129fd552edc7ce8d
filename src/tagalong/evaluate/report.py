"""The measures of a run, as a table, a dict or plots."""

import math
import os
from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.json_values import for_json
from tagalong.evaluate.measures import MEASURES, LabelMeasures, Measures
from tagalong.learning.certificates import AnyCertificate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report", "title"]

_TITLES = {
    "any_mistake": "any mistake",
    "one_error": "one-error",
    "ranking_loss": "ranking loss",
    "coverage": "coverage",
    "average_precision": "average precision",
    "precision_at_k": "precision@{k}",
    "ndcg_at_k": "NDCG@{k}",
    "hamming": "Hamming loss",
    "micro_f1": "micro-F1",
    "macro_f1": "macro-F1",
    "subset_accuracy": "subset accuracy",
}


def title(measure: str, k: int) -> str:
    """Return the title of a measure in tables and plots."""
    return _TITLES[measure].format(k=k)


@dataclass(frozen=True, eq=False)
class Report:
    """The measures of a run, over all rows and over the recent rows.

    ``str(report)`` is a table. `tagalong.evaluate.measures` has the formulas.

    Parameters
    ----------
    items : int
        Number of items.
    k : int
        Number of top-ranked labels that precision at k and NDCG at k evaluate.
    window : int
        Number of most recent rows that the recent measures cover.
    overall : Measures
        Measures of all items.
    recent : Measures
        Measures of the last ``window`` items.
    labels : tuple of labels
        Names of the labels, in the order of their numbers.
    counts : array of shape (K, 3)
        For each label the numbers of rows in which it was both chosen and relevant, chosen, and
        relevant.
    curve : dict of arrays
        The values at up to 200 points of the run: ``items``; the measures of all items so far
        by their names, and the recent measures as ``recent_...``; ``mistakes_so_far``; and from
        the certificate ``certified_rounds``, ``certified_mistakes``, ``certified_loss``,
        ``certified_dual`` and ``certified_gain_per_mistake``, which are NaN at points where the
        certificate was not recorded.
    certificate : Certificate, ConfidenceBound or None
        The certificate of the learner.
    """

    items: int
    k: int
    window: int
    overall: Measures
    recent: Measures
    labels: tuple[Hashable, ...]
    counts: npt.NDArray[np.int64]
    curve: dict[str, npt.NDArray[np.float64]]
    certificate: AnyCertificate | None = None

    def per_label(self) -> list[LabelMeasures]:
        """Return the measures of each label, the most frequent labels first."""
        found = [
            LabelMeasures(label, int(support), int(chosen), int(hits))
            for label, (hits, chosen, support) in zip(self.labels, self.counts, strict=True)
        ]
        return sorted(found, key=lambda measured: -measured.support)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dict of JSON values, with None for NaN.

        Labels that are neither str nor int become str.
        """
        found = {
            "items": self.items,
            "k": self.k,
            "window": self.window,
            "overall": asdict(self.overall),
            "recent": asdict(self.recent),
            "labels": [
                {"label": _name(measured.label), **measured.to_dict()}
                for measured in self.per_label()
            ],
            "certificate": None if self.certificate is None else asdict(self.certificate),
            "curve": {name: values.tolist() for name, values in self.curve.items()},
        }
        json: dict[str, Any] = for_json(found)
        return json

    def __str__(self) -> str:
        used = int(np.count_nonzero(self.counts[:, 2])) if len(self.counts) else 0
        head = f"{self.items:,} {_plural(self.items, 'item')}, "
        head += f"{len(self.labels):,} {_plural(len(self.labels), 'label')}"
        if used < len(self.labels):
            head += f" ({used:,} of them relevant at least once)"
        rows = [("", "all", f"last {min(self.window, self.items):,}")]
        for name in MEASURES:
            values = getattr(self.overall, name), getattr(self.recent, name)
            overall, recent = (_number(value, name) for value in values)
            rows.append((title(name, self.k), overall, recent))
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [head, ""]
        for left, *right in rows:
            cells = [cell.rjust(width) for cell, width in zip(right, widths[1:], strict=True)]
            lines.append("  ".join([left.ljust(widths[0]), *cells]))
        if self.certificate is not None:
            lines += ["", f"certificate: {self.certificate}"]
        return "\n".join(lines)

    def figure(self, kind: str = "mistakes") -> "Figure":
        """Return a matplotlib figure.

        Parameters
        ----------
        kind : "mistakes", "measures" or "labels", default "mistakes"
            Cumulated mistakes and loss with their certified bounds; the recent measures as the
            run proceeds; or precision and recall of the most frequent labels.
        """
        from tagalong.evaluate.plots import draw

        return draw(self, kind)

    def plot(self, path: str | os.PathLike[str], kind: str = "mistakes") -> None:
        """Write a plot to a file.

        Parameters
        ----------
        path : str or path
            The file; its name ends in .png or .svg.
        kind : "mistakes", "measures" or "labels", default "mistakes"
            As for ``figure``.
        """
        from tagalong.evaluate.plots import save

        save(self, path, kind)


def _number(value: float, name: str) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:,.1f}" if name == "coverage" else f"{value:.4f}"


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def _name(label: Hashable) -> Any:
    return label if isinstance(label, (str, int)) else str(label)
