r"""How good rankings by grades are.

A document of grade g gains :math:`2^g - 1`, which the place p pays by :math:`1 / \log_2(1 + p)`.
NDCG is the sum over the places (up to k) divided by the largest that it could be. Documents with
equal scores get the mean over the orders they could be in, as in scikit-learn. A query without a
relevant document has nothing to measure: NaN.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["mean_ndcg", "ndcg"]


def ndcg(scores: Any, grades: Any, k: int | None = None) -> float:
    """Return the NDCG of one query.

    Parameters
    ----------
    scores : array of shape (documents,)
        What they are ranked by, the highest first.
    grades : array of shape (documents,)
        How relevant they are, from 0 on.
    k : int, optional
        How many places count; all of them by default.

    Examples
    --------
    >>> from tagalong.evaluate import ndcg
    >>> round(ndcg([0.9, 0.5, 0.1], [0, 2, 1], k=2), 3)
    0.521
    """
    scores, grades = np.asarray(scores, dtype=np.float64), np.asarray(grades, dtype=np.float64)
    if scores.shape != grades.shape or scores.ndim != 1:
        raise ValueError(
            f"scores and grades must be as many, got shapes {scores.shape} and {grades.shape}"
        )
    gains: npt.NDArray[np.float64] = np.exp2(grades) - 1
    pays = 1 / np.log2(np.arange(2, len(scores) + 2))
    if k is not None:
        pays[k:] = 0.0
    ideal = float(np.sort(gains)[::-1] @ pays)
    if ideal == 0:
        return float("nan")
    _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    paid = np.concatenate([[0.0], np.cumsum(pays)])
    ends = np.cumsum(sizes)
    means = np.bincount(group.ravel(), weights=gains) / sizes
    return float(means @ (paid[ends] - paid[ends - sizes]) / ideal)


def mean_ndcg(scores: Any, grades: Any, group: Any, k: int | None = None) -> float:
    """Return the mean NDCG of queries, those without relevant documents left out.

    Parameters
    ----------
    scores : array of shape (documents,)
        Of all queries, one after the other.
    grades : array of shape (documents,)
        As many.
    group : sequence of int
        How many documents each query has.
    k : int, optional
        How many places count; all of them by default.
    """
    scores, grades = np.asarray(scores), np.asarray(grades)
    ends = np.cumsum(group)
    if len(ends) == 0 or ends[-1] != len(scores):
        raise ValueError(
            f"group must have the sizes of queries with {len(scores)} documents in all"
        )
    parts = zip(np.split(scores, ends[:-1]), np.split(grades, ends[:-1]), strict=True)
    found = np.array([ndcg(one, other, k) for one, other in parts])
    return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")
