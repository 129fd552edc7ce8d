"""Predtron (P5): perceptrons for general prediction problems."""

from typing import Any, Self

import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tagalong.learning.certificates.loss_bound import LossCertificate
from tagalong.learning.labels import Labels
from tagalong.learning.protocols import Task
from tagalong.online.predtron.delegation import DelegatingEstimator, delegated, delegated_chained
from tagalong.online.predtron.label_learner import ONE_CLASS_PER_ROW, LabelPredtron
from tagalong.online.predtron.query_learner import QueryPredtron
from tagalong.online.predtron.unsupported_calls import GROUP_UNSUPPORTED
from tagalong.problems.binary import Binary
from tagalong.problems.names import as_problem
from tagalong.problems.ordinal import Ordinal

__all__ = ["Predtron"]


class Predtron(ClassifierMixin, DelegatingEstimator):
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, group: Any = None) -> Self:
        """Learn from scratch, in the given order, ``passes`` times.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            Scales the step of each round; one of weight 0 is passed over. For subset ranking one
            number per query.
        group : sequence of int, optional
            For subset ranking: how many rows each query has. None means that all are one query.
        """
        learner = self._new_learner()
        self._run(
            learner, "fit", X, y, sample_weight=sample_weight, **_group_argument(learner, group)
        )
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
            Scales the step of each round; one of weight 0 is passed over. For subset ranking one
            number per query.
        group : sequence of int, optional
            For subset ranking: how many rows each query has. None means that all are one query.
        """
        self._learn_batch("partial_fit", X, Y, classes, sample_weight, group)
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
        found: npt.NDArray[Any] = self._learn_batch(
            "predict_then_learn", X, Y, classes, sample_weight, group
        )
        return found

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K).

        Of two classes it is one score, (rows,), above 0 for the second one. Documents have one
        score each, (rows,). A problem of your own has as many as its dimension.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        """
        return self._current_learner().decision_function(X)

    def predict(self, X: Any, group: Any = None) -> npt.NDArray[Any]:
        """Return the predictions of rows.

        Classes, or REJECT, where there was one label per row; otherwise an indicator of the labels
        that score at least ``cutoff_``, or of the one class. Documents get their place in the
        ranking of their query, from 1. A problem of your own is asked for its predictions.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples, or documents.
        group : sequence of int, optional
            For subset ranking: how many rows each query has. None means that all are one query.
        """
        learner = self._current_learner()
        return learner.predict(X, **_group_argument(learner, group))

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
        learner = self._problem_learner
        return learner.score(X, y, sample_weight, **_group_argument(learner, group))

    # What every part offers.

    start = delegated(LabelPredtron.start)
    probabilities = delegated(LabelPredtron.probabilities)
    own_feature_names = delegated(LabelPredtron.own_feature_names)
    weights_by_feature = delegated(LabelPredtron.weights_by_feature)
    feature_lengths = delegated(LabelPredtron.feature_lengths)
    keep_features = delegated(LabelPredtron.keep_features)

    # What some parts offer; `refusals` has what the others answer.

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
    confidence = delegated(LabelPredtron.confidence)
    add_labels = delegated_chained(LabelPredtron.add_labels)
    rename_label = delegated(LabelPredtron.rename_label)
    forget_labels = delegated(LabelPredtron.forget_labels)
    merge_labels = delegated(LabelPredtron.merge_labels)
    watch_query = delegated(QueryPredtron.watch_query)

    # Attributes.

    @property
    def task(self) -> Task:
        """What it predicts, which its problem says."""
        return self._current_learner().task

    @property
    def learns_online(self) -> bool:
        """Whether it learns one example after the other: True."""
        return True

    @property
    def learns_rows(self) -> bool:
        """Whether it offers ``watch_rows``: with a problem that has labels."""
        return self._current_learner().learns_rows

    @property
    def labels(self) -> Labels:
        """The labels so far, by number and by name; none before it has started."""
        return self._problem_learner.labels if self.is_started else Labels()

    @property
    def largest_weight(self) -> float:
        """The largest weight of an example that the arithmetic can bear."""
        return self._current_learner().largest_weight

    @property
    def bytes_of_weights(self) -> int:
        """The memory that the weights take."""
        return self._started_learner("bytes_of_weights").bytes_of_weights

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of their columns."""
        return self._started_learner("classes_").classes_

    @property
    def cutoff_(self) -> float:
        """The score from which ``predict`` includes a label."""
        return self._started_learner("cutoff_").cutoff_

    @property
    def certificate_(self) -> LossCertificate:
        """What the learner can prove about the rounds so far."""
        return self._started_learner("certificate_").certificate_

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights that predict, (K, n); (1, n) of two classes, (n,) of documents."""
        return self._started_learner("coef_").coef_

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the matrices seen."""
        return int(self._started_learner("n_features_in_").n_features_in_)

    @property
    def feature_names_in_(self) -> npt.NDArray[Any]:
        """The columns of the first DataFrame."""
        found: npt.NDArray[Any] = self._started_learner("feature_names_in_").feature_names_in_
        return found

    def _learn_batch(
        self, call: str, X: Any, Y: Any, classes: Any, sample_weight: Any, group: Any
    ) -> Any:
        learner = self._current_learner()
        options = _group_argument(learner, group)
        if isinstance(learner, LabelPredtron):
            options["classes"] = classes
        return self._run(learner, call, X, Y, sample_weight=sample_weight, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        problem = as_problem(self.problem)
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = not isinstance(problem, ONE_CLASS_PER_ROW)
        tags.classifier_tags.multi_class = not isinstance(problem, Binary)
        # Grades that mean nothing are learnt by a loss that counts the steps between them.
        tags.classifier_tags.poor_score = isinstance(problem, Ordinal)
        return tags


def _group_argument(learner: Any, group: Any) -> dict[str, Any]:
    """Return the sizes of queries as an argument of a learner; ValueError if it takes none."""
    if isinstance(learner, QueryPredtron):
        return {"group": group}
    if group is not None:
        raise ValueError(GROUP_UNSUPPORTED)
    return {}
