"""Predtron's rounds in Python, for problems that the native core lacks and for dense norms.

The problem decodes in Python. The native core computes scores, counts and the step size. The
weights of the trace norm and of custom norms are dense and stored here.
"""

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong.fork_locks import fork_safe_lock
from tagalong.learning.input_types import Indices, Values
from tagalong.learning.update_rules import PREDTRON_UPDATES
from tagalong.online.native import NativePredtron, RankerWrapper, new_native
from tagalong.online.predtron.dense_weights import (
    DenseWeights,
    Link,
    WeightState,
    link_exponent,
    schatten_weights,
)
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.protocol import Problem

__all__ = ["PythonEngine", "new_core", "problem_rule"]

LARGEST_COLUMN = 2**31 - 1
LARGEST_WEIGHT = 1e154  # in a model file: its square does not overflow
# A ranking whose position function is Python code: the core only uses its smallest loss.
_PYTHON_RANKING = {"kind": "ranking", "reciprocal": False, "exponent": 1.0}

Vector = npt.NDArray[np.float64]


def problem_rule(problem: Any) -> dict[str, Any]:
    """Return the description of a problem for the native core."""
    if not isinstance(problem, BuiltinProblem):
        return {"kind": "custom", "least_loss": float(problem.least_loss)}
    if (rule := problem.rule()) is not None:
        return rule
    ranking: Any = problem
    return {
        **_PYTHON_RANKING,
        "precision": ranking.loss_name == "precision",
        "depth": ranking.k or 0,
        "ties_by_score": ranking.ties == "score",
    }


def new_core(settings: dict[str, Any]) -> NativePredtron:
    """Return a new native learner."""
    problem = core.PredtronProblem(**problem_rule(settings["problem"]))
    return new_native(
        (core.Predtron32, core.Predtron64), {**settings, "problem": problem}, ("geometry",)
    )


