"""Predtron for problems with labels: classes, ordinal levels, sets and rankings of labels."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.learning import model_files
from tagalong.learning.batches import labels_may_grow
from tagalong.learning.estimators import restored_on_error
from tagalong.learning.input_types import Classes, MatrixLike, SampleWeight, TargetsLike
from tagalong.learning.labels import Labels, Targets
from tagalong.online.cutoff_ranker import CutoffRanker
from tagalong.online.label_model import Settings
from tagalong.online.native import NativePredtron
from tagalong.online.predtron.base_learner import PredtronBase, header_with_problems, weighted_mean
from tagalong.online.predtron.python_engine import PythonEngine, new_core
from tagalong.online.predtron.rejection import confidences, is_rejected
from tagalong.online.predtron.unsupported_calls import UNSUPPORTED_CALLS
from tagalong.online.ranker import Example
from tagalong.online.weights import coef_matrix, intercept
from tagalong.problems.binary import Binary
from tagalong.problems.multiclass import Multiclass
from tagalong.problems.ordinal import Ordinal
from tagalong.problems.registry import as_problem
from tagalong.problems.reject import REJECT

__all__ = ["LabelPredtron"]

ONE_CLASS_PER_ROW = (Binary, Multiclass, Ordinal)


class LabelPredtron(PredtronBase, CutoffRanker):
    """Learns problems whose predictions are labels. See `Predtron`."""

    _native: NativePredtron | PythonEngine

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the recent share of relevant labels among labels with such scores.

        Parameters
        ----------
        scores : array of shape (K,)
            Scores as returned by ``score_one``.
        """
        if not self.is_started:
            return np.zeros(len(scores))
        return self._native.probabilities(scores)

    def decision_function(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K); for two classes one score per row, (rows,).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores, _ = self._scores(X)
        if not self._single or scores.shape[1] != 2:
            return scores
        one = self._has_one_score()
        return np.asarray(scores[:, 1] if one else scores[:, 1] - scores[:, 0])

    def predict(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the class or REJECT if targets had one label per row, otherwise an indicator.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        problem = self.current_problem
        if not isinstance(problem, ONE_CLASS_PER_ROW):
            return super().predict(X)
        scores, _ = self._scores(X)
        best = scores.argmax(axis=1)  # two classes, one score: a score of 0 means the first class
        rejected = np.zeros(len(scores), dtype=bool)
        if self._rejects():
            rejected = is_rejected(problem, scores, best, confidences(self._native, scores))
        if not self._single:
            indicator = np.zeros(scores.shape, dtype=np.int64)
            indicator[np.arange(len(indicator)), best] = ~rejected
            return indicator
        found = self.classes_[best]
        if self._rejects():
            found = found.astype(object)
            found[rejected] = REJECT
        return np.asarray(found)

    def confidence(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return how often predictions with such scores were right recently, (rows,).

        The counts cover the rounds so far, with the scores before each round. Only problems with
        one class per row have a confidence. `tagalong.evaluate.coverage_curve` takes it as input.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        if not isinstance(self.current_problem, ONE_CLASS_PER_ROW):
            raise ValueError(UNSUPPORTED_CALLS["confidence"].format(given=self.problem))
        return confidences(self._native, self._scores(X)[0])

    def score(self, X: MatrixLike, y: Any, sample_weight: SampleWeight = None) -> float:
        """Return the accuracy of a classifier, otherwise the label-ranking average precision.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : targets
            Labels of unknown relevance count as irrelevant here, and REJECT as wrong.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.
        """
        if not self.is_started or not self._single or not self._rejects():
            return super().score(X, y, sample_weight)
        found = zip(self.predict(X), y, strict=True)
        right = [predicted is not REJECT and predicted == target for predicted, target in found]
        return weighted_mean(right, sample_weight)

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights used for predictions, (K, n); (1, n) for two classes."""
        features, weights = self._coefficients()
        if isinstance(self.current_problem, Binary) and weights.shape[1] == 2:
            one = self._has_one_score()
            weights = weights[:, 1:] if one else weights[:, 1:] - weights[:, :1]
        return coef_matrix(features, weights, self._feature_counts())

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        """The contribution of the constant feature to the scores, (K,); (1,) for two classes."""
        self._coefficients()  # raises an error if there are no weights
        found = intercept(self._native.weights(), self._settings["constant"])
        if isinstance(self.current_problem, Binary) and len(found) == 2:
            return found[1:] if self._has_one_score() else found[1:] - found[:1]
        return found

    def check_example(self, x: Example, new: Sequence[Hashable]) -> None:
        """Raise ValueError if an example with new labels cannot be learnt.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        new : sequence of labels
            The labels of the example that the learner does not know yet.
        """
        # A caller's `restored_on_error` covers the estimator, but not the learner behind it.
        with restored_on_error(self):
            super().check_example(x, new)

    # Properties of the problem.

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades, which have an order: with an ordinal problem."""
        return isinstance(self.current_problem, Ordinal)

    def _has_one_score(self) -> bool:
        """Whether two classes share one score, which is negative for the first class."""
        problem = self.current_problem
        return isinstance(problem, Binary) and problem.dimension == 1

    def _rejects(self) -> bool:
        return bool(getattr(self.current_problem, "reject", None))

    def _levels(self, growing: bool) -> Labels | None:
        """Return the levels of an ordinal problem that declares them, otherwise None."""
        problem = as_problem(self.problem)
        if not isinstance(problem, Ordinal):
            return None
        if problem.levels is not None:
            return Labels(problem.levels)
        if growing:
            raise ValueError(
                "labels that appear at any time have no order: declare the levels with "
                "problem=Ordinal(levels)"
            )
        return None

    # Hooks of the label rankers.

    def _make_native(self, settings: Settings) -> NativePredtron | PythonEngine:
        known = settings["problem"].is_known_to_the_core
        if known and settings["norm"] not in ("trace", "custom"):
            return new_core(settings)
        return PythonEngine(settings)

    def _initial_labels(self, Y: TargetsLike, classes: Classes, fitting: bool) -> Labels:
        return self._levels(labels_may_grow(classes)) or super()._initial_labels(
            Y, classes, fitting
        )

    def _growing_labels(self) -> Labels:
        return self._levels(growing=True) or super()._growing_labels()

    def _check_targets(self, labels: Labels, targets: Targets) -> None:
        problem = as_problem(self.problem)
        if not isinstance(problem, ONE_CLASS_PER_ROW):
            return
        if isinstance(problem, Ordinal) and targets.new:
            raise ValueError(
                f"Y: label {targets.new[0]!r} is not one of the levels {labels.names!r}"
            )
        counts = np.diff(targets.relevant.indptr)
        unknown_labels = np.diff(targets.unknown.indptr)
        wrong = (counts > 1) | ((counts == 0) & (unknown_labels == 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"Y: row {row} has {counts[row]} labels; {type(problem).__name__} takes one label "
                "per row"
            )
        found = len(labels) + len(targets.new)
        if isinstance(problem, Binary) and found > 2:
            raise ValueError(
                f"Only binary classification is supported by problem {problem!r}: the type of the "
                f"target is multiclass, with {found} classes"
            )

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
        named = self._header_problems()
        header, arrays = super().to_parts()
        return {**header, **named}, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Rebuild a learner from the output of ``to_parts``.

        Parameters
        ----------
        header : dict
            The JSON part of the model file.
        arrays : dict
            The arrays of the model file, by name.
        """
        return super().from_parts(header_with_problems(header), arrays)
