"""Max-margin multi-label classification with a prior on label correlations (P4, M3L)."""

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong import parameters
from tagalong.batch.learner import BatchLearner
from tagalong.batch.m3l import files
from tagalong.batch.m3l.fit import Fit
from tagalong.batch.m3l.kernels import KERNELS, make_kernel
from tagalong.batch.m3l.matrices import is_sparse
from tagalong.batch.m3l.models import LinearModel
from tagalong.batch.m3l.training import problem_of, solve_kernel, solve_linear, threads_of
from tagalong.learning import model_files
from tagalong.learning.batches import checked_weights, labels_of
from tagalong.learning.estimators import (
    columns_of,
    restore_columns,
    restored_on_error,
    validated,
)
from tagalong.learning.examples import as_matrix
from tagalong.learning.labels import label_array
from tagalong.learning.quality import accuracy, average_precision

__all__ = ["M3LClassifier"]

Array = npt.NDArray[Any]

LARGEST_BOUND = 1e12
LARGEST_WEIGHT = 1e12
DENSE_COEF_LIMIT = 50_000_000


class M3LClassifier(ClassifierMixin, BatchLearner):
    r"""Labels for rows by maximal margins, with prior knowledge of how labels go together.

    Label :math:`l` scores :math:`z_l \cdot \phi(x)` and is predicted from 0 on. The weights solve

    .. math:: \min_Z \tfrac12 \sum_{lk} (R^{-1})_{lk} \, z_l \cdot z_k
              + C \sum_{il} \max(0, \Delta_{il} - 2 y_{il}\, z_l \cdot \phi(x_i)),

    through the dual, which needs :math:`R` and not its inverse. With :math:`R = I` that is one
    support vector machine a label, without bias and with the penalty :math:`2C`.

    Parameters
    ----------
    C : float, default 1.0
        How much mistakes count beside the length of the weights.
    prior : None, "cooccurrence" or array of shape (K, K), optional
        How labels go together, R: symmetric and positive semi-definite up to 1e-6 of its largest
        entry and eigenvalue; it may be singular. None leaves each label to itself.
        ``"cooccurrence"`` counts in the training data: :math:`n_{lk} / \sqrt{n_l n_k}`.
        `attribute_prior` makes one of categories' attributes.
    kernel : str or callable, default "linear"
        ``"linear"``, ``"rbf"``, ``"poly"``, ``"precomputed"``, or a function of two matrices.
        ``"linear"`` has a solver of its own, for much larger data.
    gamma : float or str, default "scale"
        Of ``"rbf"`` and ``"poly"``; ``"scale"`` is 1 / (columns × variance of X), ``"auto"`` is
        1 / columns.
    degree : int, default 3
        Of ``"poly"``.
    coef0 : float, default 0.0
        Of ``"poly"``.
    loss : str or mapping, default "hamming"
        ``"hamming"`` counts wrong labels. A mapping has costs for ``"miss"`` and
        ``"false_alarm"``, each a number, one a label, or a mapping of labels; Hamming costs are 1.
        ``"prior"`` is the paper's loss tied to the prior, :math:`2 y_{il} (R y_i)_l`, for a
        diagonally dominant R.
    class_weight : mapping or "balanced", optional
        What C is multiplied with on the relevant rows of a label; with one label a row, on the
        rows of that label. ``"balanced"`` makes relevant and irrelevant rows of each label count
        alike.
    tol : float, default 1e-3
        Training ends when no variable's projected derivative is larger; where a wrong label by
        Hamming's loss has 2.
    max_iter : int, default 1000
        At most so many passes over the rows (linear), or so many steps for each of the variables
        (other kernels).
    cache_size : float, default 200
        Megabytes for kernel products.
    warm_start : bool, default False
        Whether ``fit`` begins where the last one ended, if there are as many rows and labels.
    n_jobs : int, optional
        How many threads; -1 for all processors. The result is the same to the bit.
    random_state : int or RandomState, optional
        For the order of steps.
    verbose : int, default 0
        Whether to tell on standard error how far training is.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array or CSR array of shape (K, n)
        The weights, if the kernel is linear; sparse when large.
    dual_coef_ : array of shape (rows, K)
        The dual variables with the signs of the labels; rows are those of ``support_`` if the
        kernel is not linear.
    support_ : array of int
        The rows with a variable that is not 0, if the kernel is not linear.
    dual_objective_ : float
        The value of the dual, a lower bound of the objective's minimum.
    duality_gap_ : float
        How far the objective is above it.
    n_iter_ : int
        How many passes, or steps, were made.
    cutoff_ : float
        The score from which a label is predicted: 0.
    n_features_in_ : int
        The number of columns of the training data.
    feature_names_in_ : array of str
        Their names, if it was a DataFrame.

    Notes
    -----
    Targets may be an indicator matrix, a list of collections of labels, or one label a row. NaN in
    an indicator means that relevance is unknown. A label whose column is all NaN gets its scores
    from the prior alone.

    There is no bias: append a constant feature where one is needed. An interrupted ``fit`` keeps
    what it has reached, then raises KeyboardInterrupt; labels not begun score 0 without a prior.

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

    def __init__(
        self,
        C: float = 1.0,
        prior: Any = None,
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        loss: Any = "hamming",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        cache_size: float = 200,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples; products of rows, (rows, rows), if the kernel is precomputed.
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            What C is multiplied with, a row.
        """
        settings = self._checked_settings()
        with restored_on_error(self):
            X = validated(self, X, reset=True)
            if is_sparse(X) and not X.has_canonical_format:
                X = X.copy()
                X.sum_duplicates()
            labels = labels_of(y, None, fitting=True)
            targets = labels.encode(y, X.shape[0])
            if not len(labels):
                raise ValueError("y has no labels: there is nothing to learn")
            weights = checked_weights(sample_weight, X, LARGEST_WEIGHT)
            if weights is not None and not weights.any():
                raise ValueError("sample_weight must have at least one positive number, got zeros")
            core.m3l_check(as_matrix(X))
            problem = problem_of(self, labels, targets, weights)
            start = None
            if self.warm_start and self.is_started:
                start = self._fit.dual_to_start_with(X.shape[0], labels)
            verbose = bool(self.verbose)
            if self.kernel == "linear":
                trained = solve_linear(X, problem, settings, start, verbose)
            else:
                kernel = make_kernel(self.kernel, self.gamma, self.degree, self.coef0, X)
                trained = solve_kernel(X, kernel, problem, settings, start, verbose)
            found = trained.figures
            self._fit = Fit(
                model=trained.model,
                labels=labels,
                single=targets.kind == "single",
                rows=X.shape[0],
                dual=trained.dual,
                place=trained.place,
                dual_objective=found.dual_objective,
                duality_gap=found.duality_gap,
                passes=found.passes,
            )
        if found.stopped:
            raise KeyboardInterrupt
        if not found.converged:
            warnings.warn(
                f"training stopped after max_iter={self.max_iter}: the largest projected "
                f"derivative is {found.violation:.3g}, not below tol={self.tol:g}, and the "
                f"duality gap {self.duality_gap_:.3g} of {self.dual_objective_:.6g}; raise "
                "max_iter or tol, or scale the data",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores of all labels, (rows, K).

        A classifier for two classes returns half the difference of their scores, (rows,).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores = self._scores(X)
        if self._fit.single and scores.shape[1] == 2:
            return np.asarray((scores[:, 1] - scores[:, 0]) / 2)
        return scores

    def predict(self, X: Any) -> Array:
        """Return an indicator of the labels that score at least 0.

        A classifier (trained with one label a row) returns the best label of each row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        scores = self._scores(X)
        if self._fit.single:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return (scores >= 0).astype(np.int64)

    def rank(self, X: Any, k: int | None = None) -> Array:
        """Return the k best labels of each row, or all of them, best first: (rows, k).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        k : int, optional
            How many; all of them by default.
        """
        most = None if k is None else parameters.integer(k, "k", 0)
        best = np.argsort(-self._scores(X), axis=1, kind="stable")[:, :most]
        return np.asarray(self.classes_[best])

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
        """The value of the dual, a lower bound of the objective's minimum."""
        self._require_start("dual_objective_")
        return self._fit.dual_objective

    @property
    def duality_gap_(self) -> float:
        """How far the objective is above the dual."""
        self._require_start("duality_gap_")
        return self._fit.duality_gap

    @property
    def n_iter_(self) -> int:
        """How many passes, or steps, were made."""
        self._require_start("n_iter_")
        return self._fit.passes

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is wrong."""
        self._checked_settings()

    @property
    def coef_(self) -> Any:
        """The weights, (K, n), if the kernel is linear; sparse when large."""
        self._require_start("coef_")
        model = self._fit.model
        if not isinstance(model, LinearModel):
            raise AttributeError("coef_ is there for the linear kernel only")
        return model.coef(DENSE_COEF_LIMIT)

    @property
    def dual_coef_(self) -> Array:
        """The dual variables with the signs of the labels, (rows, K)."""
        self._require_start("dual_coef_")
        return self._fit.dual_by_label()

    @property
    def support_(self) -> npt.NDArray[np.int64]:
        """The rows with a variable that is not 0, if the kernel is not linear."""
        self._require_start("support_")
        model = self._fit.model
        if isinstance(model, LinearModel):
            raise AttributeError("support_ is there for other kernels than the linear one")
        return model.support

    @property
    def cutoff_(self) -> float:
        """The score from which a label is predicted: 0."""
        self._require_start("cutoff_")
        return 0.0

    def _checked_settings(self) -> core.M3LSettings:
        """Return what the solvers want to know; ValueError for a bad parameter."""
        if not callable(self.kernel):
            parameters.choice(self.kernel, "kernel", KERNELS)
        parameters.flag(self.warm_start, "warm_start")
        parameters.positive(self.C, "C", LARGEST_BOUND)
        return core.M3LSettings(
            tolerance=parameters.positive(self.tol, "tol"),
            most_passes=parameters.integer(self.max_iter, "max_iter", 1, 2**31 - 1),
            threads=threads_of(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            cache_bytes=int(1e6 * parameters.positive(self.cache_size, "cache_size")),
        )

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validated(self, X, reset=False)
        core.m3l_check(as_matrix(X))
        return self._fit.model.scores(X)

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a file."""
        return files.to_parts(self.get_params(), columns_of(self), self._fit)

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
        self = cls(**files.params_from(header, arrays))
        restore_columns(self, header)
        self._fit = files.fit_from(header, arrays)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not callable(self.kernel) and self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.classifier_tags.multi_label = True
        # Without a bias, or a constant part of the kernel that does for it, no direction gives
        # nearly all rows around the origin to one class, as one of scikit-learn's checks asks for.
        constant = self.kernel == "rbf" or (self.kernel == "poly" and self.coef0 != 0)
        tags.classifier_tags.poor_score = not constant
        return tags
