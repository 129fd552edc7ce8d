r"""What is measured, with its formulas.

A row has labels with scores :math:`s`, the relevant ones :math:`Y`, the irrelevant ones
:math:`N`; labels of unknown relevance are in neither and count nowhere. Labels that did not exist
yet when the row came do not count either, unless they are relevant: those were ranked last.
:math:`a_y` labels score above label :math:`y` and :math:`b_y` at least as high.

Measures of the ranking are means over the rows with both relevant and irrelevant labels. Equal
scores count against the ranking, as in scikit-learn; what looks at the first places takes the
mean over the orders that equal scores could be in. A row contributes

- any mistake: 1 if some :math:`s_r \le s_n`, r in Y, n in N (the mistake that P1 counts);
- one-error: 1 if the first label is not in Y;
- ranking loss: the share of the pairs (r, n) with :math:`s_r \le s_n`;
- coverage: :math:`\max_{r \in Y} b_r`, how far down one has to read to meet all of Y;
- average precision: the mean over r in Y of :math:`|\{q \in Y : s_q \ge s_r\}| / b_r`;
- precision at k: the number of the first k labels that are in Y, divided by k;
- NDCG at k: :math:`\sum 1 / \log_2(1 + p)` over the places p of Y up to k, divided by the largest
  that this sum could be.

Measures of the chosen sets look at every row. The chosen labels Z score at least the cut-off:

- Hamming loss: the mean over the rows of the share of labels that are in just one of Y and Z;
- subset accuracy: the share of rows with Y = Z;
- micro-F1: :math:`2 \sum |Y \cap Z| / \sum (|Y| + |Z|)`;
- macro-F1: the mean of the F1 of single labels, over the labels that were relevant or chosen
  at least once (scikit-learn's ``zero_division=nan``).

What has nothing to be the mean of is NaN.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["HIGHER_IS_BETTER", "MEASURES", "SUMS", "LabelMeasures", "Measures", "means"]

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
"""What is summed over rows, in the order in which the native core keeps it."""

_OF_RANKINGS = SUMS[1:8]


@dataclass(frozen=True)
class Measures:
    """The measures of some rows; this module says how they are computed.

    Parameters
    ----------
    rows : int
        How many rows there were.
    ranked : int
        How many of them had both relevant and irrelevant labels.
    any_mistake, one_error, ranking_loss : float
        Of the rankings; lower is better.
    coverage : float
        How far down the ranking one has to read, on average, to meet all relevant labels.
    average_precision, precision_at_k, ndcg_at_k : float
        Of the rankings; higher is better.
    hamming : float
        Hamming loss of the chosen sets; lower is better.
    micro_f1, macro_f1, subset_accuracy : float
        Of the chosen sets; higher is better.
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
        """Return the measures of rows whose values have been summed.

        Parameters
        ----------
        sums : mapping
            A sum for each name in ``SUMS``.
        macro_f1 : float
            Of the same rows; it does not follow from the sums.
        """
        found = {name: float(value) for name, value in means(sums).items()}
        rows, ranked = int(sums["rows"]), int(sums["ranked"])
        return cls(rows=rows, ranked=ranked, **found, macro_f1=macro_f1)


def means(sums: Mapping[str, npt.ArrayLike]) -> dict[str, npt.NDArray[np.float64]]:
    """Return all measures but macro-F1, from sums that are numbers or arrays.

    Parameters
    ----------
    sums : mapping
        A sum for each name in ``SUMS``.
    """
    found = {name: _share(sums[name], sums["ranked"]) for name in _OF_RANKINGS}
    found["hamming"] = _share(sums["wrong"], sums["rows"])
    found["micro_f1"] = _share(
        2 * np.asarray(sums["hits"]), np.add(sums["chosen"], sums["relevant"])
    )
    found["subset_accuracy"] = _share(sums["exact"], sums["rows"])
    return found


def _share(part: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[np.float64]:
    whole = np.asarray(whole, dtype=np.float64)
    shares = np.full(whole.shape, np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


MEASURES = tuple(field.name for field in fields(Measures) if field.type is float)
"""The names of the measures, in the order in which they are shown."""

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
"""The measures of which more is better; of the others, less is."""


@dataclass(frozen=True)
class LabelMeasures:
    """How often a label was relevant, chosen, and both.

    Parameters
    ----------
    label : hashable
        Its name.
    support : int
        The rows in which it was relevant.
    chosen : int
        The rows in which it scored at least the cut-off.
    hits : int
        The rows in which it was both.
    """

    label: Hashable
    support: int
    chosen: int
    hits: int

    @property
    def precision(self) -> float:
        """The share of its choices that were right; NaN if it was never chosen."""
        return _ratio(self.hits, self.chosen)

    @property
    def recall(self) -> float:
        """The share of its rows in which it was chosen; NaN if it was never relevant."""
        return _ratio(self.hits, self.support)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; NaN if neither relevant nor chosen."""
        return _ratio(2 * self.hits, self.chosen + self.support)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it by name, the name of the label excepted."""
        names = ("support", "chosen", "hits", "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names}


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan
