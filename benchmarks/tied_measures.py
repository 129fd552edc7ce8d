"""Measures of rankings with many ties, where the treatment of ties decides.

Vowpal Wabbit clips its scores, so many labels of a row share the highest or the lowest score. Each
measure is computed in two ways. Strict: as in scikit-learn, where a tie between a relevant and an
irrelevant label is an error. Even: the mean over all orders of the tied labels. With the harmonic
numbers H, a relevant label with a labels above it, a+ of them relevant, in a group of t tied labels
with t+ relevant ones, has an even precision of

    c + (a+ + 1 - c (a + 1)) (H(a + t) - H(a)) / t,    where c = (t+ - 1) / (t - 1) or 0 if t = 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.measures import BLOCK, Scores


@dataclass(frozen=True)
class Ranking:
    """Means over the rows with a pair to rank."""

    average_precision: float
    one_error: float
    ranking_loss: float

    def kinder(self, other: Ranking) -> Ranking:
        """The better of two treatments, for each measure."""
        return Ranking(
            max(self.average_precision, other.average_precision),
            min(self.one_error, other.one_error),
            min(self.ranking_loss, other.ranking_loss),
        )


@dataclass(frozen=True)
class TiedRanking:
    """The measures with ties counted against the ranking, and as the mean over all orders."""

    strict: Ranking
    even: Ranking

    @property
    def kinder(self) -> Ranking:
        return self.strict.kinder(self.even)


def tied_ranking(chunks: Iterable[Scores], Y: sp.csr_matrix) -> TiedRanking:
    """The measures of a stream whose scores arrive in chunks of rows."""
    sums, rows, start = np.zeros((2, 3)), 0, 0
    for chunk in chunks:
        for scores in np.split(chunk, range(BLOCK, len(chunk), BLOCK)):
            relevant = Y[start : start + len(scores)].toarray() != 0
            start += len(scores)
            size = relevant.sum(axis=1)
            kept = (size > 0) & (size < relevant.shape[1])
            sums += _sums(scores[kept], relevant[kept])
            rows += int(kept.sum())
    if start != Y.shape[0]:
        raise ValueError(f"scores have {start} rows, but Y has {Y.shape[0]}")
    strict, even = (sums / max(1, rows)).tolist()
    return TiedRanking(Ranking(*strict), Ranking(*even))


def _sums(scores: Scores, relevant: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Sums over rows: strict and even average precision, one-error and ranking loss."""
    K = relevant.shape[1]
    row, label = np.nonzero(relevant)
    own = scores[row, label][:, None]
    inside = relevant[row]
    above, tied = scores[row] > own, scores[row] == own
    above_all, above_in = above.sum(axis=1), (above & inside).sum(axis=1)
    tied_all, tied_in = tied.sum(axis=1), (tied & inside).sum(axis=1)
    size = relevant.sum(axis=1)

    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, K + 1))])
    chance = (tied_in - 1) / np.maximum(tied_all - 1, 1)
    reciprocal = (harmonic[above_all + tied_all] - harmonic[above_all]) / tied_all
    precisions = (
        (above_in + tied_in) / (above_all + tied_all),
        chance + (above_in + 1 - chance * (above_all + 1)) * reciprocal,
    )
    best = scores == scores.max(axis=1, keepdims=True, initial=-np.inf)
    errors = (best & ~relevant).any(axis=1), (best & ~relevant).sum(axis=1) / best.sum(axis=1)
    wrong_above, wrong_tied = above_all - above_in, tied_all - tied_in
    pairs = (size * (K - size))[row]
    return np.array(
        [
            [(precision / size[row]).sum(), error.sum(), ((wrong_above + t) / pairs).sum()]
            for precision, error, t in zip(
                precisions, errors, (wrong_tied, 0.5 * wrong_tied), strict=True
            )
        ]
    )
