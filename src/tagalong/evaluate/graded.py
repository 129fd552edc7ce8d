r"""NDCG of rankings of graded documents.

A document of grade g has the gain :math:`2^g - 1`; position p has the discount
:math:`1 / \log_2(1 + p)`. DCG is the sum of gain times discount over the positions up to k, and
NDCG is DCG divided by its largest possible value. Documents with equal scores get the mean over
all their orders, as in scikit-learn. The NDCG of a query without relevant documents is NaN.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["mean_ndcg", "ndcg"]


def ndcg(scores: npt.ArrayLike, grades: npt.ArrayLike, k: int | None = None) -> float:
    """Return the NDCG of one query.

    Parameters
    ----------
    scores : array of shape (documents,)
        Scores of the documents; higher scores rank first.
    grades : array of shape (documents,)
        Grades of the documents, at least 0.
    k : int, optional
        Number of positions that count; all by default.

    Examples
    --------
    >>> from tagalong.evaluate import ndcg
    >>> round(ndcg([0.9, 0.5, 0.1], [0, 2, 1], k=2), 3)
    0.521
    """
    scores = np.asarray(scores, dtype=np.float64)
    grades = np.asarray(grades, dtype=np.float64)
    if scores.shape != grades.shape or scores.ndim != 1:
        raise ValueError(
            "scores and grades must be vectors of the same length, got shapes "
            f"{scores.shape} and {grades.shape}"
        )
    gains: npt.NDArray[np.float64] = np.exp2(grades) - 1
    discounts = 1 / np.log2(np.arange(2, len(scores) + 2))
    if k is not None:
        discounts[k:] = 0.0
    ideal = float(np.sort(gains)[::-1] @ discounts)
    if ideal == 0:
        return float("nan")
    _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    cumulated = np.concatenate([[0.0], np.cumsum(discounts)])
    ends = np.cumsum(sizes)
    means = np.bincount(group.ravel(), weights=gains) / sizes
    return float(means @ (cumulated[ends] - cumulated[ends - sizes]) / ideal)


def mean_ndcg(
    scores: npt.ArrayLike, grades: npt.ArrayLike, group: npt.ArrayLike, k: int | None = None
) -> float:
    """Return the mean NDCG of the queries that have relevant documents.

    Parameters
    ----------
    scores : array of shape (documents,)
        Scores of the documents of all queries, one query after the other.
    grades : array of shape (documents,)
        Grades of the same documents.
    group : sequence of int
        Number of documents of each query.
    k : int, optional
        Number of positions that count; all by default.
    """
    scores, grades = np.asarray(scores), np.asarray(grades)
    ends = np.cumsum(group)
    if len(ends) == 0 or ends[-1] != len(scores):
        raise ValueError(
            f"group must have sizes of queries that add up to the {len(scores)} documents"
        )
    parts = zip(np.split(scores, ends[:-1]), np.split(grades, ends[:-1]), strict=True)
    found = np.array([ndcg(query_scores, query_grades, k) for query_scores, query_grades in parts])
    return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")
