"""The measures of a run, as a table, a dict or plots."""

import math
import os
from collections.abc import Hashable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.answer_progress import AnswerProgress, AnswerReport
from tagalong.evaluate.answers import Coverage
from tagalong.evaluate.calibration import Calibration
from tagalong.evaluate.drift import drift_values
from tagalong.evaluate.json_values import for_json
from tagalong.evaluate.label_counts import LABEL_COLUMNS
from tagalong.evaluate.measures import LabelMeasures, Measures
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.drift import Drift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report", "title"]

Order: TypeAlias = Literal["sorted", "mixed"]

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

    ``str(report)`` is the report as text. `tagalong.evaluate.measures` has the formulas.

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
        by their names, and the recent measures as ``recent_...``; ``accuracy`` of the first
        suggestion and ``accuracy_of_3`` of the first three;
        ``share_95``, ``precision_95``, ``marked_precision_95`` and ``found_95`` (see
        `AtTarget`), likewise for 90 and 99; ``mistakes_so_far``; and from
        the certificate ``certified_rounds``, ``certified_mistakes``, ``certified_loss``,
        ``certified_dual`` and ``certified_gain_per_mistake``, which are NaN at points where the
        certificate was not recorded.
    certificate : Certificate, ConfidenceBound or None
        The certificate of the learner.
    answers : AnswerReport
        The first suggestions: how often they were right, and how much could be filed alone.
    one_label : bool
        Whether items have one label each. The text then shows accuracy in place of measures that
        are meant for several labels per item.
    frozen : bool
        Whether the model did not learn during the run. The text then does not say from which item
        on items could be filed.
    drift : Drift or None
        The last change of the answers that the learner noticed.
    grades : bool
        Whether the labels are grades, from the lowest to the highest. The text then shows the mean
        absolute error of the first suggestions.
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
    answers: AnswerReport = field(default_factory=lambda: AnswerProgress(1).report((), {}))
    one_label: bool = False
    frozen: bool = False
    drift: Drift | None = None
    grades: bool = False

    @property
    def coverage(self) -> Coverage:
        """How often the first suggestion was right, and how much could be filed alone."""
        return self.answers.coverage

    @property
    def calibration(self) -> Calibration:
        """How well the probabilities agree with what was right."""
        return self.answers.calibration

    @property
    def mean_absolute_error(self) -> float:
        """How many grades first suggestions are off on average; NaN unless labels are grades."""
        return self.answers.mean_absolute_error if self.grades else math.nan

    @property
    def recent_mean_absolute_error(self) -> float:
        """The mean absolute error of the recent items; NaN unless labels are grades."""
        return self.answers.recent_mean_absolute_error if self.grades else math.nan

    @property
    def order(self) -> Order | None:
        """Whether the labels came "mixed", or "sorted": in runs far beyond chance.

        It is "sorted" if the learner saw such runs at a tenth of all items, or at half of the
        recent items. The measures of a sorted run are too good and must not be trusted. None if
        the learner does not look for runs.
        """
        overall, recent = self.coverage.overall, self.coverage.recent
        if not self.coverage.is_known:
            return None
        is_sorted = 10 * overall.in_runs >= overall.judged or 2 * recent.in_runs >= max(
            1, recent.judged
        )
        return "sorted" if is_sorted else "mixed"

    def per_label(self) -> list[LabelMeasures]:
        """Return the measures of each label, the most frequent labels first."""
        answers = np.zeros((len(self.labels), len(LABEL_COLUMNS)), np.int64)
        answers[: len(self.answers.label_counts)] = self.answers.label_counts
        found = [
            LabelMeasures(label, support, chosen, hits, *first)
            for label, (hits, chosen, support), first in zip(
                self.labels, self.counts.tolist(), answers.tolist(), strict=True
            )
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
            "order": self.order,
            "drift": drift_values(self.drift),
            "one_label": self.one_label,
            "frozen": self.frozen,
            "coverage": self.coverage.to_dict(),
            "calibration": self.calibration.to_dict(),
            "macro_recall": self.answers.macro_recall,
            "recent_macro_recall": self.answers.recent_macro_recall,
            "grades": self.grades,
            "mean_absolute_error": self.mean_absolute_error,
            "recent_mean_absolute_error": self.recent_mean_absolute_error,
            "confusion": [
                {"label": _name(one.label), "suggested": _name(one.suggested), "items": one.items}
                for one in self.answers.confusion
            ],
            "certificate": None if self.certificate is None else asdict(self.certificate),
            "curve": {name: values.tolist() for name, values in self.curve.items()},
        }
        json: dict[str, Any] = for_json(found)
        return json

    def text(self, certificate: bool = False) -> str:
        """Return the report as text.

        Parameters
        ----------
        certificate : bool, default False
            Whether to add the certificate of the learner.
        """
        from tagalong.evaluate.report_text import report_text

        return report_text(self, certificate)

    def __str__(self) -> str:
        return self.text()

    def figure(self, kind: str = "accuracy") -> "Figure":
        """Return a matplotlib figure.

        Parameters
        ----------
        kind : str, default "accuracy"
            "accuracy": how often the first suggestion was right as the run proceeds, and the share
            that can be filed without asking; "coverage": that share against its precision;
            "calibration": the probabilities against the shares of right suggestions; "measures":
            the recent measures as the run proceeds, for one label per item only those of the
            ranking; "labels": precision and recall of the most
            frequent labels; "certificate", also called "mistakes": cumulated mistakes and loss
            with their certified bounds.
        """
        from tagalong.evaluate.plots import draw

        return draw(self, kind)

    def plot(
        self, path: str | os.PathLike[str], kind: str = "accuracy", *, private: bool = False
    ) -> None:
        """Write a plot to a file.

        Parameters
        ----------
        path : str or path
            The file; its name ends in .png or .svg.
        kind : str, default "accuracy"
            As for ``figure``.
        private : bool, default False
            Whether a new file is readable by its owner only.
        """
        from tagalong.evaluate.plots import save

        save(self, path, kind, private=private)


def _name(label: Hashable) -> Any:
    return label if isinstance(label, (str, int)) else str(label)