class PythonEngine(RankerWrapper[NativePredtron]):
    """An engine with the interface of a native learner, whose problem is a Python object.

    Parameters
    ----------
    settings : dict
        The settings of the native learner, including the problem.
    """

    def __init__(self, settings: dict[str, Any]):
        super().__init__(new_core(settings))
        self._settings = settings
        self._problem: Problem = settings["problem"]
        self._lock = fork_safe_lock()  # a round is several calls to the native core
        self._dense: DenseWeights | None = None
        if settings["norm"] in ("trace", "custom"):
            features = settings["n_features"] + (settings["constant"] != 0)
            self._dense = DenseWeights(features, settings["average"])
            self._dense.grow_to(settings["dimension"])

    @property
    def bytes(self) -> int:
        """The memory used by the weights, in bytes."""
        return self._core.bytes + (self._dense.nbytes if self._dense is not None else 0)

    def add_labels(self, count: int) -> None:
        """Add labels without weights."""
        self._core.add_labels(count)
        builtin = isinstance(self._problem, BuiltinProblem)
        if builtin and self._core.labels:
            self._problem = self._problem.sized(self._core.labels)  # type: ignore[attr-defined]
        if self._dense is not None and builtin:
            self._dense.grow_to(self._problem.dimension or self._core.labels)

    # Rows with targets of any type.

    def learn_row(self, x: core.Matrix, row: int, y: object, weight: float) -> None:
        """Learn one row and its target.

        Parameters
        ----------
        x : Matrix
            Rows.
        row : int
            The number of the row.
        y : object
            The target, in the form that the problem defines.
        weight : float
            The weight of the row, above 0.
        """
        with self._lock:
            scores = self.raw_scores(x, row, predicting=False)
            self._step(x, row, scores, None, y, weight, self._problem)

    def raw_scores(self, x: core.Matrix, row: int, predicting: bool) -> Vector:
        """Return the scores of a row, in the form that the problem decodes.

        Parameters
        ----------
        x : Matrix
            Rows.
        row : int
            The number of the row.
        predicting : bool
            Whether to use the averaged weights, if there are any.
        """
        if self._dense is None:
            return self._core.raw_scores(x, row, predicting)
        return self._dense.score(self._core.finished(x, row), self._rounds if predicting else None)

    @property
    def _rounds(self) -> int:
        """The number of rounds since the start."""
        counts = self._core.certificate()
        return counts.rounds + counts.earlier

    def _radius(self, x: core.Matrix, row: int) -> float:
        """Return the norm of a row that the theory's step and bound depend on."""
        norm = self._settings["geometry"]
        if isinstance(norm, str) or self._dense is None:
            return self._core.norm(x, row)
        features, values = self._core.finished(x, row)
        dense = np.zeros(self._dense.state.theta.shape[1])
        dense[features] = values
        radius = float(norm.radius(dense))
        if not 0 <= radius <= LARGEST_WEIGHT:
            raise ValueError(
                f"radius of the norm must return a number from 0 to {LARGEST_WEIGHT:g}, got "
                f"{radius!r}; tagalong.norms.check_norm tests a norm"
            )
        return radius

    def _link(self) -> Link:
        """Return the function from dual variables to weights."""
        norm = self._settings["geometry"]
        if not isinstance(norm, str):
            weights: Link = norm.weights
            return weights
        return partial(schatten_weights, s=link_exponent(self._core.certificate().dimension))

    def _step(
        self,
        x: core.Matrix,
        row: int,
        scores: Vector,
        known: npt.NDArray[np.int64] | None,
        y: object,
        weight: float,
        problem: Problem,
    ) -> None:
        """Learn a round from the scores of the ``known`` labels; None means all scores."""
        used = scores if known is None else scores[known]
        worst = getattr(problem, "worst_decode", None)
        predicted = problem.decode(used) if worst is None else worst(used, y)
        loss = float(problem.loss(predicted, y))
        size = self._core.labels or len(used)
        step = self._core.count(self._radius(x, row), loss, weight, size)
        if loss == 0:
            return
        by_loss = PREDTRON_UPDATES[self._settings["update"]].by_loss
        other = predicted if by_loss else problem.augmented_decode(used, y)
        correct = problem.represent(problem.correct(y, used))
        direction = step * (np.asarray(correct, np.float64) - problem.represent(other))
        if known is not None:
            spread = np.zeros(len(scores))
            spread[known] = direction
            direction = spread
        if self._dense is None:
            self._core.move(x, row, direction)
        elif direction.any():
            example = self._core.finished(x, row)
            self._dense.move(example, direction, self._link(), self._rounds - 1)

    # Rows with labels: the interface `NativeRanker`.

    def _label_scores(self, x: core.Matrix, row: int) -> npt.NDArray[Any]:
        """Return one score per label."""
        raw = self.raw_scores(x, row, predicting=True).astype(self._settings["dtype"])
        if len(raw) == 1 < self.labels:  # two classes that share one score
            return np.array([-raw[0], raw[0]])[: self.labels]
        return raw

    def _round(
        self,
        x: core.Matrix,
        row: int,
        relevant: npt.NDArray[Any],
        unknown: npt.NDArray[Any],
        weight: float,
        stands_for: float,
        places: core.PlaceArrays | None,
    ) -> npt.NDArray[Any]:
        """Learn a row; return the scores before learning, -infinity for labels new in this row."""
        given = np.concatenate([relevant, unknown])
        with self._lock:
            before = self.labels
            self.add_labels(max(0, int(given.max(initial=-1)) + 1 - before))
            found = self._label_scores(x, row)
            if weight > 0:
                self._core.observe_labels(
                    found,
                    before,
                    self._features_in(x, row),
                    relevant.tolist(),
                    unknown.tolist(),
                    stands_for,
                    places,
                    row,
                )
                self._learn_labels(x, row, relevant, unknown, weight)
        found = found.copy()
        found[before:] = -np.inf
        return found

    def _features_in(self, x: core.Matrix, row: int) -> int:
        """Return the number of features of a row, without the constant feature."""
        return int((self._core.finished(x, row)[0] >= 0).sum())

    def _learn_labels(
        self,
        x: core.Matrix,
        row: int,
        relevant: npt.NDArray[Any],
        unknown: npt.NDArray[Any],
        weight: float,
    ) -> None:
        problem: Any = self._problem
        scores = self.raw_scores(x, row, predicting=False)
        if problem.rule() is not None and problem.rule()["kind"] in (
            "binary",
            "classes",
            "ordinal",
        ):
            if len(unknown) or len(relevant) != 1:
                raise ValueError(
                    f"{type(problem).__name__} takes one label per row and no unknown labels, got "
                    f"{len(relevant)} labels and {len(unknown)} unknown ones"
                )
            self._step(x, row, scores, None, int(relevant[0]), weight, problem)
            return
        y = np.zeros(self.labels)
        y[relevant] = 1.0
        if len(unknown) == 0:
            self._step(x, row, scores, None, y, weight, problem)
            return
        known = np.setdiff1d(np.arange(self.labels), unknown)
        self._step(x, row, scores, known, y[known], weight, problem.sized(len(known)))

    def learn(
        self,
        x: core.Matrix,
        relevant: core.LabelRows,
        unknown: core.LabelRows,
        weights: npt.NDArray[np.float64] | None = None,
        scores: npt.NDArray[Any] | None = None,
        cutoffs: npt.NDArray[np.float64] | None = None,
        stands_for: float = 1.0,
        places: core.PlaceArrays | None = None,
    ) -> None:
        """Learn the rows; write scores, cut-off and places before each row, if arrays are given."""
        for row in range(x.shape[0]):
            if cutoffs is not None:
                cutoffs[row] = self._core.certificate().cutoff
            found = self._round(
                x,
                row,
                _labels_of(relevant, row),
                _labels_of(unknown, row),
                1.0 if weights is None else float(weights[row]),
                stands_for,
                places,
            )
            if scores is not None:
                scores[row, : len(found)] = found

    def predict_then_learn_one(
        self,
        indices: Indices,
        values: Values,
        relevant: list[int],
        unknown: list[int],
        weight: float,
        stands_for: float,
        places: core.PlaceArrays | None,
        /,
    ) -> tuple[npt.NDArray[Any], float]:
        """Learn one example; return the scores and the cut-off before learning."""
        x = self._one_row(indices, values)
        cutoff = self._core.certificate().cutoff
        given = [np.array(labels, dtype=np.int64) for labels in (relevant, unknown)]
        return self._round(x, 0, given[0], given[1], weight, stands_for, places), cutoff

    def _one_row(self, indices: Indices, values: Values) -> core.Matrix:
        self._core.score_one(indices, values)  # validates them
        columns = np.ascontiguousarray(indices, dtype=np.int64)
        if self._dense is not None and columns.max(initial=-1) >= self._settings["n_features"]:
            raise ValueError(
                f"feature index {columns.max()} must be below the {self._settings['n_features']} "
                f"features of the {self._settings['norm']} norm"
            )
        ends = np.array([0, len(columns)], dtype=np.int64)
        data = np.ascontiguousarray(values, dtype=np.float64)
        return core.Matrix.csr(data, columns, ends, LARGEST_COLUMN)

    def score_one(self, indices: Indices, values: Values, /) -> tuple[npt.NDArray[Any], float]:
        """Return the scores of one example and the cut-off."""
        x = self._one_row(indices, values)
        return self._label_scores(x, 0), self._core.certificate().cutoff

    def score(self, x: core.Matrix) -> tuple[npt.NDArray[Any], float]:
        """Return scores (rows, labels) and the cut-off."""
        out = np.zeros((x.shape[0], self.labels), dtype=self._settings["dtype"])
        for row in range(x.shape[0]):
            out[row] = self._label_scores(x, row)
        return out, self._core.certificate().cutoff

    def rank(self, x: core.Matrix, k: int) -> npt.NDArray[np.int32]:
        """Return the k best labels of each row; all labels if k < 0."""
        order = np.argsort(-self.score(x)[0], axis=1, kind="stable").astype(np.int32)
        return order if k < 0 else order[:, :k]

    def rank_one(self, indices: Indices, values: Values, k: int, /) -> list[int]:
        """Return the k best labels of one example."""
        scores = self.score_one(indices, values)[0]
        order: list[int] = np.argsort(-scores, kind="stable").tolist()
        return order if k < 0 else order[:k]

    def judge(
        self,
        x: core.Matrix,
        k: int,
        count: npt.NDArray[np.int64] | None = None,
        last: npt.NDArray[np.int64] | None = None,
    ) -> core.PlaceArrays:
        """Return the first k places of each row; all labels if k < 0."""
        out = core.PlaceArrays(x.shape[0], self.labels if k < 0 else min(k, self.labels))
        for row in range(x.shape[0]):
            scores = np.ascontiguousarray(self._label_scores(x, row))
            self._core.judge_scores(scores, self._features_in(x, row), out, row, count, last)
        return out

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the recent share of right targets among those with such scores."""
        return self._core.probabilities(scores)

    def explain_one(
        self, indices: Indices, values: Values, label: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return an example's features, their contributions to the label's score, and the score."""
        if self._dense is None:
            return self._core.explain_one(indices, values, label)
        features, numbers = self._core.finished(self._one_row(indices, values), 0)
        weights = self._dense.matrix(self._rounds)
        sign, at = (-1.0, 0) if len(weights) == 1 and label == 0 else (1.0, label)
        parts = sign * weights[min(at, len(weights) - 1), features] * numbers
        return features, parts, float(parts.sum())

    def select_labels(self, sources: list[list[int]]) -> None:
        """Replace the labels; ``sources`` lists, per new label, the old labels to sum."""
        with self._lock:
            super().select_labels(sources)
            self.add_labels(0)

    def certificate(self) -> core.PredtronCertificate:
        """Return the counts and the cut-off."""
        return self._core.certificate()

    def weights(self) -> core.FeatureWeights:
        """Return the weights used for predictions, (features, scores)."""
        if self._dense is None:
            return self._core.weights()
        constant = [-1] if self._settings["constant"] != 0 else []  # its column is the last one
        features = np.array([*range(self._settings["n_features"]), *constant], dtype=np.int32)
        weights = self._dense.matrix(self._rounds)
        if len(weights) == 1 < self.labels:
            weights = np.vstack([-weights, weights])
        return core.FeatureWeights(features, weights.T.copy())

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the learnt state as ``arrays`` and ``numbers``."""
        with self._lock:
            state = self._core.state()
            if self._dense is not None:
                dense = self._dense.state
                state["arrays"]["trace_theta"] = dense.theta.copy()
                state["arrays"]["trace_weights"] = dense.weights.copy()
                if self._settings["average"]:
                    state["arrays"]["trace_sums"] = dense.sums.copy()
                    state["numbers"]["summed_rounds"] = dense.summed_rounds
            return state

    def packed_state(self) -> dict[str, dict[str, Any]]:
        """Return the learnt state for files; nothing of it is packed."""
        return self.state()

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Restore a saved state into a new learner."""
        self._core.restore(state)
        self.add_labels(0)
        if self._dense is not None:
            self._restore_dense(state)

    def _restore_dense(self, state: dict[str, dict[str, Any]]) -> None:
        assert self._dense is not None
        averaged = self._settings["average"]
        names = ("trace_theta", "trace_weights", *(["trace_sums"] if averaged else ()))
        matrices = [state["arrays"][name] for name in names]
        self._dense.grow_to(len(matrices[0]))
        shape = self._dense.state.theta.shape
        for numbers in matrices:
            if numbers.shape != shape:
                raise ValueError(f"its weights have shape {numbers.shape}, not {shape}")
            if numbers.dtype != np.float64 or not (np.abs(numbers) <= LARGEST_WEIGHT).all():
                raise ValueError(f"its weights must be numbers up to {LARGEST_WEIGHT:g}")
        summed = state["numbers"]["summed_rounds"] if averaged else 0
        if not isinstance(summed, int) or not 0 <= summed <= self._rounds:
            raise ValueError(f"its averages are over {summed!r} of {self._rounds} rounds")
        theta, weights, *sums = (numbers.copy() for numbers in matrices)
        self._dense.state = WeightState(
            theta, weights, sums[0] if sums else np.zeros(shape), summed
        )


def _labels_of(labels: core.LabelRows, row: int) -> npt.NDArray[np.int32]:
    return labels.indices[labels.indptr[row] : labels.indptr[row + 1]]
