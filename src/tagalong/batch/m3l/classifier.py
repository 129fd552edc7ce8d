"""Max-margin multi-label classification with a prior on label correlations (P4, M3L)."""

import warnings
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong import parameters
from tagalong.batch.learner import BatchLearner
from tagalong.batch.m3l import files
from tagalong.batch.m3l.fit import Fit
from tagalong.batch.m3l.kernels import KERNELS, KernelFunction
from tagalong.batch.m3l.losses import checked_cost
from tagalong.batch.m3l.matrices import is_sparse
from tagalong.batch.m3l.models import LinearModel
from tagalong.batch.m3l.training import Solution, Training, solve, thread_count
from tagalong.learning import model_files
from tagalong.learning.batches import check_sample_weight, initial_labels
from tagalong.learning.estimators import (
    columns_of,
    restore_columns,
    restored_on_error,
    validated,
)
from tagalong.learning.examples import as_matrix
from tagalong.learning.input_types import MatrixLike, TargetsLike
from tagalong.learning.labels import label_array
from tagalong.learning.metrics import accuracy, average_precision

__all__ = ["M3LClassifier"]

Array = npt.NDArray[Any]

SOLVERS = ("auto", "smo")
LARGEST_BOUND = 1e12
LARGEST_WEIGHT = 1e12
LARGEST_CONSTANT = 1e6
DENSE_COEF_LIMIT = 50_000_000


