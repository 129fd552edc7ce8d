"""Progressive measures: the scores of each row are computed before the row is learnt.

With Y the relevant labels of a row, K labels and scores s, a row contributes

- one-error: 1 if the best label is not in Y;
- any-mistake: 1 if min_Y s <= max_notY s, so a tie between a relevant and an irrelevant label is a
  mistake (the M of P1);
- ranking loss: the share of pairs (r in Y, q not in Y) with s_r < s_q; a tie counts one half
  (P3's l_rank divided by the number of pairs);
- average precision: the mean over r in Y of (relevant labels with s >= s_r) / (labels with
  s >= s_r), which is scikit-learn's label-ranking average precision;
- NDCG@5 with binary relevance and the discount 1 / log2(1 + position).

In one-error and NDCG, the label with the lowest index wins a tie. A row with no relevant label, or
with only relevant labels, has no pair to rank: all five measures leave it out, and
``Measures.rows`` is the number of rows counted. Micro-F1 counts every row.

All measures follow from comparing each relevant score with the scores of its row. A chunk needs
(relevant labels in the chunk) x K booleans and no sorting.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Scores = npt.NDArray[np.floating]
CUTOFF = 5
BLOCK = 500
"""Rows compared at a time, independent of the chunk size of the caller."""

_BINS = 1 << 20


@dataclass(frozen=True)
class Measures:
    """Means over ``rows`` rows with a pair to rank; lower is better for the first three."""

    one_error: float
    any_mistake: float
    ranking_loss: float
    average_precision: float
    ndcg: float
    rows: int

    def beats(self, other: Measures) -> list[str]:
        """Names of the measures on which this one is strictly better than ``other``."""
        names = ["one_error", "any_mistake", "ranking_loss"]
        better = [name for name in names if getattr(self, name) < getattr(other, name)]
        names = ["average_precision", "ndcg"]
        return better + [name for name in names if getattr(self, name) > getattr(other, name)]

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


class Progressive:
    """Accumulate the measures over the chunks of a stream.

    Examples
    --------
    >>> total = Progressive()
    >>> total.add(np.array([[3.0, 1.0, 2.0]]), sp.csr_matrix([[0, 0, 1]]))
    >>> total.result().average_precision
    0.5
    """

    def __init__(self) -> None:
        self._sums = np.zeros(5)
        self._rows = 0

    def add(self, scores: Scores, Y: sp.csr_matrix) -> None:
        """Add a chunk: scores (n, K) and the relevant labels as an (n, K) indicator."""
        scores = np.asarray(scores)
        if scores.shape != Y.shape:
            raise ValueError(f"scores have shape {scores.shape}, but Y has shape {Y.shape}")
        if not np.isfinite(scores).all():
            raise ValueError("scores must be finite; some are NaN or infinite")
        for start in range(0, scores.shape[0], BLOCK):
            rows = slice(start, start + BLOCK)
            relevant = np.asarray(Y[rows].toarray()) != 0
            size = relevant.sum(axis=1)
            kept = (size > 0) & (size < relevant.shape[1])
            if kept.any():
                self._sums += _block(scores[rows][kept], relevant[kept])
                self._rows += int(kept.sum())

    def result(self) -> Measures:
        """The means over all rows added; ValueError if no row has a pair to rank."""
        if self._rows == 0:
            raise ValueError("no row has both a relevant and an irrelevant label")
        mean = self._sums / self._rows
        one, any_, loss, precision, ndcg = (float(value) for value in mean)
        return Measures(one, any_, loss, precision, ndcg, self._rows)


def _block(scores: Scores, relevant: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Sums of the five measures; every row must have relevant and irrelevant labels."""
    n, K = relevant.shape
    row, label = np.nonzero(relevant)
    own = scores[row, label][:, None]
    against = scores[row]
    above = against > own
    tied = against == own
    inside = relevant[row]
    above_all = above.sum(axis=1)
    above_in = (above & inside).sum(axis=1)
    tied_all = tied.sum(axis=1)
    tied_in = (tied & inside).sum(axis=1)

    def per_row(values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        return np.bincount(row, weights=values, minlength=n).astype(np.float64)

    size = relevant.sum(axis=1)
    misplaced = per_row((above_all - above_in) + 0.5 * (tied_all - tied_in))
    precision = per_row((above_in + tied_in) / (above_all + tied_all))

    position = above_all + (tied & (np.arange(K) < label[:, None])).sum(axis=1)
    discount = 1.0 / np.log2(np.arange(2, CUTOFF + 2))
    gain = np.where(position < CUTOFF, discount[np.minimum(position, CUTOFF - 1)], 0.0)
    ideal = np.cumsum(discount)[np.minimum(size, CUTOFF) - 1]
    return np.array(
        [
            n - np.count_nonzero(position == 0),
            np.count_nonzero(misplaced),
            (misplaced / (size * (K - size))).sum(),
            (precision / size).sum(),
            (per_row(gain) / ideal).sum(),
        ]
    )


@dataclass
class F1Counts:
    """Micro-F1 of 0/1 predictions, over all rows and labels: 2 tp / (predicted + relevant)."""

    hits: int = 0
    predicted: int = 0
    relevant: int = 0

    def add(self, predictions: npt.NDArray[np.generic] | sp.csr_matrix, Y: sp.csr_matrix) -> None:
        """Add a chunk of predictions: an (n, K) indicator, dense or sparse."""
        if predictions.shape != Y.shape:
            raise ValueError(
                f"predictions have shape {predictions.shape}, but Y has shape {Y.shape}"
            )
        chosen = sp.csr_matrix(predictions).astype(bool)
        relevant = Y.astype(bool)
        self.hits += int(chosen.multiply(relevant).count_nonzero())
        self.predicted += int(chosen.count_nonzero())
        self.relevant += int(relevant.count_nonzero())

    def result(self) -> float:
        return 2.0 * self.hits / max(1, self.predicted + self.relevant)


class BestThreshold:
    """Micro-F1 of the best constant threshold on progressive scores, chosen in hindsight.

    Scores are counted in 2^20 bins by the leading bits of their float32 representation. Memory does
    not grow with the stream, and thresholds have a relative resolution of about 1/2000.
    """

    def __init__(self) -> None:
        self._relevant = np.zeros(_BINS, dtype=np.int64)
        self._all = np.zeros(_BINS, dtype=np.int64)

    def add(self, scores: Scores, Y: sp.csr_matrix) -> None:
        """Add a chunk: scores (n, K) and the relevant labels as an (n, K) indicator."""
        bins = _ordered_bins(scores)
        row, label = Y.nonzero()
        self._all += np.bincount(bins.ravel(), minlength=_BINS)
        self._relevant += np.bincount(bins[row, label], minlength=_BINS)

    def result(self) -> float:
        hits = np.cumsum(self._relevant[::-1])
        predicted = np.cumsum(self._all[::-1])
        return float(np.max(2.0 * hits / np.maximum(1, predicted + hits[-1])))


def _ordered_bins(scores: Scores) -> npt.NDArray[np.int64]:
    """The leading 20 bits of each score, mapped so that larger scores get larger bins."""
    bits = np.asarray(scores, dtype=np.float32).view(np.uint32).astype(np.int64)
    ordered = np.where(bits >> 31, 0xFFFFFFFF - bits, bits + 0x80000000)
    return ordered >> 12
