r"""The measures and their formulas.

A row has labels with scores :math:`s`, relevant labels :math:`Y` and irrelevant labels :math:`N`.
Labels of unknown relevance are in neither set and are ignored. Labels that did not exist when the
row was predicted are ignored too, unless they are relevant: then they count as ranked last.
:math:`b_y` is the number of labels that score at least as high as label :math:`y`.

The ranking measures are means over the rows with both relevant and irrelevant labels. Equal scores
count as errors, as in scikit-learn. One-error, precision at k and NDCG at k take the mean over all
orders of labels with equal scores. The values of a row are

- any mistake: 1 if some :math:`s_r \le s_n`, r in Y, n in N (the mistake that P1 counts);
- one-error: 1 if the label ranked first is not in Y;
- ranking loss: the share of the pairs (r, n) with :math:`s_r \le s_n`;
- coverage: :math:`\max_{r \in Y} b_r`, the depth of the ranking that contains all of Y;
- average precision: the mean over r in Y of :math:`|\{q \in Y : s_q \ge s_r\}| / b_r`;
- precision at k: the number of labels in Y among the first k, divided by k;
- NDCG at k: :math:`\sum 1 / \log_2(1 + p)` over the positions p of Y up to k, divided by the
  largest possible value of this sum.

The measures of the chosen sets cover all rows. The chosen labels Z score at least the cut-off:

- Hamming loss: the mean over the rows of the share of labels that are in exactly one of Y and Z;
- subset accuracy: the share of rows with Y = Z;
- micro-F1: :math:`2 \sum |Y \cap Z| / \sum (|Y| + |Z|)`;
- macro-F1: the mean of the F1 of single labels, over the labels that were relevant or chosen
  at least once (scikit-learn's ``zero_division=nan``).

A mean over nothing is NaN.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["HIGHER_IS_BETTER", "MEASURES", "SUMS", "LabelMeasures", "Measures", "means", "share"]

SUMS = (
    "ranked",
    "any_mistake",
    "one_error",
    "ranking_loss",
    "coverage",
    "average_precision",
    "precision_at_k",
    "ndcg_at_k",
    "rows",
    "hits",
    "chosen",
    "relevant",
    "wrong",
    "exact",
)
"""The sums over rows, in the order of the native core."""

_RANKING_MEASURES = SUMS[1:8]


@dataclass(frozen=True)
class Measures:
    """The measures of some rows. The module docstring has the formulas.

    Parameters
    ----------
    rows : int
        Number of rows.
    ranked : int
        Number of rows with both relevant and irrelevant labels.
    any_mistake, one_error, ranking_loss : float
        Ranking measures; lower is better.
    coverage : float
        Mean depth of the ranking that contains all relevant labels; lower is better.
    average_precision, precision_at_k, ndcg_at_k : float
        Ranking measures; higher is better.
    hamming : float
        Hamming loss of the chosen sets; lower is better.
    micro_f1, macro_f1, subset_accuracy : float
        Measures of the chosen sets; higher is better.
    """

    rows: int
    ranked: int
    any_mistake: float
    one_error: float
    ranking_loss: float
    coverage: float
    average_precision: float
    precision_at_k: float
    ndcg_at_k: float
    hamming: float
    micro_f1: float
    macro_f1: float
    subset_accuracy: float

    @classmethod
    def from_sums(cls, sums: Mapping[str, float], macro_f1: float) -> "Measures":
        """Return the measures that follow from sums over rows.

        Parameters
        ----------
        sums : mapping
            One sum for each name in ``SUMS``.
        macro_f1 : float
            Macro-F1 of the same rows, which does not follow from the sums.
        """
        found = {name: float(value) for name, value in means(sums).items()}
        rows, ranked = int(sums["rows"]), int(sums["ranked"])
        return cls(rows=rows, ranked=ranked, **found, macro_f1=macro_f1)


def means(sums: Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[np.float64]]:
    """Return all measures except macro-F1, from sums that are numbers or arrays.

    Parameters
    ----------
    sums : mapping
        One sum for each name in ``SUMS``.
    """
    found = {name: share(sums[name], sums["ranked"]) for name in _RANKING_MEASURES}
    found["hamming"] = share(sums["wrong"], sums["rows"])
    found["micro_f1"] = share(
        2 * np.asarray(sums["hits"]), np.add(sums["chosen"], sums["relevant"])
    )
    found["subset_accuracy"] = share(sums["exact"], sums["rows"])
    return found


def share(part: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return parts divided by wholes; NaN where the whole is 0 or NaN.

    Parameters
    ----------
    part, whole : number or array
        The dividends and the divisors.
    """
    whole = np.asarray(whole, dtype=np.float64)
    shares = np.full(whole.shape, np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


MEASURES = tuple(field.name for field in fields(Measures) if field.type is float)
"""The names of the measures, in the order of tables."""

HIGHER_IS_BETTER = frozenset(
    {
        "average_precision",
        "precision_at_k",
        "ndcg_at_k",
        "micro_f1",
        "macro_f1",
        "subset_accuracy",
    }
)
"""The measures whose higher values are better; of the others, lower values are."""


@dataclass(frozen=True)
class LabelMeasures:
    """The number of rows in which a label was relevant, chosen, and both.

    Parameters
    ----------
    label : hashable
        Name of the label.
    support : int
        Number of rows in which it was relevant.
    chosen : int
        Number of rows in which it scored at least the cut-off.
    hits : int
        Number of rows in which it was both.
    answered : int
        Number of rows in which it was relevant and some label was suggested.
    suggested : int
        Number of rows in which it was suggested first.
    suggested_right : int
        Number of rows in which it was suggested first and relevant.
    marked : int
        Number of rows in which it was sure at 95 %.
    marked_right : int
        Number of rows in which it was sure at 95 % and relevant.
    """

    label: Hashable
    support: int
    chosen: int
    hits: int
    answered: int = 0
    suggested: int = 0
    suggested_right: int = 0
    marked: int = 0
    marked_right: int = 0

    @property
    def precision(self) -> float:
        """Share of relevant rows among those with the label chosen; NaN if it was never chosen."""
        return _ratio(self.hits, self.chosen)

    @property
    def recall(self) -> float:
        """Share of rows with the label chosen among the relevant ones; NaN if there are none."""
        return _ratio(self.hits, self.support)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; NaN if never relevant and never chosen."""
        return _ratio(2 * self.hits, self.chosen + self.support)

    @property
    def found_first(self) -> float:
        """Share of the rows with the label in which it was suggested first; NaN without rows."""
        return _ratio(self.suggested_right, self.answered)

    @property
    def precision_first(self) -> float:
        """Share of right ones among the rows in which it was suggested first; NaN without rows."""
        return _ratio(self.suggested_right, self.suggested)

    @property
    def marked_precision(self) -> float:
        """Share of right ones among the rows in which it was sure at 95 %; NaN without rows."""
        return _ratio(self.marked_right, self.marked)

    def to_dict(self) -> dict[str, Any]:
        """Return all values except the label, by name."""
        counts = [field.name for field in fields(self) if field.name != "label"]
        shares = ("precision", "recall", "f1", "found_first", "precision_first", "marked_precision")
        names = (*counts, *shares)
        return {name: getattr(self, name) for name in names}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan
