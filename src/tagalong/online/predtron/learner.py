"""Predtron (P5): perceptrons for general prediction problems."""

from typing import Any, Self

import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tagalong.learning.certificates.loss_bound import LossCertificate
from tagalong.learning.drift import Drift
from tagalong.learning.input_types import Classes, MatrixLike, SampleWeight
from tagalong.learning.labels import Labels
from tagalong.learning.protocols import Task
from tagalong.online.predtron.delegation import (
    DelegatingEstimator,
    ProblemLearner,
    delegated,
    delegated_chained,
)
from tagalong.online.predtron.label_learner import ONE_CLASS_PER_ROW, LabelPredtron
from tagalong.online.predtron.query_learner import QueryPredtron
from tagalong.online.predtron.unsupported_calls import GROUP_UNSUPPORTED
from tagalong.problems.binary import Binary
from tagalong.problems.ordinal import Ordinal
from tagalong.problems.registry import as_problem

__all__ = ["Predtron"]


class Predtron(ClassifierMixin, DelegatingEstimator):
    r"""A perceptron for general prediction problems.

    A problem represents every prediction :math:`\sigma` by a vector of length 1 and predicts
    :math:`\mathrm{argmax}_\sigma \langle \mathrm{rep}(\sigma), Wx\rangle`. If the prediction has a
    positive loss :math:`L` against the target y, the weights move by

    .. math:: W \mathrel{-}= \eta\, (\mathrm{rep}(\tilde\sigma) - \mathrm{rep}(\sigma_y))\, x^\top

    with a correct :math:`\sigma_y` and the prediction :math:`\tilde\sigma` of loss-augmented
    decoding, which maximises loss plus score.

    Parameters
    ----------
    problem : str or Problem, default "label-ranking"
        The prediction problem: ``"binary"``, ``"multiclass"``, ``"ordinal"``, ``"multilabel"``,
        ``"label-ranking"``, ``"subset-ranking"``, an object from `tagalong.problems`, or a custom
        problem.
    norm : str or Norm, default "l2"
        The norm of the competitor's weights in the bound: ``"l2"``; ``"l1"`` (sparse weights);
        ``"group"`` (few relevant features, shared by all labels); ``"trace"`` (low rank; dense,
        one SVD per step, for small problems); or a custom norm, see `tagalong.norms` (dense too).
    update : str, default "mistake"
        ``"mistake"`` is Algorithm 1. ``"loss"`` moves away from the prediction itself, in
        proportion to its loss; the paper's appendix on it is missing, so it is a reconstruction.
    step : float, optional
        The learning rate :math:`\eta`. None means the step of the theory, :math:`c_L / 4R^2` with
        the largest norm R so far; for ``update="loss"``, whose bound holds for any step, 1.
    average : bool, default False
        Predict with the mean of the weights over the rounds. No bound is proven for it.
    kernel : str, optional
        ``"linear"``, ``"rbf"`` or ``"poly"``: keep support examples instead of weights.
    budget : int, optional
        The largest number of support examples of a kernel; the one whose term
        in the weights has the smallest norm is dropped. None means no limit.
    gamma : float, default 1.0
        Parameter of the kernels rbf, exp(-gamma |x - z|^2), and poly, (gamma x.z + 1)^degree.
    degree : float, default 3
        Parameter of the kernel poly.
    normalize : bool, default False
        Scale rows to length 1; for the norms l1 and group, to a largest absolute entry of 1.
    constant : float, default 0.0
        The value of a constant feature; 0 for none.
    passes : int, default 1
        The number of passes of ``fit`` over the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features. Norms other than l2 need it, unless a matrix is learnt first.
    dtype : "float32" or "float64", default "float32"
        The type in which weights are stored and scores are summed.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array of shape (K, n)
        The weights used for predictions; (1, n) for two classes, (n,) for documents. Not available
        with a kernel. Scores are ``X @ coef_.T + intercept_``, where the rows of X are normalised
        as ``normalize`` says.
    intercept_ : array of shape (K,)
        The contribution of the constant feature to the scores; (1,) for two classes.
    certificate_ : LossCertificate
        Rounds, mistakes and loss so far, and the bound on the loss if one is proven.
    cutoff_ : float
        The threshold: ``predict`` returns the labels that score at least this. Infinity until an
        example has had a relevant label with a score other than 0: nothing is predicted.
    n_features_in_ : int
        The number of columns of the training matrices.
    feature_names_in_ : array of str
        The column names of the first DataFrame.

    Notes
    -----
    Targets are as for `LabelRanker`. Binary, multiclass and ordinal problems take one label per
    row. For subset ranking, rows are documents, y has their grades, and ``group`` has the sizes of
    the queries. A custom problem receives the entries of y unchanged.

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

    def fit(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch: ``passes`` times over the rows, in the given order.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            Scales the step of each round; rounds of weight 0 are skipped. For subset ranking: one
            number per query.
        group : sequence of int, optional
            For subset ranking: the number of rows of each query. None means one query.
        """
        learner = self._new_learner()
        self._run(
            learner, "fit", X, y, sample_weight=sample_weight, **_group_argument(learner, group)
        )
        return self

    def partial_fit(
        self,
        X: MatrixLike,
        Y: Any,
        classes: Classes = None,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
        judged: bool | float = True,
    ) -> Self:
        """Learn a batch round by round. The whole batch is validated before any round is learnt.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            On the first call: all labels, or "grow" to let new labels appear at any time. Optional
            if Y is an indicator matrix, whose columns then are the labels.
        sample_weight : array of shape (rows,), optional
            Scales the step of each round; rounds of weight 0 are skipped. For subset ranking: one
            number per query.
        group : sequence of int, optional
            For subset ranking: the number of rows of each query. None means one query.
        judged : bool or float, default True
            For problems with labels: False for rows that were learnt before. Then only weights
            change. A number above 1 means that each row stands for so many.
        """
        self._learn_batch("partial_fit", X, Y, classes, sample_weight, group, judged=judged)
        return self

    def predict_then_learn(
        self,
        X: MatrixLike,
        Y: Any,
        classes: Classes = None,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
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
            The scores that ``decision_function`` would have returned for each row at that moment.
            For subset ranking (rows,): the scores of documents before their query was learnt.
        """
        found: npt.NDArray[Any] = self._learn_batch(
            "predict_then_learn", X, Y, classes, sample_weight, group
        )
        return found

    def decision_function(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K).

        Two classes have one score per row, (rows,), above 0 for the second class. Documents have
        one score each, (rows,). A custom problem has ``dimension`` scores per row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        """
        return self._current_learner().decision_function(X)

    def predict(self, X: MatrixLike, group: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return the predictions of rows.

        If targets had one label per row: the class, or REJECT. Otherwise an indicator of the labels
        that score at least ``cutoff_``, or of the predicted class. Documents get their rank within
        their query, from 1. A custom problem decodes the scores itself.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        group : sequence of int, optional
            For subset ranking: the number of rows of each query. None means one query.
        """
        learner = self._current_learner()
        return learner.predict(X, **_group_argument(learner, group))

    def score(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: SampleWeight = None,
        group: npt.ArrayLike | None = None,
    ) -> float:
        """Return the accuracy, the label-ranking average precision, or one minus the mean loss.

        Problems with labels have the accuracy of a classifier, otherwise the average precision. A
        rejected row counts as wrong; see `tagalong.evaluate.coverage_curve`. Subset ranking and
        custom problems have one minus the mean loss, which for queries is NDCG or precision at k.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        y : targets
            See Notes. Labels of unknown relevance count as irrelevant here.
        sample_weight : array of shape (rows,), optional
            Weights of the rows, or of the queries.
        group : sequence of int, optional
            For subset ranking: the number of rows of each query.
        """
        check_is_fitted(self)
        learner = self._problem_learner
        return learner.score(X, y, sample_weight, **_group_argument(learner, group))

    # Methods of all learners.

    start = delegated(LabelPredtron.start)
    probabilities = delegated(LabelPredtron.probabilities)
    own_feature_names = delegated(LabelPredtron.own_feature_names)
    weights_by_feature = delegated(LabelPredtron.weights_by_feature)
    feature_lengths = delegated(LabelPredtron.feature_lengths)
    keep_features = delegated(LabelPredtron.keep_features)
    set_one_label = delegated(LabelPredtron.set_one_label)

    # Methods of some learners; `unsupported_calls` has the errors of the others.

    watch = delegated(LabelPredtron.watch)
    learn_one = delegated_chained(LabelPredtron.learn_one)
    watch_one = delegated(LabelPredtron.watch_one)
    check_example = delegated(LabelPredtron.check_example)
    encode_rows = delegated(LabelPredtron.encode_rows)
    watch_rows = delegated(LabelPredtron.watch_rows)
    rank = delegated(LabelPredtron.rank)
    rank_one = delegated(LabelPredtron.rank_one)
    score_one = delegated(LabelPredtron.score_one)
    explain_one = delegated(LabelPredtron.explain_one)
    find_places = delegated(LabelPredtron.find_places)
    judge_rows = delegated(LabelPredtron.judge_rows)
    places_one = delegated(LabelPredtron.places_one)
    predict_proba = delegated(LabelPredtron.predict_proba)
    predict_log_proba = delegated(LabelPredtron.predict_log_proba)
    coverage = delegated(LabelPredtron.coverage)
    label_precision = delegated(LabelPredtron.label_precision)
    count_mistake = delegated(LabelPredtron.count_mistake)
    confidence = delegated(LabelPredtron.confidence)
    add_labels = delegated_chained(LabelPredtron.add_labels)
    rename_label = delegated(LabelPredtron.rename_label)
    forget_labels = delegated(LabelPredtron.forget_labels)
    merge_labels = delegated(LabelPredtron.merge_labels)
    watch_query = delegated(QueryPredtron.watch_query)
    score_query = delegated(QueryPredtron.score_query)

    # Attributes.

    @property
    def task(self) -> Task:
        """The kind of prediction, which depends on the problem."""
        return self._current_learner().task

    @property
    def learns_online(self) -> bool:
        """Whether it learns one example at a time: True."""
        return True

    @property
    def learns_rows(self) -> bool:
        """Whether ``encode_rows`` and ``watch_rows`` exist: for problems with labels."""
        return self._current_learner().learns_rows

    @property
    def scores_natively(self) -> bool:
        """Whether scoring rows runs no code in Python."""
        return self._current_learner().scores_natively

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label: by the problem, or noticed."""
        return self._current_learner().has_one_label

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades, which have an order: with an ordinal problem."""
        return self._current_learner().has_grades

    @property
    def labels_come_in_runs(self) -> bool:
        """Whether labels came in runs far beyond chance; nothing is sure while they do."""
        return self._current_learner().labels_come_in_runs

    @property
    def drift(self) -> Drift | None:
        """The last change of the answers: None, as it does not look for changes."""
        return self._current_learner().drift

    @property
    def labels(self) -> Labels:
        """The known labels, by number and by name; empty before the start."""
        return self._problem_learner.labels if self.is_started else Labels()

    @property
    def largest_weight(self) -> float:
        """The largest weight of an example that cannot overflow the model's weights."""
        return self._current_learner().largest_weight

    @property
    def bytes_of_weights(self) -> int:
        """The memory used by the weights, in bytes."""
        return self._started_learner("bytes_of_weights").bytes_of_weights

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of their columns."""
        return self._started_learner("classes_").classes_

    @property
    def cutoff_(self) -> float:
        """The threshold: ``predict`` returns the labels that score at least this."""
        return self._started_learner("cutoff_").cutoff_

    @property
    def certificate_(self) -> LossCertificate:
        """The certificate of the rounds so far: counts, losses and the proven bound."""
        return self._started_learner("certificate_").certificate_

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights used for predictions, (K, n); (1, n) for two classes, (n,) for documents."""
        return self._started_learner("coef_").coef_

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        """The contribution of the constant feature to the scores, (K,); (1,) for two classes."""
        found: npt.NDArray[Any] = self._started_learner("intercept_").intercept_
        return found

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the training matrices."""
        return int(self._started_learner("n_features_in_").n_features_in_)

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The column names of the first DataFrame."""
        found: npt.NDArray[Any] = self._started_learner("feature_names_in_").feature_names_in_
        return found

    def _learn_batch(
        self,
        call: str,
        X: MatrixLike,
        Y: Any,
        classes: Classes,
        sample_weight: SampleWeight,
        group: npt.ArrayLike | None,
        **label_options: object,
    ) -> Any:
        learner = self._current_learner()
        options = _group_argument(learner, group)
        if isinstance(learner, LabelPredtron):
            options |= {"classes": classes, **label_options}
        return self._run(learner, call, X, Y, sample_weight=sample_weight, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        problem = as_problem(self.problem)
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = not isinstance(problem, ONE_CLASS_PER_ROW)
        tags.classifier_tags.multi_class = not isinstance(problem, Binary)
        # scikit-learn's checks use unordered classes; the ordinal loss assumes an order.
        tags.classifier_tags.poor_score = isinstance(problem, Ordinal)
        return tags


def _group_argument(learner: ProblemLearner, group: npt.ArrayLike | None) -> dict[str, Any]:
    """Return the keyword argument ``group`` for a learner; ValueError if it takes none."""
    if isinstance(learner, QueryPredtron):
        return {"group": group}
    if group is not None:
        raise ValueError(GROUP_UNSUPPORTED)
    return {}
