"""Predtron (P5): perceptrons for general prediction problems."""

from collections.abc import Collection, Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagalong import parameters, persist
from tagalong.examples import as_matrix, as_pairs
from tagalong.labels import Labels, Targets
from tagalong.online.batches import checked_weights
from tagalong.online.decided_outside import DecidedOutside, core_of
from tagalong.online.estimators import restored_on_error
from tagalong.online.label_ranker import (
    DENSE_COEF_LIMIT,
    LARGEST_BUDGET,
    LARGEST_CONSTANT,
)
from tagalong.online.native import NativeRanker
from tagalong.online.predtron_certificate import LossCertificate
from tagalong.online.queries import Queries, checked_grades, checked_group, learn_query
from tagalong.online.ranker import Example, OnlineRanker, Settings
from tagalong.online.rounds import Round, Rounds
from tagalong.problems.binary import Binary
from tagalong.problems.multiclass import Multiclass
from tagalong.problems.multilabel import Multilabel
from tagalong.problems.names import as_problem, problem_from_json, problem_to_json
from tagalong.problems.ordinal import Ordinal
from tagalong.problems.reject import REJECT
from tagalong.problems.shipped import Shipped
from tagalong.problems.subset_ranking import SubsetRanking

__all__ = ["Predtron"]

NORMS = ("l2", "l1", "group", "trace")
UPDATES = ("mistake", "loss")
KERNELS = ("linear", "rbf", "poly")


