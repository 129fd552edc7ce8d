"""Ordinal regression by simultaneous projections (P2): one direction, thresholds along it."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.batches import checked_weights
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.estimators import (
    columns_of,
    restore_columns,
    restored_on_error,
    validated,
)
from tagalong.learning.examples import as_matrix
from tagalong.learning.fitted import Fitted
from tagalong.online.blocks.grades import (
    as_grades,
    checked_grades,
    comparable_grades,
    decoded_grades,
    encoded_grades,
    grade_numbers,
    refuse_continuous,
    require_same_grades,
    sorted_grades,
)
from tagalong.online.blocks.projection import BlockProjection

__all__ = ["OrdinalRanker"]

# A row is copied once a threshold; so many numbers at a time keep the copies of a batch small.
MAX_CHUNK_ENTRIES = 1 << 20
LARGEST_INDEX = 2**31 - 1
SMALLEST_WEIGHT = 1e-100  # of a row: the core gets its inverse, which must be finite


class OrdinalRanker(ClassifierMixin, Fitted):
    r"""Predicts grades: classes that have an order, such as one to five stars.

    One direction :math:`w` and a threshold :math:`\theta_j` between each grade and the next. The
    grade of :math:`x` is the number of thresholds that :math:`\langle w, x\rangle` reaches. A row
    of grade :math:`y` (0, 1, ..., k - 1) is one trial of `BlockProjection` in
    :math:`R^{n + k - 1}`: the rows :math:`(x, -e_j)`, with the sign +1 for :math:`j < y` and -1
    otherwise, ask for

    .. math:: \pm (\langle w, x\rangle - \theta_j) \ge \gamma \quad (j = 0, \ldots, k - 2),

    and the loss of the trial is what the worst of them lacks.

    Parameters
    ----------
    update : str, default "simproj"
        How a row moves the weights: one of `BlockProjection`'s updates, ``"simperc"``,
        ``"conproj"``, ``"simproj"``, ``"simopt"``, ``"max"`` or ``"optimal"``.
    C : float, default 0.01
        The budget of a row: how far it may move the weights. Smaller is steadier and needs more
        passes; a stream seen once may want more.
    margin : float, optional
        By how much scores should keep away from the thresholds. None means 1.
    passes : int, default 20
        How often ``fit`` goes through the data. Each pass counts as new trials.
    shuffle : bool, default True
        Whether each pass of ``fit`` takes the rows in a new order; sorted data are learnt badly
        in the order they have. ``partial_fit`` always keeps the order.
    random_state : int, default 0
        The seed of these orders.
    grades : sequence, optional
        All grades from the lowest to the highest. None means the grades of the data, sorted;
        words are sorted by the alphabet then, which is seldom their order.
    dtype : "float32" or "float64", default "float32"
        How weights are stored and scores summed.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The grades, from the lowest to the highest.
    coef_ : array of shape (n,)
        The direction.
    thresholds_ : array of shape (k - 1,)
        The thresholds that predict, sorted.
    raw_thresholds_ : array of shape (k - 1,)
        The thresholds as learnt: where the data say little of two grades apart, they may be in
        another order.
    certificate_ : Certificate
        Trials, mistakes (rows with a score on the wrong side of a threshold, or on it), loss and
        dual value so far, and the mistake bound where there is one.
    n_features_in_ : int
        The number of columns of the first data.
    feature_names_in_ : array of str
        The columns of the first DataFrame.

    Notes
    -----
    Scale features of unlike size, say with ``StandardScaler`` in a ``Pipeline``: all weights move
    at one pace, the thresholds as a feature of value 1.

    References
    ----------
    .. [1] Amit, Shalev-Shwartz, Singer. Online Learning of Complex Prediction Problems Using
       Simultaneous Projections. JMLR 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong import OrdinalRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> stars = 1 + np.digitize(X @ [1, -2, 0.5] + 0.3 * rng.normal(size=500), [-3, -1, 1, 3])
    >>> ranker = OrdinalRanker().fit(X[:400], stars[:400])
    >>> bool(np.abs(ranker.predict(X[400:]) - stars[400:]).mean() < 0.2)
    True
    """

    _fitted_attribute = "_learner"
    _learner: BlockProjection
    classes_: npt.NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        update: str = "simproj",
        C: float = 0.01,
        margin: float | None = None,
        passes: int = 20,
        shuffle: bool = True,
        random_state: int = 0,
        grades: Any = None,
        dtype: str = "float32",
    ):
        self.update = update
        self.C = C
        self.margin = margin
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.grades = grades
        self.dtype = dtype

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the beginning.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            The rows.
        y : array of shape (rows,)
            Their grades: numbers, text, dates, anything that can be sorted.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each row; a row of weight 0 is passed over.
        """
        passes = parameters.integer(self.passes, "passes", 1)
        seed = parameters.integer(self.random_state, "random_state", 0)
        shuffled = parameters.flag(self.shuffle, "shuffle")
        with restored_on_error(self):
            X = validated(self, X, reset=True)
            given = checked_grades(y, X.shape[0])
            if self.grades is None:
                refuse_continuous(given)
            classes = sorted_grades(given) if self.grades is None else self._declared_grades()
            numbers = grade_numbers(given, classes)
            learner = self._new_learner(X.shape[1], classes)
            inverse = _inverse_weights(sample_weight, X, learner)
            if inverse is not None and not np.isfinite(inverse).any():
                raise ValueError("sample_weight must have at least one positive number, got zeros")
            learner.check_rows(as_matrix(X))
            rng = np.random.default_rng(seed)
            rows = sp.csr_array(X)
            for _ in range(passes):
                order = rng.permutation(X.shape[0]) if shuffled else None
                _learn(learner, rows, numbers, inverse, len(classes) - 1, order)
        self._learner, self.classes_ = learner, classes
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn rows once, in their order, from where the learner is.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            The rows.
        y : array of shape (rows,)
            Their grades, all of them known.
        classes : sequence, optional
            All grades there will be, for the first call; sorted, unless ``grades`` has their order.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each row; a row of weight 0 is passed over.
        """
        first = not self.is_started
        with restored_on_error(self):
            X = validated(self, X, reset=first)
            known = self._first_grades(classes) if first else self._same_grades(classes)
            numbers = grade_numbers(checked_grades(y, X.shape[0]), known)
            learner = self._new_learner(X.shape[1], known) if first else self._learner
            inverse = _inverse_weights(sample_weight, X, learner)
            learner.check_rows(as_matrix(X))
        self._learner, self.classes_ = learner, known
        _learn(learner, sp.csr_array(X), numbers, inverse, len(known) - 1, None)
        return self

    def latent_score(self, X: Any) -> npt.NDArray[np.float64]:
        """Return where rows lie along the direction, (rows,), beside ``thresholds_``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Rows.
        """
        check_is_fitted(self)
        matrix = as_matrix(validated(self, X, reset=False))
        self._learner.check_rows(matrix)
        return self._learner.score_rows(matrix)

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Return how well each grade fits, (rows, k): the margin that a row of it would have.

        That is the distance to the nearer of the grade's two thresholds, negative outside of them.
        The predicted grade fits best; on a threshold two grades do. Of two grades only the second
        one has a score, (rows,): the distance from the threshold.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Rows.
        """
        above = self.latent_score(X)[:, None] - self.thresholds_.astype(np.float64)
        k = above.shape[1] + 1
        if k == 2:
            return above[:, 0]
        out = np.full((len(above), k), np.inf if k > 1 else 0.0)
        out[:, 1:] = above
        out[:, :-1] = np.minimum(out[:, :-1], -above)
        return out

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the grades of rows: how many thresholds each one reaches.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Rows.
        """
        scores = self.latent_score(X)
        found: npt.NDArray[Any] = self.classes_[
            np.searchsorted(self.thresholds_.astype(np.float64), scores, side="right")
        ]
        return found

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The direction, (n,)."""
        self._require_start("coef_")
        return self._learner.coef_[: self.n_features_in_]

    @property
    def raw_thresholds_(self) -> npt.NDArray[Any]:
        """The thresholds as learnt, (k - 1,)."""
        self._require_start("raw_thresholds_")
        return self._learner.coef_[self.n_features_in_ :]

    @property
    def thresholds_(self) -> npt.NDArray[Any]:
        """The thresholds that predict, (k - 1,), sorted."""
        self._require_start("thresholds_")
        return np.sort(self.raw_thresholds_)

    @property
    def certificate_(self) -> Certificate:
        """What the learner can prove about the trials so far."""
        self._require_start("certificate_")
        return self._learner.certificate_

    def _new_learner(self, features: int, classes: npt.NDArray[Any]) -> BlockProjection:
        learner = BlockProjection(self.update, "euclidean", self.C, self.margin, self.dtype)
        columns = features + len(classes) - 1
        if columns > LARGEST_INDEX:
            raise ValueError(
                f"X has {features} columns, which with {len(classes) - 1} thresholds is above the "
                f"limit of {LARGEST_INDEX}"
            )
        learner.start(columns)
        return learner

    def _declared_grades(self) -> npt.NDArray[Any]:
        if isinstance(self.grades, str):
            raise ValueError(f"grades must be a sequence of grades, got {self.grades!r}")
        declared = as_grades(self.grades, "grades")
        keys = comparable_grades(declared, "grades")
        if len(set(keys)) < len(keys):
            twice = next(key for i, key in enumerate(keys) if key in keys[:i])
            raise ValueError(f"grades: {twice!r} is there twice; grades must be distinct")
        return declared

    def _first_grades(self, classes: Any) -> npt.NDArray[Any]:
        if self.grades is not None:
            declared = self._declared_grades()
            require_same_grades(classes, declared, "grades")
            return declared
        if classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: all grades there will be"
            )
        return sorted_grades(as_grades(classes, "classes"))

    def _same_grades(self, classes: Any) -> npt.NDArray[Any]:
        require_same_grades(classes, self.classes_, "classes_")
        return self.classes_

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a file."""
        learner, arrays = model_files.pack(self._learner)
        grades = None if self.grades is None else encoded_grades(as_grades(self.grades, "grades"))
        header = {
            "params": {**self.get_params(), "grades": grades},
            "classes": encoded_grades(self.classes_),
            **columns_of(self),
            "learner": learner,
        }
        return header, arrays

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
        params = header["params"]
        grades = None if params["grades"] is None else decoded_grades(params["grades"])
        self = cls(**{**params, "grades": grades})
        self._learner = model_files.unpack(header["learner"], arrays)
        self.classes_ = decoded_grades(header["classes"])
        restore_columns(self, header)
        if self.n_features_in_ + len(self.classes_) - 1 != self._learner.n_features_in_:
            raise ValueError("its grades and features do not fit its weights")
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # Along one direction nobody reaches the accuracy that scikit-learn's checks ask for on
        # three clusters whose order means nothing.
        tags.classifier_tags.poor_score = True
        return tags


def _learn(
    learner: BlockProjection,
    X: sp.csr_array,
    numbers: npt.NDArray[np.int64],
    inverse: npt.NDArray[np.float64] | None,
    thresholds: int,
    order: npt.NDArray[np.int64] | None,
) -> None:
    """Learn rows in an order; their blocks are built many at a time."""
    rows = X.shape[0]
    chunk = max(1, MAX_CHUNK_ENTRIES * rows // (max(1, thresholds) * (X.nnz + rows)))
    below = np.arange(thresholds)
    everything = np.arange(rows) if order is None else order
    if inverse is not None:
        everything = everything[inverse[everything] < np.inf]
    for start in range(0, len(everything), chunk):
        part = everything[start : start + chunk]
        signs = np.where(below < numbers[part, None], 1.0, -1.0).ravel()
        budgets = None if inverse is None else np.repeat(inverse[part], thresholds)
        sizes = np.full(len(part), thresholds)
        learner.learn_rows(as_matrix(_blocks(X, part, thresholds)), signs, sizes, None, budgets)


def _blocks(X: sp.csr_array, rows: npt.NDArray[np.int64], thresholds: int) -> sp.csr_array:
    """Return the rows (x, -e_j) of some rows x, one block after the other."""
    copies = X[np.repeat(rows, thresholds)]
    steps = sp.csr_array(
        (
            np.full(copies.shape[0], -1, dtype=X.dtype),
            np.tile(np.arange(thresholds, dtype=np.int32), len(rows)),
            np.arange(copies.shape[0] + 1, dtype=np.int32),
        ),
        shape=(copies.shape[0], thresholds),
    )
    return sp.csr_array(sp.hstack([copies, steps], format="csr"))


def _inverse_weights(
    sample_weight: Any, X: Any, learner: BlockProjection
) -> npt.NDArray[np.float64] | None:
    """Return what a unit of each row takes of the budget; infinity for rows to pass over."""
    weights = checked_weights(sample_weight, X, learner.largest_weight)
    if weights is None:
        return None
    inverse = np.full(len(weights), np.inf)
    np.divide(1, weights, out=inverse, where=weights >= SMALLEST_WEIGHT)
    return inverse