class M3LClassifier(ClassifierMixin, BatchLearner):
    r"""Max-margin multi-label classifier with a prior on label correlations.

    The score of label :math:`l` is :math:`z_l \cdot \phi(x)`; the label is predicted if its score
    is at least 0. The weights solve

    .. math:: \min_Z \tfrac12 \sum_{lk} (R^{-1})_{lk} \, z_l \cdot z_k
              + C \sum_{il} \max(0, \Delta_{il} - 2 y_{il}\, z_l \cdot \phi(x_i)),

    through the dual, which needs :math:`R` and not its inverse. With :math:`R = I` this is one
    support vector machine per label, with the penalty :math:`2C`. With `constant`, :math:`\phi(x)`
    is :math:`x` with a constant feature appended.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the loss relative to the squared length of the weights.
    prior : None, "cooccurrence" or array of shape (K, K), optional
        The prior R on label correlations: symmetric and positive semi-definite, with a tolerance of
        1e-6 times its largest entry or eigenvalue. It may be singular. None: labels are
        independent. ``"cooccurrence"``: :math:`n_{lk} / \sqrt{n_l n_k}` from the counts in the
        training data. `attribute_prior` makes a prior from the attributes of categories.
    kernel : str or callable, default "linear"
        ``"linear"``, ``"rbf"``, ``"poly"``, ``"precomputed"``, or a function of two matrices.
        ``"linear"`` has its own solver, which handles much larger data.
    gamma : float or str, default "scale"
        Coefficient of ``"rbf"`` and ``"poly"``: a number, ``"scale"`` for 1 / (columns × variance
        of X), or ``"auto"`` for 1 / columns.
    degree : int, default 3
        Degree of ``"poly"``.
    coef0 : float, default 0.0
        Constant term of ``"poly"``.
    loss : str or mapping, default "hamming"
        ``"hamming"`` counts wrong labels. A mapping gives the costs of ``"miss"`` and
        ``"false_alarm"``: a number, one number per label, or a mapping of labels to numbers. The
        Hamming loss has costs of 1. ``"prior"`` is the paper's loss tied to the prior,
        :math:`2 y_{il} (R y_i)_l`, for a diagonally dominant R.
    class_weight : mapping or "balanced", optional
        Factor on C per label, for the rows in which the label is relevant. With one label per row,
        it is the factor on the rows of that label, for all labels. ``"balanced"`` gives the
        relevant and the irrelevant rows of each label the same total weight.
    tol : float, default 1e-3
        Training stops once no variable's projected derivative exceeds ``tol``. With the Hamming
        loss, the derivative at score 0 is 2 in absolute value.
    max_iter : int, default 1000
        Maximum number of passes over the rows (linear kernel), or of steps per variable (other
        kernels).
    cache_size : float, default 200
        Size of the cache of kernel products, in megabytes.
    warm_start : bool, default False
        Whether ``fit`` starts from the last solution, if the number of rows and the labels are
        the same.
    n_jobs : int, optional
        Number of threads; -1 for all processors. The result does not depend on it, to the bit.
    random_state : int or RandomState, optional
        Seed of the order of the steps.
    verbose : int, default 0
        Whether to print progress to standard error.
    constant : float, default 0.0
        The value of a constant feature, whose weights are the labels' intercepts; 0 for no constant
        feature. The weights are regularised, the less the larger the value. For the linear kernel
        only; the constant term of ``"poly"`` is `coef0`.
    solver : "auto" or "smo", default "auto"
        ``"auto"`` is the fast solver of the kernel. ``"smo"`` is the paper's algorithm, corrected:
        Algorithm 1, which chooses label and pair of variables among all labels, or for the linear
        kernel the coordinate ascent of Section 6. It is slower, reaches the same optimum and
        counts iterations as the paper does.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array or CSR array of shape (K, n)
        The weights, for the linear kernel only; sparse if large.
    intercept_ : array of shape (K,)
        The contribution of the constant feature to the scores, for the linear kernel only.
    dual_coef_ : array of shape (rows, K)
        The dual variables times the signs of the labels. For other kernels than the linear one,
        only the rows of ``support_``.
    support_ : array of int
        The rows with a nonzero dual variable; not for the linear kernel.
    dual_objective_ : float
        The dual value, a lower bound of the objective's minimum.
    duality_gap_ : float
        The objective minus the dual value.
    n_iter_ : int
        Number of passes (linear kernel) or steps on a pair of variables (other kernels). With
        ``solver="smo"`` and the linear kernel, number of visited variables.
    cutoff_ : float
        The lowest score at which a label is predicted: 0.
    n_features_in_ : int
        The number of columns of the training data.
    feature_names_in_ : array of str
        The names of these columns, if X was a DataFrame.
    fit_report_ : FitReport
        How `tagalong.distributed.fit` has fitted the model; only after that. It is not saved.

    Notes
    -----
    Targets may be an indicator matrix, a list of collections of labels, or one label per row. NaN
    in an indicator means that the relevance is unknown. If a column is all NaN, the prior alone
    determines the scores of its label.

    Without `constant` there is no intercept. An interrupted ``fit`` keeps the
    solution so far and raises KeyboardInterrupt; without a prior, labels whose training had not
    started score 0.

    References
    ----------
    Hariharan, Vishwanathan, Varma: Efficient Max-Margin Multi-Label Classification with
    Applications to Zero-Shot Learning. Machine Learning 88, 2012.

    Examples
    --------
    >>> from tagalong import M3LClassifier
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> Y = [["money"], ["money", "bank"], ["travel"], ["travel"]]
    >>> model = M3LClassifier(random_state=0).fit(X, Y)
    >>> model.rank([[1.0, 0.1]], k=1).tolist()
    [['money']]
    """

    fit_report_: Any

    def __init__(
        self,
        C: float = 1.0,
        prior: str | MatrixLike | None = None,
        kernel: str | KernelFunction = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        loss: str | Mapping[str, Any] = "hamming",
        class_weight: str | Mapping[Hashable, float] | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float = 200,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        constant: float = 0.0,
        solver: str = "auto",
    ):
        self.C = C
        self.prior = prior
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.constant = constant
        self.solver = solver

    def fit(
        self,
        X: MatrixLike,
        y: TargetsLike,
        sample_weight: npt.ArrayLike | None = None,
        cost: MatrixLike | None = None,
    ) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples; with ``kernel="precomputed"`` the kernel matrix, (rows, rows).
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            Factor on C per row.
        cost : array or sparse matrix of shape (rows, K), optional
            Factor on the `loss` of a wrong label, per row and label; the columns have the order of
            ``classes_``. An entry with cost c should have c times the margin. With cost 0 it needs
            no margin, but a score on the wrong side still counts: to leave an entry out, set it to
            NaN in y. The cost of an unknown relevance is not used and may be NaN.
        """
        return self.fit_with(solve, X, y, sample_weight, cost)

    def fit_with(
        self,
        solver: Callable[[Training], Solution],
        X: MatrixLike,
        y: TargetsLike,
        sample_weight: npt.ArrayLike | None = None,
        cost: MatrixLike | None = None,
    ) -> Self:
        """Learn from all rows with a solver that may use other machines.

        Parameters
        ----------
        solver : callable
            Returns the solution of a validated `Training`.
        X : array, sparse matrix or DataFrame of shape (rows, n)
            As for `fit`.
        y : targets
            As for `fit`.
        sample_weight : array of shape (rows,), optional
            As for `fit`.
        cost : array or sparse matrix of shape (rows, K), optional
            As for `fit`.
        """
        settings = self.checked_settings()
        with restored_on_error(self):
            rows = validated(self, X, reset=True)
            if is_sparse(rows) and not rows.has_canonical_format:
                rows = rows.copy()
                rows.sum_duplicates()
            labels = initial_labels(y, None, fitting=True)
            targets = labels.encode(y, rows.shape[0])
            if not len(labels):
                raise ValueError("y has no labels; at least one is needed")
            weights = check_sample_weight(sample_weight, rows, LARGEST_WEIGHT)
            if weights is not None and not weights.any():
                raise ValueError("sample_weight must have at least one positive entry, got zeros")
            core.m3l_check(as_matrix(rows))
            factors = None if cost is None else checked_cost(cost, targets, len(labels))
            start = None
            if self.warm_start and self.is_started:
                start = self._fit.warm_start_dual(rows.shape[0], labels)
            solution = solver(
                Training(self, rows, labels, targets, weights, factors, settings, start)
            )
            summary = solution.summary
            self._fit = Fit(
                model=solution.model,
                labels=labels,
                single=targets.kind == "single",
                rows=rows.shape[0],
                dual=solution.dual,
                place=solution.place,
                dual_objective=summary.dual_objective,
                duality_gap=summary.duality_gap,
                passes=summary.passes,
            )
            self.__dict__.pop("fit_report_", None)  # of an earlier fit
        if summary.stopped:
            raise KeyboardInterrupt
        if not summary.converged:
            warnings.warn(
                f"training stopped after max_iter={self.max_iter}: the largest projected "
                f"derivative is {summary.violation:.3g}, not below tol={self.tol:g}, and the "
                f"duality gap {self.duality_gap_:.3g} of {self.dual_objective_:.6g}; raise "
                "max_iter or tol, or scale the data",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def adopt(self, fit: Fit, n_features_in: int) -> Self:
        """Become the model of a fit that was computed elsewhere.

        Parameters
        ----------
        fit : Fit
            The fitted state.
        n_features_in : int
            The number of columns of the training data.
        """
        self.n_features_in_ = n_features_in
        self.__dict__.pop("feature_names_in_", None)
        self._fit = fit
        return self

    def decision_function(self, X: MatrixLike) -> Array:
        """Return the scores of all labels, (rows, K).

        If the model was trained with one label per row and two labels, returns half the difference
        of their scores, (rows,).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores = self._scores(X)
        if self._fit.single and scores.shape[1] == 2:
            return np.asarray((scores[:, 1] - scores[:, 0]) / 2)
        return scores

    def predict(self, X: MatrixLike) -> Array:
        """Return an indicator of the labels that score at least 0.

        If the model was trained with one label per row, returns the best label of each row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores = self._scores(X)
        if self._fit.single:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return (scores >= 0).astype(np.int64)

    def rank(self, X: MatrixLike, k: int | None = None) -> Array:
        """Return the k best labels of each row, best first: (rows, k).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        k : int, optional
            Number of labels to return (default: all).
        """
        most = None if k is None else parameters.integer(k, "k", 0)
        best = np.argsort(-self._scores(X), axis=1, kind="stable")[:, :most]
        return np.asarray(self.classes_[best])

    def score(
        self, X: MatrixLike, y: TargetsLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Return the label-ranking average precision, or with one label per row the accuracy.

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
        if self._fit.single:
            return accuracy(y, self.predict(X), sample_weight)
        scores = self._scores(X)
        return average_precision(self._fit.labels, y, scores, sample_weight)

    @property
    def classes_(self) -> Array:
        """The labels, in the order of their columns."""
        self._require_start("classes_")
        return label_array(self._fit.labels.names)

    @property
    def dual_objective_(self) -> float:
        """The dual value, a lower bound of the objective's minimum."""
        self._require_start("dual_objective_")
        return self._fit.dual_objective

    @property
    def duality_gap_(self) -> float:
        """The objective minus the dual value."""
        self._require_start("duality_gap_")
        return self._fit.duality_gap

    @property
    def n_iter_(self) -> int:
        """Number of passes, steps on pairs or visited variables: see the class."""
        self._require_start("n_iter_")
        return self._fit.passes

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is wrong."""
        self.checked_settings()

    @property
    def coef_(self) -> Array | sp.csr_array:
        """The weights, (K, n), for the linear kernel only; sparse if large."""
        self._require_start("coef_")
        model = self._fit.model
        if not isinstance(model, LinearModel):
            raise AttributeError("only a model with the linear kernel has coef_")
        return model.coef(DENSE_COEF_LIMIT)

    @property
    def intercept_(self) -> Array:
        """The contribution of the constant feature to the scores, (K,); linear kernel only."""
        self._require_start("intercept_")
        model = self._fit.model
        if not isinstance(model, LinearModel):
            raise AttributeError("only a model with the linear kernel has intercept_")
        if model.intercept is None:
            return np.zeros(len(self._fit.labels), dtype=model.weights.dtype)
        return model.intercept

    @property
    def dual_coef_(self) -> Array:
        """The dual variables times the signs of the labels, (rows, K)."""
        self._require_start("dual_coef_")
        return self._fit.dual_by_label()

    @property
    def support_(self) -> npt.NDArray[np.int64]:
        """The rows with a nonzero dual variable; not for the linear kernel."""
        self._require_start("support_")
        model = self._fit.model
        if isinstance(model, LinearModel):
            raise AttributeError("a model with the linear kernel has no support_")
        return model.support

    @property
    def cutoff_(self) -> float:
        """The lowest score at which a label is predicted: 0."""
        self._require_start("cutoff_")
        return 0.0

    def checked_settings(self) -> core.M3LSettings:
        """Return the settings of the solvers; raise ValueError for an invalid parameter."""
        if not callable(self.kernel):
            parameters.choice(self.kernel, "kernel", KERNELS)
        parameters.choice(self.solver, "solver", SOLVERS)
        parameters.flag(self.warm_start, "warm_start")
        parameters.positive(self.C, "C", LARGEST_BOUND)
        constant = parameters.real(self.constant, "constant")
        if abs(constant) > LARGEST_CONSTANT:
            raise ValueError(f"constant must be at most {LARGEST_CONSTANT:g}, got {constant!r}")
        if constant != 0 and self.kernel != "linear":
            raise ValueError(
                f"constant must be 0 with kernel={self.kernel!r}, got {constant!r}; coef0 is the "
                "constant term of kernel='poly'"
            )
        return core.M3LSettings(
            tolerance=parameters.positive(self.tol, "tol"),
            most_passes=parameters.integer(self.max_iter, "max_iter", 1, 2**31 - 1),
            threads=thread_count(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            cache_bytes=int(1e6 * parameters.positive(self.cache_size, "cache_size")),
            constant=constant,
            smo=self.solver == "smo",
        )

    def _scores(self, X: MatrixLike) -> Array:
        check_is_fitted(self)
        rows = validated(self, X, reset=False)
        core.m3l_check(as_matrix(rows))
        return self._fit.model.scores(rows)

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a model file."""
        return files.to_parts(self.get_params(), columns_of(self), self._fit)

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Return the model that ``to_parts`` returned as header and arrays.

        Parameters
        ----------
        header : dict
            Fields of the JSON header.
        arrays : dict
            Arrays by name.
        """
        self = cls(**files.params_from(header, arrays))
        self.check_parameters()
        restore_columns(self, header)
        self._fit = files.fit_from(header, arrays)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not callable(self.kernel) and self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.multi_label = True
        # In one of scikit-learn's checks, the rows surround the origin and nearly all have the same
        # class. To separate them, a model needs a constant feature or a kernel with a constant.
        has_constant = self.kernel == "rbf" or (self.kernel == "poly" and self.coef0 != 0)
        has_constant |= self.kernel == "linear" and self.constant != 0
        tags.classifier_tags.poor_score = not has_constant
        return tags
