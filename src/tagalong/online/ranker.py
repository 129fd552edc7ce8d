"""What all rankers of labels share: examples and targets in, scores and ranks out, files."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.batches import checked_weights, labels_of, means_growing
from tagalong.learning.estimators import (
    columns_of,
    put_back,
    restore_columns,
    restored_on_error,
    validated,
)
from tagalong.learning.examples import FeatureNames, Pair, as_matrix, as_pairs, comes_by_name
from tagalong.learning.fitted import NativeModel
from tagalong.learning.labels import Labels, Targets, label_array, label_list
from tagalong.learning.quality import accuracy, average_precision
from tagalong.learning.rounds import Round, Rounds
from tagalong.online.native import NativeRanker

__all__ = ["OnlineRanker"]

Example: TypeAlias = tuple[Any, Any] | Mapping[Any, float]
Settings: TypeAlias = dict[str, Any]

_NO_SCORES: npt.NDArray[Any] = np.empty(0)
_UNWATCHED = Round(_NO_SCORES, 0.0, [], [])


class OnlineRanker(ClassifierMixin, NativeModel):
    """Base of the learners that score labels: scikit-learn on the outside, native within.

    A learner states its parameters, turns them into settings (``_checked_settings``) and makes
    a native learner from settings (``_make_native``). This class checks what comes in, keeps the
    names of labels and features, and reads and writes files. A batch is checked whole before
    any of it is learnt, and a failed call leaves the learner as it was.
    """

    _native: NativeRanker
    _restarted: str  # why the certificate does not begin with the first round
    n_features: int | None

    def _checked_settings(self) -> Settings:
        """Return the parameters as the native learner wants them; ValueError for a bad one."""
        raise NotImplementedError

    def _largest_weight(self, settings: Settings) -> float:
        """Return the largest sample weight that the arithmetic can bear."""
        raise NotImplementedError

    def _make_native(self, settings: Settings) -> NativeRanker:
        """Return a new native learner without labels."""
        raise NotImplementedError

    def _check_start(self, settings: Settings, labels: int, features: int) -> None:
        """Raise ValueError if nothing can begin with so many labels and features (0: unknown)."""

    def _check_batch(
        self, native: NativeRanker, matrix: core.Matrix, labels: Labels, targets: Targets
    ) -> None:
        """Raise ValueError if some row of a batch cannot be learnt; changes nothing."""
        native.check(matrix)

    def _check_example(self, x: Example, new: Sequence[Hashable]) -> None:
        """Raise ValueError if an example that brings new labels cannot be learnt."""
        (_, values), _ = self._pairs(x, learning=True)
        self._native.check(as_matrix(values.astype(np.float64).reshape(1, -1)))

    def _relabel(self, changes: Mapping[Hashable, Hashable | None]) -> None:
        """Prepare for other names of labels, None for those forgotten; ValueError to refuse."""

    def _own_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return names of features that are the learner's own; None if they are the examples'."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in the given order, ``passes`` times.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each round; a row of weight 0 is passed over.
        """
        settings = self._checked_settings()
        passes = parameters.integer(getattr(self, "passes", 1), "passes", 1)
        with restored_on_error(self):
            X = self._validate(X, reset=True)
            labels = self._first_labels(y, None, fitting=True)
            targets = labels.encode(y, X.shape[0])
            self._check_targets(labels, targets)
            weights = checked_weights(sample_weight, X, self._largest_weight(settings))
            if weights is not None and not weights.any():
                raise ValueError("sample_weight must have at least one positive number, got zeros")
            matrix = as_matrix(X)
            self._start(settings, labels, targets.kind == "single", matrix, targets)
        for _ in range(passes):
            self._learn(matrix, targets, weights, None)
        return self

    def partial_fit(self, X: Any, Y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a batch, row by row. The whole batch is checked before any of it is learnt.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            All labels there will be, on the first call; or "grow" to let new labels appear at
            any time. May be left out if Y is an indicator, whose columns are then the labels.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each round; a row of weight 0 is passed over.
        """
        self._learn_batch(X, Y, classes, sample_weight, watched=False)
        return self

    def predict_then_learn(
        self, X: Any, Y: Any, classes: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[Any]:
        """Learn like ``partial_fit``, and return the scores each row had just before it was learnt.

        The honest way to measure an online learner, at the price of learning alone. With
        ``classes="grow"``, a label that did not exist yet when a row came scores -infinity.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            As for ``partial_fit``.
        sample_weight : array of shape (rows,), optional
            As for ``partial_fit``.

        Returns
        -------
        array of shape (rows, K)
            What ``decision_function`` would have said for each row at that moment.
        """
        return self.watch(X, Y, classes, sample_weight).scores

    def watch(self, X: Any, Y: Any, classes: Any = None, sample_weight: Any = None) -> Rounds:
        """Learn like ``partial_fit``, and return all that an observer of the rounds can know.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            As for ``partial_fit``.
        sample_weight : array of shape (rows,), optional
            As for ``partial_fit``.

        Returns
        -------
        Rounds
            Scores and cut-off before each round, and the numbers of its labels.
        """
        return self._learn_batch(X, Y, classes, sample_weight, watched=True)

    def learn_one(self, x: Example, y: Any, unknown: Collection[Hashable] = ()) -> Self:
        """Learn one example.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            Features are numbers from 0 to 2**31 - 1, or names. New ones may appear at any time.
        y : label or collection of labels
            The relevant ones. On a new ranker labels may appear at any time.
        unknown : collection of labels
            Labels whose relevance is not known; they take part in no pair.
        """
        self._learn_example(x, y, unknown, 1.0, watched=False)
        return self

    def watch_one(
        self, x: Example, y: Any, unknown: Collection[Hashable] = (), weight: float = 1.0
    ) -> Round:
        """Learn like ``learn_one``, and return all that an observer of the round can know.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            As for ``learn_one``.
        y : label or collection of labels
            The relevant ones.
        unknown : collection of labels
            Labels whose relevance is not known.
        weight : float
            Scales the round's budget C.

        Returns
        -------
        Round
            Scores and cut-off before the round, and the numbers of its labels.
        """
        if type(weight) is not float or weight != 1.0:  # which every learner can bear
            largest = self._largest_weight(self._current_settings())
            weight = parameters.positive(weight, "weight", largest)
        return self._learn_example(x, y, unknown, weight, watched=True)

    def _learn_example(
        self, x: Example, y: Any, unknown: Collection[Hashable], weight: float, watched: bool
    ) -> Round:
        before = dict(self.__dict__)  # `restored_on_error`, without what a context manager takes
        found = _UNWATCHED
        try:
            self._begin()
            pairs, new_names = self._pairs(x, learning=True)
            relevant, open_labels, new = self._labels.encode_one(y, unknown)
            if new:
                self._labels.extend(new)
            try:
                if watched:
                    scores, cutoff = self._native.predict_then_learn_one(
                        *pairs, relevant, open_labels, weight
                    )
                    found = Round(scores, cutoff, relevant, open_labels)
                else:
                    self._native.learn_one(*pairs, relevant, open_labels, weight)
            except BaseException:  # whatever a user's own features may raise
                self._labels.withdraw(len(self._labels) - self._native.labels)
                raise
            if new_names and self._names is not None:
                self._names.extend(new_names)
        except BaseException:
            put_back(self, before)
            raise
        return found

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Add labels, with no weights yet, that take part from the next round on.

        Parameters
        ----------
        labels : collection of labels
            Distinct from each other and from those there are.
        """
        labels = label_list(labels, "labels")
        with restored_on_error(self):
            if not self._started():
                self._start(self._checked_settings(), Labels(), single=False)
            self._labels.extend(labels)
            self._native.add_labels(len(labels))
        return self

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K).

        A classifier for two classes returns the difference of their scores, (rows,), as is usual
        in scikit-learn.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores, _ = self._scores(X)
        if self._single and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def rank(self, X: Any, k: int | None = None) -> npt.NDArray[Any]:
        """Return the k best labels of each row, or all of them, best first: (rows, k).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        k : int, optional
            How many; all of them by default.
        """
        matrix = self._checked_matrix(X)
        best = self._native.rank(matrix, _count(k))  # before classes_, which may grow meanwhile
        return np.asarray(self.classes_[best])

    def rank_one(self, x: Example, k: int | None = None) -> list[Any]:
        """Return the k best labels for one example, or all of them, best first.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            Features without weights yet say nothing.
        k : int, optional
            How many; all of them by default.
        """
        if not self._started():
            return []
        pairs, _ = self._pairs(x, learning=False)
        names = self._labels.names
        return [names[label] for label in self._native.rank_one(*pairs, _count(k))]

    def score_one(self, x: Example) -> tuple[npt.NDArray[Any], float]:
        """Return the scores of all labels for one example, and the cut-off.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            Features without weights yet say nothing.
        """
        if not self._started():
            return _NO_SCORES, np.inf
        pairs, _ = self._pairs(x, learning=False)
        return self._native.score_one(*pairs)

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return how often labels with such scores have been relevant lately.

        Parameters
        ----------
        scores : array of shape (K,)
            As ``score_one`` returns them.
        """
        if not self._started():
            return np.zeros(len(scores))
        return self._native.probabilities(scores)

    def explain_one(
        self, x: tuple[Any, Any], label: Hashable
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return what each feature adds to a label's score, and the score.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        label : hashable
            One of ``classes_``.

        Returns
        -------
        features : array of int
            The example's features, ascending; -1 is the constant feature.
        parts : array of float
            What each adds. Their sum is the score, up to the rounding of the storage type.
        score : float
            As ``score_one`` has it.
        """
        self._require_start("explain_one")
        if label not in self._labels.number:
            raise ValueError(f"there is no label {label!r}")
        pairs, _ = self._pairs(x, learning=False)
        return self._native.explain_one(*pairs, self._labels.number[label])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return an indicator of the labels that score at least ``cutoff_``.

        A classifier (trained with one label a row) returns the best label of each row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores, cutoff = self._scores(X)
        if self._single:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return (scores >= cutoff).astype(np.int64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, else the label-ranking average precision.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : targets
            See Notes; unknown relevance counts as irrelevant here.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.
        """
        check_is_fitted(self)
        if self._single:
            return accuracy(y, self.predict(X), sample_weight)
        scores, _ = self._scores(X)
        return average_precision(self._labels, y, scores, sample_weight)

    @property
    def cutoff_(self) -> float:
        """The score from which ``predict`` includes a label."""
        self._require_start("cutoff_")
        return float(self._native.certificate()["cutoff"])

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of their columns."""
        self._require_start("classes_")
        # A label that an example brings is there once that is learnt.
        return label_array(self._labels.names[: self._native.labels])

    def weights_by_feature(self) -> dict[str, npt.NDArray[Any]]:
        """Return the features with weights, the weights (features, K), and what else is kept."""
        self._require_start("weights_by_feature")
        return self._native.weights()

    @property
    def bytes_of_weights(self) -> int:
        """What the weights take in memory."""
        self._require_start("bytes_of_weights")
        return self._native.bytes

    def _to_file(self) -> tuple[dict[str, Any], model_files.Arrays]:
        state = self._native.state()
        header = {
            "params": self.get_params(),
            "settings": self._settings,
            "labels": [model_files.encode_label(name) for name in self._labels.names],
            "grows": self._labels.grows,
            "single": self._single,
            **columns_of(self),
            "names": None if self._names is None else list(self._names.number),
            "restarted": self._restarted,
            "numbers": state["numbers"],
        }
        return header, state["arrays"]

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        self = cls(**header["params"])
        native = self._make_native(header["settings"])
        native.restore({"arrays": arrays, "numbers": header["numbers"]})
        self._native = native
        self._settings = header["settings"]
        self._labels = Labels(map(model_files.decode_label, header["labels"]), header["grows"])
        if len(self._labels) != native.labels:
            raise ValueError(f"it has {len(self._labels)} labels, but weights of {native.labels}")
        self._single = header["single"]
        self._restarted = header.get("restarted", "")
        restore_columns(self, header)
        self._names = None
        if header["names"] is not None:
            self._names = FeatureNames(header["names"], grows=not header["columns"])
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if self._started():
            # Copies, as a copy of the learner must share nothing with it.
            own = {"_labels": deepcopy(self._labels), "_names": deepcopy(self._names)}
            state = {**state, **own}
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _current_settings(self) -> Settings:
        return self._settings if self._started() else self._checked_settings()

    def _begin(self) -> None:
        """Begin without an example, if nothing has begun yet: labels may appear at any time."""
        if not self._started():
            self._start(self._checked_settings(), self._open_labels(), single=False)

    def _first_labels(self, Y: Any, classes: Any, fitting: bool) -> Labels:
        """Return the labels of a learner that starts with these targets."""
        return labels_of(Y, classes, fitting)

    def _open_labels(self) -> Labels:
        """Return the labels of a learner that starts without an example."""
        return Labels(grows=True)

    def _check_targets(self, labels: Labels, targets: Targets) -> None:
        """Raise ValueError if the learner cannot learn such targets."""

    def _start(
        self,
        settings: Settings,
        labels: Labels,
        single: bool,
        matrix: core.Matrix | None = None,
        targets: Targets | None = None,
    ) -> None:
        """Begin anew: with a native learner, once it has accepted the first examples."""
        features = self.n_features or (0 if matrix is None else matrix.shape[1])
        self._check_start(settings, len(labels), features)
        settings = {**settings, "n_features": features}
        native = self._make_native(settings)
        if matrix is not None and targets is not None:
            self._check_batch(native, matrix, labels, targets)
        native.add_labels(len(labels))
        self._settings = settings
        self._labels = labels
        self._single = single
        self._restarted = ""
        self._names = None if matrix is None else self._column_names()
        self._native = native

    def _column_names(self) -> FeatureNames | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else FeatureNames(map(str, names), grows=False)

    def _validate(self, X: Any, reset: bool) -> Any:
        X = validated(self, X, reset)
        if self.n_features is not None and X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} columns, but n_features={self.n_features} was declared"
            )
        return X

    def _checked_batch(
        self, X: Any, Y: Any, classes: Any, sample_weight: Any
    ) -> tuple[core.Matrix, Targets, npt.NDArray[np.float64] | None]:
        """Check a batch, begin if it is the first, and take up its labels."""
        with restored_on_error(self):
            if self._started():
                self._check_same_classes(classes)
                if self._names is not None and self._names.grows:
                    raise ValueError(
                        "this learner has learnt features by name: use learn_one, or a new one"
                    )
            first = not self._started()
            settings = self._current_settings()
            X = self._validate(X, reset=not hasattr(self, "n_features_in_"))
            matrix = as_matrix(X)
            labels = self._first_labels(Y, classes, fitting=False) if first else self._labels
            targets = labels.encode(Y, X.shape[0])
            self._check_targets(labels, targets)
            weights = checked_weights(sample_weight, X, self._largest_weight(settings))
            if first:
                self._start(settings, labels, targets.kind == "single", matrix, targets)
            else:
                self._check_batch(self._native, matrix, labels, targets)
                self._names = self._names or self._column_names()
        if means_growing(classes):
            labels.grows = True
        labels.extend(targets.new)
        return matrix, targets, weights

    def _learn_batch(
        self, X: Any, Y: Any, classes: Any, sample_weight: Any, watched: bool
    ) -> Rounds:
        matrix, targets, weights = self._checked_batch(X, Y, classes, sample_weight)
        rounds = Rounds(_NO_SCORES, _NO_SCORES, targets.relevant, targets.unknown)
        if watched:
            rows = matrix.shape[0]
            scores = np.empty((rows, len(self._labels)), dtype=self._settings["dtype"])
            if targets.new:  # a row says nothing about labels that come later
                scores.fill(-np.inf)
            rounds = replace(rounds, scores=scores, cutoffs=np.empty(rows))
        self._learn(matrix, targets, weights, rounds if watched else None)
        return rounds

    def _learn(
        self,
        matrix: core.Matrix,
        targets: Targets,
        weights: npt.NDArray[np.float64] | None,
        watched: Rounds | None,
    ) -> None:
        relevant, unknown = targets.relevant, targets.unknown
        try:
            self._native.learn(
                matrix,
                relevant.indptr,
                relevant.indices,
                unknown.indptr,
                unknown.indices,
                weights,
                None if watched is None else watched.scores,
                None if watched is None else watched.cutoffs,
            )
        finally:
            # An interrupted batch has learnt its first rows; the labels of the others are known.
            self._native.add_labels(len(self._labels) - self._native.labels)

    def _check_same_classes(self, classes: Any) -> None:
        if classes is None or means_growing(classes):
            return
        given = Labels(classes).names
        if given != self._labels.names:
            raise ValueError(
                f"classes is {given!r}, but on the first call it was {self._labels.names!r}"
            )

    def _checked_matrix(self, X: Any) -> core.Matrix:
        check_is_fitted(self)
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(
                "this learner has learnt single examples only: use rank_one, or learn a matrix"
            )
        matrix = as_matrix(self._validate(X, reset=False))
        self._native.check(matrix)
        return matrix

    def _scores(self, X: Any) -> tuple[npt.NDArray[Any], float]:
        matrix = self._checked_matrix(X)
        return self._native.score(matrix)

    def _pairs(self, x: Example, learning: bool) -> tuple[Pair, list[str]]:
        pair = type(x) is tuple
        if not pair and isinstance(x, Mapping) and not x:  # neither names nor numbers
            return as_pairs(x), []
        if pair or not comes_by_name(x):
            if learning and self._names is not None and self._names.grows:
                raise ValueError("x has numbers for features, but this learner knows names")
            pairs = as_pairs(x)
            if self.n_features is not None and pairs[0].max(initial=-1) >= self.n_features:
                raise ValueError(
                    f"feature index {pairs[0].max()} must be below n_features={self.n_features}"
                )
            return pairs, []
        assert isinstance(x, Mapping)
        names = self._names
        if names is None:
            known = self._native.state()["arrays"]["features"]
            if hasattr(self, "n_features_in_") or (known >= 0).any():
                raise ValueError("x has names for features, but this learner knows numbers only")
            names = FeatureNames()
            if learning:
                self._names = names
        return names.translate(x, learning)


def _count(k: int | None) -> int:
    if type(k) is int and k >= 0:
        return k
    return -1 if k is None else parameters.integer(k, "k", 0)
