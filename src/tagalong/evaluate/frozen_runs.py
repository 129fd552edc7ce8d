"""Evaluation of a model without learning."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.evaluate.inputs import plain_names, sliceable
from tagalong.evaluate.progress import Progress
from tagalong.evaluate.report import Report
from tagalong.evaluate.runs import CHUNK
from tagalong.learning.input_types import MatrixLike, TargetsLike
from tagalong.learning.labels import LabelRows, Labels
from tagalong.learning.rounds import Rounds

__all__ = ["frozen"]


def frozen(model: Any, X: MatrixLike, Y: TargetsLike, *, k: int = 5, window: int = 1000) -> Report:
    """Measure a model on rows, without learning from them.

    Parameters
    ----------
    model : estimator
        A model with ``decision_function`` and ``classes_``. Labels that score at least
        ``cutoff_``, or 0 if the model has none, count as chosen. Of two classes, the one with
        the higher score is chosen.
    X : array, sparse matrix or DataFrame of shape (rows, n)
        Examples.
    Y : targets
        As for ``partial_fit``. Labels that the model does not know count as ranked last.
    k : int, default 5
        Number of top-ranked labels that precision at k and NDCG at k evaluate.
    window : int, default 1000
        Number of most recent rows that the recent measures cover.

    Returns
    -------
    Report
        The measures. There is no certificate, as that refers to the rows that were learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong import LabelRanker
    >>> from tagalong.evaluate import frozen
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 8))
    >>> Y = X[:, :4] > 0.5
    >>> model = LabelRanker().fit(X[:300], Y[:300])
    >>> frozen(model, X[300:], Y[300:]).overall.one_error < 0.1
    True
    """
    matrix = sliceable(X)
    labels = Labels(plain_names(model.classes_), grows=True)
    known = len(labels)
    targets = labels.encode(Y, matrix.shape[0])
    labels.extend(targets.new)
    progress = Progress(k, window)
    progress.expect(matrix.shape[0])
    for start in range(0, matrix.shape[0], CHUNK):
        rows = slice(start, min(start + CHUNK, matrix.shape[0]))
        found, cutoff = _scores(model, matrix[rows])
        # -infinity means that a label does not exist; unknown labels exist in every row, so they
        # get the lowest finite score.
        scores = np.full((len(found), len(labels)), np.finfo(found.dtype).min, found.dtype)
        scores[:, :known] = found
        progress.add_rounds(
            Rounds(
                scores,
                np.full(len(found), cutoff),
                _label_rows(targets.relevant, rows),
                _label_rows(targets.unknown, rows),
            )
        )
    grades = bool(getattr(model, "has_grades", False)) and len(labels) == known
    return progress.report(labels.names, frozen=True, grades=grades)


def _scores(model: Any, X: MatrixLike) -> tuple[npt.NDArray[Any], float]:
    """Return the scores (rows, K) and the cut-off from which a label is chosen."""
    found = np.asarray(model.decision_function(X))
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float64)
    if found.ndim == 1:  # two classes: the difference of their scores
        return np.column_stack([-found, found]), 0.0
    return found, float(getattr(model, "cutoff_", 0.0))


def _label_rows(labels: LabelRows, rows: slice) -> LabelRows:
    indptr = labels.indptr[rows.start : rows.stop + 1]
    return LabelRows(indptr - indptr[0], labels.indices[indptr[0] : indptr[-1]])