class Predtron(OnlineRanker):
    r"""A perceptron for whatever can be predicted from scores.

    A problem represents every prediction :math:`\sigma` by a vector of length 1 and predicts
    :math:`\mathrm{argmax}_\sigma \langle \mathrm{rep}(\sigma), Wx\rangle`. Where that has a loss
    :math:`L` against the answer y, the weights move by

    .. math:: W \mathrel{-}= \eta\, (\mathrm{rep}(\tilde\sigma) - \mathrm{rep}(\sigma_y))\, x^\top

    with a correct :math:`\sigma_y` and the prediction :math:`\tilde\sigma` that has the most loss
    and similarity together.

    Parameters
    ----------
    problem : str or Problem, default "label-ranking"
        What is predicted: ``"binary"``, ``"multiclass"``, ``"ordinal"``, ``"multilabel"``,
        ``"label-ranking"``, ``"subset-ranking"``, one of `tagalong.problems` with settings, or a
        problem of your own.
    norm : str, default "l2"
        How the weights of a competitor are measured: ``"l2"``; ``"l1"`` (few entries count);
        ``"group"`` (few features count, for all labels together); ``"trace"`` (few directions
        count; dense, an SVD a step, for small problems).
    update : str, default "mistake"
        ``"mistake"`` is Algorithm 1. ``"loss"`` moves away from the prediction itself, by its loss;
        its appendix is missing from the paper, so it is reconstructed.
    step : float, optional
        :math:`\eta`. None is the step of the theory, :math:`c_L / 4R^2` with the largest norm R so
        far; for the update by loss, where any step will do, 1.
    average : bool, default False
        Predict with the mean of the weights over the rounds; l2 and kernels only. Nothing is proven
        about it.
    kernel : str, optional
        ``"linear"``, ``"rbf"`` or ``"poly"``: keep examples instead of weights.
    budget : int, optional
        How many examples a kernel keeps; the one that says least is dropped. None means all.
    gamma : float, default 1.0
        Of the kernels rbf, exp(-gamma |x - z|^2), and poly, (gamma x.z + 1)^degree.
    degree : float, default 3
        Of the kernel poly.
    normalize : bool, default False
        Scale rows to length 1, in the norms l1 and group to a largest entry of 1.
    constant : float, default 0.0
        The value of a constant feature; 0 for none.
    passes : int, default 1
        How often ``fit`` goes through the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features; the norms other than l2 need it, or a matrix at first.
    dtype : "float32" or "float64", default "float32"
        How weights are stored and scores summed.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array of shape (K, n)
        The weights that predict; (1, n) of two classes, (n,) of documents. Not with a kernel.
    certificate_ : LossCertificate
        Rounds, mistakes and loss so far, and the bound on the loss where there is one.
    cutoff_ : float
        The score from which ``predict`` includes a label.
    n_features_in_ : int
        The number of columns of the matrices seen.
    feature_names_in_ : array of str
        The columns of the first DataFrame.

    Notes
    -----
    Targets are as for `LabelRanker`; binary, multiclass and ordinal problems have one label a row.
    For subset ranking rows are documents, y their grades, and ``group`` has the sizes of the
    queries. A problem of your own gets the entries of y as they are.

    References
    ----------
    .. [1] Jain, Natarajan, Tewari. Predtron: A Family of Online Algorithms for General Prediction
       Problems. NIPS 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from tagalong import Predtron
    >>> from tagalong.problems import REJECT, Multiclass
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = Predtron(Multiclass(reject=0.4), step=0.01, passes=5, average=True)
    >>> predicted = classifier.fit(X[:1500], y[:1500]).predict(X[1500:])
    >>> sure = predicted != REJECT
    >>> bool((predicted == y[1500:])[sure].mean() > 0.9)
    True
    """

    _native: NativeRanker

    def __init__(
        self,
        problem: Any = "label-ranking",
        norm: str = "l2",
        update: str = "mistake",
        step: float | None = None,
        average: bool = False,
        kernel: str | None = None,
        budget: int | None = None,
        gamma: float = 1.0,
        degree: float = 3,
        normalize: bool = False,
        constant: float = 0.0,
        passes: int = 1,
        n_features: int | None = None,
        dtype: str = "float32",
    ):
        self.problem = problem
        self.norm = norm
        self.update = update
        self.step = step
        self.average = average
        self.kernel = kernel
        self.budget = budget
        self.gamma = gamma
        self.degree = degree
        self.normalize = normalize
        self.constant = constant
        self.passes = passes
        self.n_features = n_features
        self.dtype = dtype

    def fit(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> Self:
        """Learn from scratch, in the given order, ``passes`` times.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            Scales the step of each round; one of weight 0 is passed over. For subset ranking a
            number a query.
        group : sequence of int, optional
            For subset ranking: how many rows each query has. None means that all are one query.
        """
        if self._has_labels():
            self._refuse_group(group)
            return super().fit(X, y, sample_weight)
        passes = parameters.integer(self.passes, "passes", 1)
        with restored_on_error(self):
            settings = self._checked_settings()
            X = self._validate(X, reset=True)
            matrix = as_matrix(X)
            self._start(settings, Labels(), single=False, matrix=matrix)
            learn = self._prepared(X, y, sample_weight, group)
        for _ in range(passes):
            learn(None)
        return self

    def partial_fit(
        self, X: Any, Y: Any, classes: Any = None, sample_weight: Any = None, group: Any = None
    ) -> Self:
        """Learn from a batch, round by round. All of it is checked before any of it is learnt.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            All labels there will be, on the first call; or "grow" to let new labels appear at
            any time. May be left out if Y is an indicator, whose columns are then the labels.
        sample_weight : array of shape (rows,), optional
            Scales the step of each round; one of weight 0 is passed over. For subset ranking a
            number a query.
        group : sequence of int, optional
            For subset ranking: how many rows each query has. None means that all are one query.
        """
        if self._has_labels():
            self._refuse_group(group)
            return super().partial_fit(X, Y, classes, sample_weight)
        self._learn_rows(X, Y, sample_weight, group, None)
        return self

    def predict_then_learn(
        self, X: Any, Y: Any, classes: Any = None, sample_weight: Any = None, group: Any = None
    ) -> npt.NDArray[Any]:
        """Learn like ``partial_fit``, and return the scores each row had just before it was learnt.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            As for ``partial_fit``.
        sample_weight : array of shape (rows,), optional
            As for ``partial_fit``.
        group : sequence of int, optional
            As for ``partial_fit``.

        Returns
        -------
        array of shape (rows, K)
            What ``decision_function`` would have said for each row at that moment; (rows,) of
            documents, before their query was learnt.
        """
        if self._has_labels():
            self._refuse_group(group)
            return super().predict_then_learn(X, Y, classes, sample_weight)
        out: list[npt.NDArray[Any]] = []
        self._learn_rows(X, Y, sample_weight, group, out)
        return np.concatenate(out) if self._ranks_documents() else np.stack(out)

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
        self._require_labels("watch")
        return super().watch(X, Y, classes, sample_weight)

    def watch_query(
        self, documents: Sequence[Example], grades: Any, weight: float = 1.0
    ) -> npt.NDArray[Any]:
        """Learn one query, and return the scores that its documents had before.

        Parameters
        ----------
        documents : sequence of (indices, values) or mappings of numbers to values
            The documents. New features may appear at any time.
        grades : array of shape (documents,)
            Their grades, numbers from 0 on.
        weight : float, default 1.0
            Scales the step.
        """
        if not self._ranks_documents():
            raise ValueError("watch_query is for subset ranking; this learner has another problem")
        weight = parameters.positive(weight, "weight", self._largest_weight({"dtype": self.dtype}))
        with restored_on_error(self):
            self._begin()
            X = _rows_of(documents)
            numbers = checked_grades(grades, X.shape[0])
            matrix = as_matrix(X)
            self._native.check(matrix)
        return self._learn_span(matrix, Queries(X, self._columns()), (0, X.shape[0]), numbers, weight)

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K).

        Of two classes it is one score, (rows,), above 0 for the second one. Documents have one score
        each, (rows,). A problem of your own has as many as its dimension.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        """
        if not self._has_labels():
            matrix = self._checked_matrix(X)
            if self._ranks_documents():
                scores = self._core().query_scores(matrix, 0, matrix.shape[0], True)
                return scores.astype(self._settings["dtype"])
            rows = range(matrix.shape[0])
            return np.stack([self._outside().raw_scores(matrix, row, True) for row in rows])
        scores, _ = self._scores(X)
        if isinstance(self._known(), Binary) and scores.shape[1] == 2 and self._single:
            one = self._known().dimension == 1
            return np.asarray(scores[:, 1] if one else scores[:, 1] - scores[:, 0])
        return super().decision_function(X)

    def predict(self, X: Any, group: Any = None) -> npt.NDArray[Any]:
        """Return the predictions of rows.

        Classes, or REJECT, where there was one label a row; otherwise an indicator of the labels that
        score at least ``cutoff_``, or of the one class. Documents get their place in the ranking of
        their query, from 1. A problem of your own is asked for its predictions.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        group : sequence of int, optional
            For subset ranking: how many rows each query has. None means that all are one query.
        """
        if self._ranks_documents():
            scores = self.decision_function(X)
            ends = checked_group(group, len(scores))
            out = np.empty(len(scores), dtype=np.int64)
            for begin, end in zip(ends[:-1], ends[1:], strict=True):
                order = np.argsort(-scores[begin:end], kind="stable")
                out[begin + order] = np.arange(1, end - begin + 1)
            return out
        self._refuse_group(group)
        problem = self._known()
        if not self._has_labels():
            scores = self.decision_function(X)
            found = np.empty(len(scores), dtype=object)
            for row, each in enumerate(scores):
                found[row] = problem.decode(each)
            return found
        if isinstance(problem, (Binary, Multiclass, Ordinal)):
            return self._predicted_classes(X)
        return super().predict(X)

    def _predicted_classes(self, X: Any) -> npt.NDArray[Any]:
        scores = self._scores(X)[0].astype(np.float64)
        problem = self._known()
        if isinstance(problem, Binary) and problem.dimension == 1:
            best = (scores[:, -1] > 0).astype(np.int64) if scores.shape[1] == 2 else scores.argmax(1)
        else:
            best = scores.argmax(axis=1)
        rejected = np.zeros(len(scores), dtype=bool)
        if getattr(problem, "reject", ()):
            together = np.add.accumulate(scores, axis=1)[:, -1] / np.sqrt(scores.shape[1])
            rejected = together > scores.max(axis=1)
        if not self._single:
            out = np.zeros(scores.shape, dtype=np.int64)
            out[np.arange(len(out)), best] = ~rejected
            return out
        found = self.classes_[best]
        if getattr(problem, "reject", ()):
            found = found.astype(object)
            found[rejected] = REJECT
        return np.asarray(found)

    def score(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> float:
        """Return the accuracy, the label-ranking average precision, or one minus the mean loss.

        With a reject option REJECT counts as wrong: see `tagalong.evaluate.coverage_curve`. Subset
        ranking and problems of your own have one minus the mean loss, which is NDCG or precision at k
        for queries.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        y : targets
            See Notes; unknown relevance counts as irrelevant here.
        sample_weight : array of shape (rows,), optional
            Weights of the rows, or of the queries.
        group : sequence of int, optional
            For subset ranking: how many rows each query has.
        """
        check_is_fitted(self)
        problem = self._known()
        if self._has_labels():
            self._refuse_group(group)
            if self._single and getattr(problem, "reject", ()):
                right = np.array([a is not REJECT and a == b for a, b in zip(self.predict(X), y, strict=True)])
                return float(np.average(right, weights=sample_weight))
            return super().score(X, y, sample_weight)
        scores = self.decision_function(X)
        if self._ranks_documents():
            ends = checked_group(group, len(scores))
            grades = checked_grades(y, len(scores))
            spans = [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
            pairs = [(scores[span].astype(np.float64), grades[span]) for span in spans]
        else:
            self._refuse_group(group)
            pairs = list(zip(scores, y, strict=True))
        losses = [problem.loss(problem.decode(each), answer) for each, answer in pairs]
        return float(1 - np.average(losses, weights=sample_weight))

    @property
    def certificate_(self) -> LossCertificate:
        """What the learner can prove about the rounds so far."""
        self._require_start("certificate_")
        problem = self._known()
        facts = self._native.certificate()
        if isinstance(problem, Shipped) and problem.dimension is None:  # type: ignore[attr-defined]
            problem = problem.sized(max(1, len(self._labels)))
        separable = not (isinstance(problem, Multilabel) and problem.loss_name == "error_set")
        settings = {**self._settings, "norm": self.kernel or self._settings["norm"]}
        return LossCertificate.of(
            facts, settings, float(problem.most_loss), separable, self._restarted
        )

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights that predict, (K, n); (1, n) of two classes, (n,) of documents."""
        self._require_start("coef_")
        if self._settings["norm"] == "kernel":
            raise AttributeError("a kernel has support examples instead of weights: no coef_")
        found = self._native.weights()
        features, weights = found["features"], found["weights"]
        own = features >= 0  # the constant feature is none of the user's
        features, weights = features[own], weights[own]
        if isinstance(self._known(), Binary) and weights.shape[1] == 2:
            one = self._known().dimension == 1
            weights = weights[:, 1:] if one else weights[:, 1:] - weights[:, :1]
        n = max(self._settings["n_features"], int(features.max(initial=-1)) + 1)
        n = max(n, getattr(self, "n_features_in_", 0))
        if n * weights.shape[1] > DENSE_COEF_LIMIT:
            rows, labels = np.nonzero(weights)
            return sp.csr_array(
                (weights[rows, labels], (labels, features[rows])), shape=(weights.shape[1], n)
            )
        dense = np.zeros((weights.shape[1], n), dtype=weights.dtype)
        dense[:, features] = weights.T
        return dense[0] if self._ranks_documents() else dense

    # What problem it is.

    def _known(self) -> Any:
        """Return the problem, as it was when learning began."""
        return self._settings["problem"] if self._started() else as_problem(self.problem)

    def _has_labels(self) -> bool:
        problem = self._known()
        return isinstance(problem, Shipped) and not isinstance(problem, SubsetRanking)

    def _ranks_documents(self) -> bool:
        return isinstance(self._known(), SubsetRanking)

    def _refuse_group(self, group: Any) -> None:
        if group is not None:
            raise ValueError("group is for subset ranking; this learner has another problem")

    def _require_labels(self, call: str) -> None:
        if not self._has_labels():
            raise ValueError(f"{call} is for problems with labels, not for {self._known()!r}")

    def _columns(self) -> bool:
        return self._settings["norm"] in ("l1", "group")

    def _core(self) -> Any:
        return self._native

    def _outside(self) -> DecidedOutside:
        native: Any = self._native
        return native  # type: ignore[no-any-return]

    # Learning rows whose answers are no labels.

    def _learn_rows(
        self, X: Any, Y: Any, sample_weight: Any, group: Any, out: list[npt.NDArray[Any]] | None
    ) -> None:
        with restored_on_error(self):
            X = self._validate(X, reset=not hasattr(self, "n_features_in_"))
            if not self._started():
                self._start(self._checked_settings(), Labels(), single=False, matrix=as_matrix(X))
            learn = self._prepared(X, Y, sample_weight, group)
        learn(out)

    def _prepared(self, X: Any, y: Any, sample_weight: Any, group: Any) -> Any:
        """Check a batch, and return what learns it."""
        matrix = as_matrix(X)
        self._native.check(matrix)
        most = self._largest_weight(self._settings)
        if self._ranks_documents():
            ends = checked_group(group, X.shape[0])
            grades = checked_grades(y, X.shape[0])
            weights = checked_weights(sample_weight, ends[:-1, None], most)
            queries = Queries(X, self._columns())

            def learn_queries(out: list[npt.NDArray[Any]] | None) -> None:
                for i, (begin, end) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
                    span, weight = (int(begin), int(end)), 1.0 if weights is None else weights[i]
                    found = self._learn_span(matrix, queries, span, grades[begin:end], weight)
                    if out is not None:
                        out.append(found)

            return learn_queries
        self._refuse_group(group)
        if y is None or len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but y has {0 if y is None else len(y)}")
        answers = list(y)
        weights = checked_weights(sample_weight, X, most)

        def learn_answers(out: list[npt.NDArray[Any]] | None) -> None:
            for row, answer in enumerate(answers):
                if out is not None:
                    out.append(self._outside().raw_scores(matrix, row, True))
                weight = 1.0 if weights is None else float(weights[row])
                if weight > 0:
                    self._outside().decide(matrix, row, answer, weight)

        return learn_answers

    def _learn_span(
        self, matrix: Any, queries: Queries, span: tuple[int, int], grades: Any, weight: float
    ) -> npt.NDArray[Any]:
        native, by_loss = self._core(), self._settings["update"] == "loss"
        norm = queries.norm(*span, native.certificate()["radius"])
        found = learn_query(native, self._known(), matrix, span, grades, norm, weight, by_loss)
        return found.astype(self._settings["dtype"])

    # What OnlineRanker asks for.

    def _learn_example(
        self, x: Example, y: Any, unknown: Collection[Hashable], weight: float, watched: bool
    ) -> Round:
        self._require_labels("learn_one")
        return super()._learn_example(x, y, unknown, weight, watched)

    def _first_labels(self, Y: Any, classes: Any, fitting: bool) -> Labels:
        levels = getattr(as_problem(self.problem), "levels", None)
        return super()._first_labels(Y, classes, fitting) if levels is None else Labels(levels)

    def _open_labels(self) -> Labels:
        if not self._has_labels():
            return Labels()
        levels = getattr(as_problem(self.problem), "levels", None)
        return super()._open_labels() if levels is None else Labels(levels)

    def _check_targets(self, labels: Labels, targets: Targets) -> None:
        problem = as_problem(self.problem)
        if not isinstance(problem, (Binary, Multiclass, Ordinal)):
            return
        counts = np.diff(targets.relevant.indptr)
        open_labels = np.diff(targets.unknown.indptr)
        wrong = (counts > 1) | ((counts == 0) & (open_labels == 0))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"Y: row {row} has {counts[row]} labels; {type(problem).__name__} takes one a row"
            )
        found = len(labels) + len(targets.new)
        if isinstance(problem, Binary) and found > 2:
            raise ValueError(
                f"Only binary classification is supported by problem {problem!r}: the type of the "
                f"target is multiclass, with {found} classes"
            )

    def _checked_settings(self) -> Settings:
        problem: Any = as_problem(self.problem)
        norm = parameters.choice(self.norm, "norm", NORMS)
        dtype = parameters.choice(self.dtype, "dtype", ("float32", "float64"))
        average = parameters.flag(self.average, "average")
        constant = parameters.real(self.constant, "constant")
        if abs(constant) > LARGEST_CONSTANT:
            raise ValueError(f"constant must be at most {LARGEST_CONSTANT:g}, got {constant!r}")
        step = 0.0
        if self.step is not None:
            step = parameters.positive(self.step, "step", LARGEST_BUDGET[dtype])
        if self.kernel is not None:
            parameters.choice(self.kernel, "kernel", KERNELS)
            if norm != "l2":
                raise ValueError(f"a kernel measures weights by norm='l2', not {norm!r}")
        if average and norm != "l2":
            raise ValueError(f"norm={norm!r} has no averages: average must be False")
        if self.budget is not None and self.kernel is None:
            raise ValueError(f"budget is for kernels: kernel must be given, got {self.kernel!r}")
        if self.n_features is not None:
            parameters.integer(self.n_features, "n_features", 1, 2**31)
        parameters.integer(self.passes, "passes", 1)
        queries = isinstance(problem, SubsetRanking)
        if queries:
            self._check_for_queries(norm, constant)
        own = 0 if isinstance(problem, Shipped) else problem.dimension
        if not isinstance(problem, Shipped):
            parameters.integer(own, "problem.dimension", 1)
            parameters.positive(problem.least_loss, "problem.least_loss")
        return {
            "problem": problem,
            "norm": norm if self.kernel is None else "kernel",
            "kernel": self.kernel or "linear",
            "gamma": parameters.positive(self.gamma, "gamma"),
            "degree": parameters.positive(self.degree, "degree"),
            "budget": 0 if self.budget is None else parameters.integer(self.budget, "budget", 1),
            "update": parameters.choice(self.update, "update", UPDATES),
            "step": step,
            "average": average,
            "normalize": parameters.flag(self.normalize, "normalize"),
            "constant": constant,
            "queries": queries,
            "dimension": own,
            "geometry": norm,
            "dtype": dtype,
        }

    def _check_for_queries(self, norm: str, constant: float) -> None:
        if norm == "trace" or self.kernel is not None:
            raise ValueError(
                "subset ranking has one weight vector: norm must be 'l2', 'l1' or 'group', and "
                f"kernel None, got {norm!r} and {self.kernel!r}"
            )
        if constant != 0 or self.normalize:
            raise ValueError(
                "constant and normalize are not for subset ranking: what all documents share ranks "
                "none of them"
            )

    def _start(self, settings: Settings, labels: Labels, single: bool, matrix: Any = None) -> None:
        columns = 0 if matrix is None else matrix.shape[1]
        if settings["norm"] in ("l1", "group", "trace") and not (self.n_features or columns):
            raise ValueError(
                f"norm={settings['norm']!r} needs the number of features: give n_features, or "
                "begin with a matrix"
            )
        super()._start(settings, labels, single, matrix)

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_BUDGET[settings["dtype"]] / max(1.0, float(settings.get("step", 0.0)))

    @staticmethod
    def _make_native(settings: Settings) -> NativeRanker:
        problem = settings["problem"]
        quick = isinstance(problem, Shipped) and problem.rule() is not None
        if isinstance(problem, SubsetRanking) or (quick and settings["norm"] != "trace"):
            return core_of(settings)
        return DecidedOutside(settings)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        problem = as_problem(self.problem)
        single = isinstance(problem, (Binary, Multiclass, Ordinal))
        tags.classifier_tags.multi_label = not single
        tags.classifier_tags.multi_class = not isinstance(problem, Binary)
        # Grades that mean nothing are learnt by a loss that counts the steps between them.
        tags.classifier_tags.poor_score = isinstance(problem, Ordinal)
        return tags

    def _to_file(self) -> tuple[dict[str, Any], persist.Arrays]:
        described = problem_to_json(self._settings["problem"])
        header, arrays = super()._to_file()
        params = {**self.get_params(deep=False), "problem": problem_to_json(self.problem)}
        settings = {**self._settings, "problem": described}
        return {**header, "params": params, "settings": settings}, arrays

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: persist.Arrays) -> Self:
        params = {**header["params"], "problem": problem_from_json(header["params"]["problem"])}
        settings = header["settings"]
        settings = {**settings, "problem": as_problem(problem_from_json(settings["problem"]))}
        return super()._from_file({**header, "params": params, "settings": settings}, arrays)


def _rows_of(documents: Sequence[Example]) -> sp.csr_array:
    pairs = [as_pairs(document) for document in documents]
    if not pairs:
        raise ValueError("a query must have documents, got none")
    indices = np.concatenate([each[0] for each in pairs]).astype(np.int64)
    if indices.min(initial=0) < 0 or indices.max(initial=0) >= 2**31:
        raise ValueError(f"feature indices must be from 0 to {2**31 - 1}")
    values = np.concatenate([each[1] for each in pairs]).astype(np.float64)
    ends = np.cumsum([0, *(len(each[0]) for each in pairs)])
    return sp.csr_array((values, indices, ends), shape=(len(pairs), int(indices.max(initial=0)) + 1))
