"""Base class of the label rankers: validation, learning, scoring, ranking."""

import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.batches import RowTargets, check_sample_weight, labels_may_grow
from tagalong.learning.convergence import warn_if_unsolved
from tagalong.learning.estimators import restore_attributes, restored_on_error
from tagalong.learning.examples import (
    FeatureNames,
    Pair,
    SparseRows,
    as_matrix,
    as_pairs,
    has_named_features,
)
from tagalong.learning.input_types import Classes, MatrixLike, SampleWeight, TargetsLike
from tagalong.learning.labels import Labels, Targets
from tagalong.learning.metrics import accuracy, average_precision
from tagalong.learning.places import PLACES_JUDGED, Places, TieOrder, answers_counted
from tagalong.learning.rounds import Round, Rounds
from tagalong.online.confident_model import ConfidentModel
from tagalong.online.label_model import Settings

__all__ = ["Example", "OnlineRanker", "Settings"]

Example: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike] | Mapping[Any, float]
"""One example: (indices, values), or a mapping of feature numbers or names to values."""

_NO_SCORES: npt.NDArray[Any] = np.empty(0)
_EMPTY_ROUND = Round(_NO_SCORES, 0.0, [], [])


class OnlineRanker(ClassifierMixin, ConfidentModel):
    """Base class of the online label rankers: a scikit-learn estimator around a native learner.

    It validates matrices and single examples and passes them to the native learner. A batch is
    validated completely before any row is learnt. A failed call leaves the learner unchanged.
    """

    @property
    def learns_rows(self) -> bool:
        """Whether ``encode_rows`` and ``watch_rows`` exist: True."""
        return True

    def fit(self, X: MatrixLike, y: TargetsLike, sample_weight: SampleWeight = None) -> Self:
        """Learn from scratch: ``passes`` times over the rows, in the given order.

        The order matters: shuffle rows that are sorted by label.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each round; rows of weight 0 are skipped.
        """
        settings = self._checked_settings()
        passes = parameters.integer(getattr(self, "passes", 1), "passes", 1)
        with restored_on_error(self):
            rows = self._validate(X, reset=True)
            labels = self._initial_labels(y, None, fitting=True)
            targets = labels.encode(y, rows.shape[0])
            self._check_targets(labels, targets)
            weights = check_sample_weight(sample_weight, rows, self._largest_weight(settings))
            if weights is not None and not weights.any():
                raise ValueError("sample_weight must have at least one positive number, got zeros")
            matrix = as_matrix(rows)
            self._start_with(settings, labels, targets.kind == "single", matrix, targets)
        for number in range(passes):  # only the first pass sees the rows for the first time
            self._learn(matrix, targets, weights, None, judged=number == 0)
        if self.labels_come_in_runs:
            warnings.warn(
                "the rows are sorted by label, and an online learner forgets the labels of the "
                "first rows while it learns the last: shuffle the rows before fit",
                UserWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(
        self,
        X: MatrixLike,
        Y: TargetsLike,
        classes: Classes = None,
        sample_weight: SampleWeight = None,
        judged: bool | float = True,
    ) -> Self:
        """Learn a batch row by row. The whole batch is validated before any row is learnt.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            On the first call: all labels, or "grow" to let new labels appear at any time. Optional
            if Y is an indicator matrix, whose columns then are the labels.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each round; rows of weight 0 are skipped.
        judged : bool or float, default True
            Whether predictions are compared with the labels before learning, to learn cut-off and
            confidence. False for examples that were learnt before: only weights change. A number
            above 1 means that the answer stands for so many examples that were not asked.
        """
        self._learn_batch(X, Y, classes, sample_weight, judged, watched=False)
        return self

    def predict_then_learn(
        self,
        X: MatrixLike,
        Y: TargetsLike,
        classes: Classes = None,
        sample_weight: SampleWeight = None,
    ) -> npt.NDArray[Any]:
        """Learn like ``partial_fit``, and return the scores each row had just before it was learnt.

        This is the progressive evaluation of an online learner, and it costs no more than learning.
        With ``classes="grow"``, labels that first appear in a later row score -infinity.

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
            The scores that ``decision_function`` would have returned for each row at that moment.
        """
        rounds = self._learn_batch(X, Y, classes, sample_weight, True, watched=True, places=False)
        return rounds.scores

    def watch(
        self,
        X: MatrixLike,
        Y: TargetsLike,
        classes: Classes = None,
        sample_weight: SampleWeight = None,
        judged: bool | float = True,
    ) -> Rounds:
        """Learn like ``partial_fit``, and return the predictions made before each round.

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
        judged : bool or float, default True
            As for ``partial_fit``.

        Returns
        -------
        Rounds
            Scores, cut-off and first places before each round, and the numbers of its labels.
        """
        return self._learn_batch(X, Y, classes, sample_weight, judged, watched=True)

    def learn_one(
        self,
        x: Example,
        y: Hashable | Iterable[Hashable],
        unknown: Collection[Hashable] = (),
        judged: bool | float = True,
    ) -> Self:
        """Learn one example.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            Features are numbers from 0 to 2**31 - 1, or names. New features may appear at any time.
        y : label or collection of labels
            The relevant labels. A ranker that starts with single examples accepts new labels at
            any time.
        unknown : collection of labels
            Labels whose relevance is not known; the round uses no pairs with them.
        judged : bool or float, default True
            As for ``partial_fit``.
        """
        self._learn_example(x, y, unknown, 1.0, judged, watched=False)
        return self

    def watch_one(
        self,
        x: Example,
        y: Hashable | Iterable[Hashable],
        unknown: Collection[Hashable] = (),
        weight: float = 1.0,
        judged: bool | float = True,
    ) -> Round:
        """Learn like ``learn_one``, and return the prediction made before the round.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            As for ``learn_one``.
        y : label or collection of labels
            The relevant labels.
        unknown : collection of labels
            Labels whose relevance is not known.
        weight : float
            Scales the round's budget C.
        judged : bool or float, default True
            As for ``partial_fit``.

        Returns
        -------
        Round
            Scores, cut-off and first places before the round, and the numbers of its labels.
        """
        if type(weight) is not float or weight != 1.0:  # 1 is valid for every learner
            weight = parameters.positive(weight, "weight", self.largest_weight)
        return self._learn_example(x, y, unknown, weight, judged, watched=True)

    def _learn_example(
        self,
        x: Example,
        y: Hashable | Iterable[Hashable],
        unknown: Collection[Hashable],
        weight: float,
        judged: bool | float,
        watched: bool,
    ) -> Round:
        # Only the start and the first names set attributes, which a failed call has to reset.
        before = None
        if not self.is_started or (self._names is None and type(x) is not tuple):
            before = dict(self.__dict__)
        found = _EMPTY_ROUND
        stands_for = 1.0 if judged is True else answers_counted(judged)
        try:
            if before is not None:
                self.start()
            pairs, new_names = self._pairs(x, learning=True)
            labels, native = self._labels, self._native
            relevant, unknown_labels, new = labels.encode_one(y, unknown)
            self._check_label_count(relevant)
            if new:
                labels.extend(new)
            unsolved = native.unsolved
            try:
                if watched:
                    places = self._empty_places(1) if stands_for else None
                    scores, cutoff = native.predict_then_learn_one(
                        *pairs, relevant, unknown_labels, weight, stands_for, places
                    )
                    judgement = None if places is None else Places.from_native(places)
                    found = Round(scores, cutoff, relevant, unknown_labels, places=judgement)
                else:
                    native.learn_one(*pairs, relevant, unknown_labels, weight, stands_for)
            except BaseException:  # custom features may raise anything
                labels.remove_last(len(labels) - native.labels)
                raise
            if new_names and self._names is not None:
                self._names.extend(new_names)
        except BaseException:
            if before is not None:
                restore_attributes(self, before)
            raise
        if unsolved == 0 and native.unsolved:
            warn_if_unsolved(native, unsolved)
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
        self.start()
        (_, values), _ = self._pairs(x, learning=True)
        self._native.check(as_matrix(values.astype(np.float64).reshape(1, -1)))

    def encode_rows(
        self, Y: Sequence[Collection[Hashable]], weights: npt.NDArray[np.float64] | None = None
    ) -> RowTargets:
        """Encode the labels of rows to be learnt as numbers; ValueError if some cannot be learnt.

        Parameters
        ----------
        Y : sequence of collections of labels
            The labels of each row. New labels are allowed if the learner accepts them at any time.
        weights : array of shape (rows,), optional
            The weight of each row, above 0; 1 by default.
        """
        self.start()
        if weights is not None:
            bad = ~((weights > 0) & (weights <= self.largest_weight))
            if bad.any():
                row = int(np.argmax(bad))
                raise ValueError(
                    f"weights: row {row} is {weights[row]:g}; weights must be above 0 and at most "
                    f"{self.largest_weight:g}"
                )
        targets = self._labels.encode_sets(Y)
        self._check_targets(self._labels, targets)
        return RowTargets(targets, weights)

    def watch_rows(
        self, rows: SparseRows, targets: RowTargets, judged: bool | float = True
    ) -> Rounds:
        """Learn rows in one native call, with the same bits as ``watch_one`` row by row.

        Unlike a matrix for ``watch``, the rows have no fixed number of columns, and
        ``n_features_in_`` does not change.

        Parameters
        ----------
        rows : SparseRows
            Features by number, valid for this learner.
        targets : RowTargets
            The result of ``encode_rows``; nothing may be learnt in between.
        judged : bool or float, default True
            As for ``partial_fit``.

        Returns
        -------
        Rounds
            Scores, cut-off and first places before each round, and the numbers of its labels.
        """
        answers_counted(judged)  # refuse a wrong number before labels are added
        self._labels.extend(targets.targets.new)
        rounds = self._empty_rounds(targets.targets)
        found = self._learn(rows.matrix(), targets.targets, targets.weights, rounds, judged)
        return found or rounds

    def decision_function(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K).

        A classifier for two classes returns the difference of their scores, (rows,), as
        scikit-learn does.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores, _ = self._scores(X)
        if self._single and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def rank(self, X: MatrixLike, k: int | None = None) -> npt.NDArray[Any]:
        """Return the k best labels of each row, or all of them, best first: (rows, k).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        k : int, optional
            The number of labels to return; all by default.
        """
        matrix = self._checked_matrix(X)
        # First the ranks, then `classes_`: another thread may add labels in between.
        best = self._native.rank(matrix, _checked_k(k))
        return np.asarray(self.classes_[best])

    def rank_one(self, x: Example, k: int | None = None) -> list[Any]:
        """Return the k best labels for one example, or all of them, best first.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example. Features without weights contribute nothing to the scores.
        k : int, optional
            The number of labels to return; all by default.
        """
        if not self.is_started:
            return []
        pairs, _ = self._pairs(x, learning=False)
        names = self._labels.names
        return [names[label] for label in self._native.rank_one(*pairs, _checked_k(k))]

    def score_one(self, x: Example) -> tuple[npt.NDArray[Any], float]:
        """Return the scores of all labels for one example, and the cut-off.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example. Features without weights contribute nothing to the scores.
        """
        if not self.is_started:
            return _NO_SCORES, np.inf
        pairs, _ = self._pairs(x, learning=False)
        return self._native.score_one(*pairs)

    def places_one(self, x: Example, k: int | None = None, ties: TieOrder | None = None) -> Places:
        """Return the first k labels for one example, or all, with how far to trust them.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        k : int, optional
            The number of labels; all by default.
        ties : (counts, last), optional
            The order of labels with equal scores; by number by default.
        """
        if not self.is_started:
            return self.find_places(SparseRows.of_pairs([as_pairs({})]), k, ties)
        pairs, _ = self._pairs(x, learning=False)
        return self.find_places(SparseRows.of_pairs([pairs]), k, ties)

    def explain_one(
        self, x: Example, label: Hashable
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return the contribution of each feature to a label's score, and the score.

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
            The contribution of each. Their sum is the score, up to rounding in the storage type.
        score : float
            The label's score, as ``score_one`` returns it.
        """
        self._require_start("explain_one")
        if label not in self._labels.number:
            raise ValueError(f"there is no label {label!r}")
        pairs, _ = self._pairs(x, learning=False)
        return self._native.explain_one(*pairs, self._labels.number[label])

    def score(self, X: MatrixLike, y: TargetsLike, sample_weight: SampleWeight = None) -> float:
        """Return the accuracy of a classifier, otherwise the label-ranking average precision.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : targets
            See Notes. Labels of unknown relevance count as irrelevant here.
        sample_weight : array of shape (rows,), optional
            Weights of the rows.
        """
        check_is_fitted(self)
        if self._single:
            return accuracy(y, self.predict(X), sample_weight)
        scores, _ = self._scores(X)
        return average_precision(self._labels, y, scores, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    def _check_targets(self, labels: Labels, targets: Targets) -> None:
        """Hook: raise ValueError if the learner cannot learn these targets."""

    def _checked_batch(
        self, X: MatrixLike, Y: TargetsLike, classes: Classes, sample_weight: SampleWeight
    ) -> tuple[core.Matrix, Targets, npt.NDArray[np.float64] | None]:
        """Validate a batch, start the learner if it is the first one, and add its new labels."""
        with restored_on_error(self):
            if self.is_started:
                self._check_same_classes(classes)
                if self._names is not None and self._names.grows:
                    raise ValueError(
                        "X has features by number, but this learner has learnt features by name: "
                        "use learn_one, or a new learner"
                    )
            first = not self.is_started
            settings = self._current_settings()
            rows = self._validate(X, reset=not hasattr(self, "n_features_in_"))
            matrix = as_matrix(rows)
            labels = self._initial_labels(Y, classes, fitting=False) if first else self._labels
            targets = labels.encode(Y, rows.shape[0])
            self._check_targets(labels, targets)
            weights = check_sample_weight(sample_weight, rows, self._largest_weight(settings))
            if first:
                self._start_with(settings, labels, targets.kind == "single", matrix, targets)
            else:
                self._check_batch(self._native, matrix, labels, targets)
                self._names = self._names or self._column_names()
        if labels_may_grow(classes):
            labels.grows = True
        labels.extend(targets.new)
        return matrix, targets, weights

    def _learn_batch(
        self,
        X: MatrixLike,
        Y: TargetsLike,
        classes: Classes,
        sample_weight: SampleWeight,
        judged: bool | float,
        watched: bool,
        places: bool = True,
    ) -> Rounds:
        answers_counted(judged)  # refuse a wrong number before the learner starts
        matrix, targets, weights = self._checked_batch(X, Y, classes, sample_weight)
        rounds = Rounds(_NO_SCORES, _NO_SCORES, targets.relevant, targets.unknown)
        if watched:
            rounds = self._empty_rounds(targets)
        found = self._learn(matrix, targets, weights, rounds if watched else None, judged, places)
        return found or rounds

    def _empty_rounds(self, targets: Targets) -> Rounds:
        """Allocate the scores and cut-offs that learning writes, one row per round."""
        rows = len(targets)
        scores = np.empty((rows, len(self._labels)), dtype=self._settings["dtype"])
        if targets.new:  # a label has no score before its first row
            scores.fill(-np.inf)
        return Rounds(scores, np.empty(rows), targets.relevant, targets.unknown)

    def _empty_places(self, rows: int) -> core.PlaceArrays | None:
        """Allocate the places that learning writes; None if the learner has no confidence."""
        return core.PlaceArrays(rows, PLACES_JUDGED)

    def _learn(
        self,
        matrix: core.Matrix,
        targets: Targets,
        weights: npt.NDArray[np.float64] | None,
        watched: Rounds | None,
        judged: bool | float = True,
        with_places: bool = True,
    ) -> Rounds | None:
        """Learn rows; return the rounds with their places, if they are watched."""
        stands_for = answers_counted(judged)
        judging = watched is not None and stands_for > 0 and with_places
        places = self._empty_places(len(targets)) if judging else None
        unsolved = self._native.unsolved
        try:
            self._native.learn(
                matrix,
                targets.relevant,
                targets.unknown,
                weights=weights,
                scores=None if watched is None else watched.scores,
                cutoffs=None if watched is None else watched.cutoffs,
                stands_for=stands_for,
                places=places,
            )
        finally:
            # After an interruption only the first rows are learnt, but all labels are registered.
            self._native.add_labels(len(self._labels) - self._native.labels)
        warn_if_unsolved(self._native, unsolved)
        if watched is None or places is None:
            return watched
        return replace(watched, places=Places.from_native(places))

    def _check_label_count(self, relevant: Sequence[int]) -> None:
        """Hook: raise ValueError if an example cannot have so many labels."""

    def _check_same_classes(self, classes: Classes) -> None:
        if classes is None or labels_may_grow(classes):
            return
        given = Labels(classes).names
        if given != self._labels.names:
            raise ValueError(
                f"classes is {given!r}, but on the first call it was {self._labels.names!r}"
            )

    def _scores(self, X: MatrixLike) -> tuple[npt.NDArray[Any], float]:
        matrix = self._checked_matrix(X)
        return self._native.score(matrix)

    def _pairs(self, x: Example, learning: bool) -> tuple[Pair, list[str]]:
        pair = type(x) is tuple
        if type(x) is dict and self._names is not None:
            usual = self._names.translate_plain(x, learning)
            if usual is not None:
                return usual
        if not pair and isinstance(x, Mapping) and not x:  # empty: neither names nor numbers
            return as_pairs(x), []
        if pair or not has_named_features(x):
            if learning and self._names is not None and self._names.grows:
                raise ValueError(
                    "x has features by number, but this learner has learnt features by name"
                )
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
                raise ValueError(
                    "x has features by name, but this learner has learnt features by number"
                )
            names = FeatureNames()
            if learning:
                self._names = names
        return names.translate(x, learning)


def _checked_k(k: int | None) -> int:
    if type(k) is int and k >= 0:
        return k
    return -1 if k is None else parameters.integer(k, "k", 0)
