"""Predtron (P5): perceptrons for general prediction problems."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.batches import means_growing
from tagalong.learning.certificates.loss_bound import LossCertificate
from tagalong.learning.estimators import restored_on_error
from tagalong.learning.examples import Pair, as_matrix
from tagalong.learning.labels import Labels, Targets
from tagalong.learning.protocols import Task
from tagalong.learning.rounds import Round, Rounds
from tagalong.online.cutoff_ranker import CutoffRanker
from tagalong.online.label_model import Settings
from tagalong.online.label_ranker.learner import LARGEST_BUDGET
from tagalong.online.native import NativePredtron
from tagalong.online.predtron.python_engine import PythonEngine, core_of
from tagalong.online.predtron.queries import checked_grades, checked_group, rows_of
from tagalong.online.predtron.rejection import confidences, is_rejected
from tagalong.online.predtron.settings import checked_settings
from tagalong.online.predtron.structured_batches import Learn, answer_batch, query_batch
from tagalong.online.ranker import Example
from tagalong.online.weights import matrix_of, own_weights
from tagalong.problems.binary import Binary
from tagalong.problems.builtin import BuiltinProblem
from tagalong.problems.multiclass import Multiclass
from tagalong.problems.multilabel import Multilabel
from tagalong.problems.names import as_problem, problem_from_json, problem_to_json
from tagalong.problems.ordinal import Ordinal
from tagalong.problems.reject import REJECT
from tagalong.problems.subset_ranking import SubsetRanking

__all__ = ["Predtron"]


class Predtron(CutoffRanker):
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
    >>> classifier = Predtron(Multiclass(reject=0.05), passes=5, average=True)
    >>> predicted = classifier.fit(X[:1000], y[:1000]).predict(X[1000:])
    >>> sure = predicted != REJECT
    >>> print(f"{sure.mean():.0%} predicted")
    83% predicted
    >>> print(f"{(predicted == y[1000:])[sure].mean():.0%} of them right")
    97% of them right
    """

    _native: NativePredtron | PythonEngine

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
        if _labels_are_predicted(as_problem(self.problem)):
            self._refuse_group(group)
            return super().fit(X, y, sample_weight)
        passes = parameters.integer(self.passes, "passes", 1)
        with restored_on_error(self):
            settings = self._checked_settings()
            X = self._validate(X, reset=True)
            matrix = as_matrix(X)
            self._start_with(settings, Labels(), single=False, matrix=matrix)
            learn = self._batch(X, y, sample_weight, group)
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
            self.start()
            X = rows_of(documents)
            learn = self._batch(X, grades, [weight], None)
        out: list[npt.NDArray[Any]] = []
        learn(out)
        return out[0]

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K).

        Of two classes it is one score, (rows,), above 0 for the second one. Documents have one
        score each, (rows,). A problem of your own has as many as its dimension.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        """
        if not self._has_labels():
            matrix = self._checked_matrix(X)
            if self._ranks_documents():
                scores = self._core().query_scores(matrix, 0, matrix.shape[0], True)
                return np.asarray(scores, dtype=self._settings["dtype"])
            rows = range(matrix.shape[0])
            return np.stack([self._outside().raw_scores(matrix, row, True) for row in rows])
        scores, _ = self._scores(X)
        if isinstance(self._known(), Binary) and scores.shape[1] == 2 and self._single:
            one = self._known().dimension == 1
            return np.asarray(scores[:, 1] if one else scores[:, 1] - scores[:, 0])
        if self._single and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: Any, group: Any = None) -> npt.NDArray[Any]:
        """Return the predictions of rows.

        Classes, or REJECT, where there was one label a row; otherwise an indicator of the labels
        that score at least ``cutoff_``, or of the one class. Documents get their place in the
        ranking of their query, from 1. A problem of your own is asked for its predictions.

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
            for begin, end in pairwise(ends.tolist()):
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

    def rank(self, X: Any, k: int | None = None) -> npt.NDArray[Any]:
        """Return the k best labels of each row, or all of them, best first: (rows, k).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        k : int, optional
            How many; all of them by default.
        """
        self._require_labels("rank")
        return super().rank(X, k)

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Add labels, with no weights yet, that take part from the next round on.

        Parameters
        ----------
        labels : collection of labels
            Distinct from each other and from those there are.
        """
        self._require_labels("add_labels")
        return super().add_labels(labels)

    def confidence(self, X: Any) -> npt.NDArray[np.float64]:
        """Return how often predictions with such scores have been right lately, (rows,).

        Counted in the rounds so far, each before it was learnt. For problems with one class a row;
        `tagalong.evaluate.coverage_curve` makes a curve of it.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        if not isinstance(self._known(), (Binary, Multiclass, Ordinal)):
            raise ValueError(
                f"confidence is for problems with one class a row, not {self.problem!r}"
            )
        return confidences(self._native, self._scores(X)[0])

    def _predicted_classes(self, X: Any) -> npt.NDArray[Any]:
        scores, _ = self._scores(X)
        problem = self._known()
        best = scores.argmax(axis=1)  # of two classes with one score, 0 is the first one's
        rejects = bool(getattr(problem, "reject", None))
        rejected = np.zeros(len(scores), dtype=bool)
        if rejects:
            rejected = is_rejected(problem, scores, best, confidences(self._native, scores))
        if not self._single:
            out = np.zeros(scores.shape, dtype=np.int64)
            out[np.arange(len(out)), best] = ~rejected
            return out
        found = self.classes_[best]
        if rejects:
            found = found.astype(object)
            found[rejected] = REJECT
        return np.asarray(found)

    def score(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> float:
        """Return the accuracy, the label-ranking average precision, or one minus the mean loss.

        With a reject option REJECT counts as wrong: see `tagalong.evaluate.coverage_curve`. Subset
        ranking and problems of your own have one minus the mean loss, which is NDCG or precision
        at k for queries.

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
            if self._single and getattr(problem, "reject", None):
                found = zip(self.predict(X), y, strict=True)
                right = [a is not REJECT and a == b for a, b in found]
                return float(np.average(right, weights=sample_weight))
            return super().score(X, y, sample_weight)
        scores = self.decision_function(X)
        if self._ranks_documents():
            ends = checked_group(group, len(scores))
            grades = checked_grades(y, len(scores))
            spans = [slice(a, b) for a, b in pairwise(ends.tolist())]
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
        if isinstance(problem, BuiltinProblem) and problem.dimension is None:  # type: ignore[attr-defined]
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
        features, weights = own_weights(self._native.weights())
        if isinstance(self._known(), Binary) and weights.shape[1] == 2:
            one = self._known().dimension == 1
            weights = weights[:, 1:] if one else weights[:, 1:] - weights[:, :1]
        found = matrix_of(features, weights, self._declared_features())
        if self._ranks_documents() and isinstance(found, np.ndarray):
            return np.asarray(found[0])
        return found

    @property
    def task(self) -> Task:
        """What it predicts, which its problem says."""
        if self._has_labels():
            return "labels"
        return "documents" if self._ranks_documents() else "answers"

    @property
    def learns_rows(self) -> bool:
        """Whether it offers ``watch_rows``: with a problem that has labels."""
        return self._has_labels()

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``: in the norms other than l2."""
        return self.norm != "l2"

    # What problem it is.

    def _known(self) -> Any:
        """Return the problem, as it was when learning began."""
        return self._settings["problem"] if self.is_started else as_problem(self.problem)

    def _has_labels(self) -> bool:
        return _labels_are_predicted(self._known())

    def _ranks_documents(self) -> bool:
        return isinstance(self._known(), SubsetRanking)

    def _refuse_group(self, group: Any) -> None:
        if group is not None:
            raise ValueError("group is for subset ranking; this learner has another problem")

    def _require_labels(self, call: str) -> None:
        if not self._has_labels():
            raise ValueError(f"{call} is for problems with labels, not for {self._known()!r}")

    def _core(self) -> Any:
        return self._native

    def _outside(self) -> PythonEngine:
        native: Any = self._native
        return native  # type: ignore[no-any-return]

    # Learning rows whose answers are no labels.

    def _learn_rows(
        self, X: Any, Y: Any, sample_weight: Any, group: Any, out: list[npt.NDArray[Any]] | None
    ) -> None:
        with restored_on_error(self):
            X = self._validate(X, reset=not hasattr(self, "n_features_in_"))
            if not self.is_started:
                self._start_with(
                    self._checked_settings(), Labels(), single=False, matrix=as_matrix(X)
                )
            learn = self._batch(X, Y, sample_weight, group)
        learn(out)

    def _batch(self, X: Any, y: Any, sample_weight: Any, group: Any) -> Learn:
        """Check a batch, and return what learns it."""
        matrix = as_matrix(X)
        self._native.check(matrix)
        most = self._largest_weight(self._settings)
        if self._ranks_documents():
            return query_batch(self._core(), self._settings, X, y, sample_weight, group, most)
        self._refuse_group(group)
        return answer_batch(self._outside(), X, y, sample_weight, most)

    # What OnlineRanker asks for.

    def _pairs(self, x: Example, learning: bool) -> tuple[Pair, list[str]]:
        self._require_labels("a single example")
        return super()._pairs(x, learning)

    def _learn_example(
        self, x: Example, y: Any, unknown: Collection[Hashable], weight: float, watched: bool
    ) -> Round:
        self._require_labels("learn_one")
        return super()._learn_example(x, y, unknown, weight, watched)

    def _first_labels(self, Y: Any, classes: Any, fitting: bool) -> Labels:
        return self._levels(means_growing(classes)) or super()._first_labels(Y, classes, fitting)

    def _open_labels(self) -> Labels:
        if not self._has_labels():
            return Labels()
        return self._levels(growing=True) or super()._open_labels()

    def _levels(self, growing: bool) -> Labels | None:
        """Return the levels of an ordinal problem, if it says what they are."""
        problem = as_problem(self.problem)
        if not isinstance(problem, Ordinal):
            return None
        if problem.levels is not None:
            return Labels(problem.levels)
        if growing:
            raise ValueError(
                "levels have an order, in which they do not appear: give Ordinal(levels)"
            )
        return None

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
        return checked_settings(self)

    def _check_surgery(self) -> None:
        if self._settings["norm"] in ("kernel", "trace"):
            raise ValueError(
                "with a kernel or the trace norm, weights can be changed by learning only"
            )

    def _check_start(self, settings: Settings, labels: int, features: int) -> None:
        if settings["norm"] in ("l1", "group", "trace") and not features:
            raise ValueError(
                f"norm={settings['norm']!r} needs the number of features: give n_features, or "
                "begin with a matrix"
            )

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_BUDGET[settings["dtype"]] / max(1.0, float(settings.get("step", 0.0)))

    @staticmethod
    def _make_native(settings: Settings) -> NativePredtron | PythonEngine:
        problem = settings["problem"]
        quick = isinstance(problem, BuiltinProblem) and problem.is_known_to_the_core
        if isinstance(problem, SubsetRanking) or (quick and settings["norm"] != "trace"):
            return core_of(settings)
        return PythonEngine(settings)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        problem = as_problem(self.problem)
        single = isinstance(problem, (Binary, Multiclass, Ordinal))
        tags.classifier_tags.multi_label = not single
        tags.classifier_tags.multi_class = not isinstance(problem, Binary)
        # Grades that mean nothing are learnt by a loss that counts the steps between them.
        tags.classifier_tags.poor_score = isinstance(problem, Ordinal)
        return tags

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a file."""
        described = problem_to_json(self._settings["problem"])
        header, arrays = super().to_parts()
        params = {**self.get_params(deep=False), "problem": problem_to_json(self.problem)}
        settings = {**self._settings, "problem": described}
        return {**header, "params": params, "settings": settings}, arrays

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Return the model that ``to_parts`` took apart.

        Parameters
        ----------
        header : dict
            What can be said in JSON.
        arrays : dict
            Arrays by name.
        """
        params = {**header["params"], "problem": problem_from_json(header["params"]["problem"])}
        settings = header["settings"]
        settings = {**settings, "problem": as_problem(problem_from_json(settings["problem"]))}
        return super().from_parts({**header, "params": params, "settings": settings}, arrays)


def _labels_are_predicted(problem: Any) -> bool:
    return isinstance(problem, BuiltinProblem) and not isinstance(problem, SubsetRanking)
