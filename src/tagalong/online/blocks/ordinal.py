"""Ordinal regression by simultaneous projections (P2): one weight vector and thresholds."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.batches import check_sample_weight
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.estimators import (
    columns_of,
    restore_columns,
    restored_on_error,
    validated,
)
from tagalong.learning.examples import as_matrix
from tagalong.learning.fitted import Fitted
from tagalong.learning.input_types import Classes, MatrixLike, Rows, SampleWeight
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
from tagalong.online.blocks.ordinal_rows import OrdinalRows
from tagalong.online.blocks.projection import BlockProjection

__all__ = ["OrdinalRanker"]

# A row is copied once per threshold. At most this many entries are copied at a time, to limit
# memory.
MAX_CHUNK_ENTRIES = 1 << 20
LARGEST_INDEX = 2**31 - 1
SMALLEST_WEIGHT = 1e-100  # of a row; its inverse, which the core uses, must be finite


class OrdinalRanker(ClassifierMixin, Fitted):
    r"""Predicts grades: ordered classes, such as one to five stars.

    The model has a weight vector :math:`w` and a threshold :math:`\theta_j` between each grade and
    the next. The grade of :math:`x` is the number of thresholds that :math:`\langle w, x\rangle`
    reaches. A row of grade :math:`y` (0, 1, ..., k - 1) is one trial of `BlockProjection` in
    :math:`R^{n + k - 1}`: the rows :math:`(x, -e_j)`, with the sign +1 for :math:`j < y` and -1
    otherwise, have the constraints

    .. math:: \pm (\langle w, x\rangle - \theta_j) \ge \gamma \quad (j = 0, \ldots, k - 2),

    and the loss of the trial is the largest violation. In the entropic geometry the weights of the
    block learner are a distribution, hence positive. Each column then has a second one with the
    opposite sign, and a weight is the difference of the weights of both.

    Parameters
    ----------
    update : str, default "simproj"
        The update rule of `BlockProjection`: ``"simperc"``, ``"conproj"``, ``"simproj"``,
        ``"simopt"`` (Euclidean only), ``"max"`` or ``"optimal"``.
    C : float, default 0.01
        The budget of a row: an upper bound on its step. Smaller values are more stable and need
        more passes; a single pass over a stream may need a larger value.
    margin : float, optional
        The distance that scores should have from the thresholds. None means 1, and 0.05 in the
        entropic geometry.
    passes : int, default 20
        The number of passes of ``fit`` over the data. Each pass counts as new trials.
    shuffle : bool, default True
        Whether each pass of ``fit`` shuffles the rows; sorted data are learnt badly in the given
        order. ``partial_fit`` always keeps the order.
    random_state : int, default 0
        The seed of the shuffling.
    grades : sequence, optional
        All grades from the lowest to the highest. None means the sorted grades of the data; words
        are then in alphabetical order, which is rarely the intended one.
    dtype : "float32" or "float64", default "float32"
        The type in which weights are stored and scores are summed.
    geometry : "euclidean" or "entropic", default "euclidean"
        ``"euclidean"``: additive updates. ``"entropic"``: multiplicative updates, which suit
        many features of which few matter. The absolute weights and thresholds then sum to at most
        1, so that scores and margins are small.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The grades, from the lowest to the highest.
    coef_ : array of shape (n,)
        The weight vector.
    thresholds_ : array of shape (k - 1,)
        The thresholds used for predictions, sorted.
    raw_thresholds_ : array of shape (k - 1,)
        The thresholds as learnt. They may be out of order if the data barely separate two grades.
    certificate_ : Certificate
        Trials, mistakes (rows with a score on the wrong side of a threshold, or on it), loss and
        dual value so far, and the mistake bound if one is proven.
    n_features_in_ : int
        The number of columns of the training matrices.
    feature_names_in_ : array of str
        The column names of the first DataFrame.

    Notes
    -----
    Scale features of different magnitudes, for example with ``StandardScaler`` in a ``Pipeline``:
    all weights have the same learning rate, and the thresholds move like a feature of value 1.

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
        geometry: str = "euclidean",
    ):
        self.update = update
        self.C = C
        self.margin = margin
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.grades = grades
        self.dtype = dtype
        self.geometry = geometry

    def fit(self, X: MatrixLike, y: npt.ArrayLike, sample_weight: SampleWeight = None) -> Self:
        """Learn from scratch: ``passes`` times over the rows.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            The rows.
        y : array of shape (rows,)
            Their grades: numbers, strings, dates or other sortable values.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each row; rows of weight 0 are skipped.
        """
        passes = parameters.integer(self.passes, "passes", 1)
        seed = parameters.integer(self.random_state, "random_state", 0)
        shuffled = parameters.flag(self.shuffle, "shuffle")
        with restored_on_error(self):
            rows: Rows = validated(self, X, reset=True)
            given = checked_grades(y, rows.shape[0])
            if self.grades is None:
                refuse_continuous(given)
            classes = sorted_grades(given) if self.grades is None else self._declared_grades()
            numbers = grade_numbers(given, classes)
            reduction, learner = self._new_learner(rows.shape[1], classes)
            inverse = _inverse_weights(sample_weight, rows, learner)
            if inverse is not None and not np.isfinite(inverse).any():
                raise ValueError("sample_weight must have at least one positive number, got zeros")
            learner.check_rows(as_matrix(rows))
            rng = np.random.default_rng(seed)
            sparse_rows = sp.csr_array(rows)
            for _ in range(passes):
                order = rng.permutation(rows.shape[0]) if shuffled else None
                _learn(learner, reduction, sparse_rows, numbers, inverse, order)
        self._learner, self.classes_ = learner, classes
        return self

    def partial_fit(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        classes: Classes = None,
        sample_weight: SampleWeight = None,
    ) -> Self:
        """Continue learning: one pass over the rows, in the given order.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            The rows.
        y : array of shape (rows,)
            Their grades; all of them must be known.
        classes : sequence, optional
            On the first call: all grades. They are sorted unless ``grades`` declares the order.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each row; rows of weight 0 are skipped.
        """
        first = not self.is_started
        with restored_on_error(self):
            rows: Rows = validated(self, X, reset=first)
            known = self._first_grades(classes) if first else self._same_grades(classes)
            numbers = grade_numbers(checked_grades(y, rows.shape[0]), known)
            reduction, learner = (
                self._new_learner(rows.shape[1], known)
                if first
                else (self._reduction, self._learner)
            )
            inverse = _inverse_weights(sample_weight, rows, learner)
            learner.check_rows(as_matrix(rows))
        self._learner, self.classes_ = learner, known
        _learn(learner, reduction, sp.csr_array(rows), numbers, inverse, None)
        return self

    @property
    def has_grades(self) -> bool:
        """Whether the classes are grades, which have an order: True."""
        return True

    def latent_score(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the scores of rows, (rows,), which ``predict`` compares with ``thresholds_``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Rows.
        """
        check_is_fitted(self)
        rows = validated(self, X, reset=False)
        matrix = as_matrix(rows)
        self._learner.check_rows(matrix)
        reduction = self._reduction
        if reduction.signed:
            matrix = as_matrix(reduction.scored(sp.csr_array(rows)))
        return self._learner.score_rows(matrix)

    def decision_function(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the margin of each grade, (rows, k).

        The margin is the distance of the score to the nearer of the grade's two thresholds,
        negative outside of them. It is largest for the predicted grade; on a threshold two grades
        are equal. With two grades it is (rows,): the signed distance from the threshold.

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

    def predict(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return the grades of rows: the number of thresholds that each score reaches.

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
        """The weight vector, (n,)."""
        self._require_start("coef_")
        return self._reduction.weights(self._learner.coef_)[0]

    @property
    def raw_thresholds_(self) -> npt.NDArray[Any]:
        """The thresholds as learnt, (k - 1,)."""
        self._require_start("raw_thresholds_")
        return self._reduction.weights(self._learner.coef_)[1]

    @property
    def thresholds_(self) -> npt.NDArray[Any]:
        """The thresholds used for predictions, (k - 1,), sorted."""
        self._require_start("thresholds_")
        return np.sort(self.raw_thresholds_)

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the trials so far: counts, losses and the proven bound."""
        self._require_start("certificate_")
        return self._learner.certificate_

    @property
    def _reduction(self) -> OrdinalRows:
        """The reduction of the present learner."""
        signed = self._learner.geometry == "entropic"
        return OrdinalRows(self.n_features_in_, len(self.classes_) - 1, signed)

    def _new_learner(
        self, features: int, classes: npt.NDArray[Any]
    ) -> tuple[OrdinalRows, BlockProjection]:
        """Return a new learner by the present parameters, and its reduction."""
        learner = BlockProjection(self.update, self.geometry, self.C, self.margin, self.dtype)
        reduction = OrdinalRows(features, len(classes) - 1, signed=self.geometry == "entropic")
        if reduction.columns > LARGEST_INDEX:
            raise ValueError(
                f"X has {features} columns, which with {len(classes) - 1} thresholds is above the "
                f"limit of {LARGEST_INDEX // (2 if reduction.signed else 1)}"
            )
        learner.start(reduction.columns)
        return reduction, learner

    def _declared_grades(self) -> npt.NDArray[Any]:
        if isinstance(self.grades, str):
            raise ValueError(f"grades must be a sequence of grades, got {self.grades!r}")
        declared = as_grades(self.grades, "grades")
        keys = comparable_grades(declared, "grades")
        if len(set(keys)) < len(keys):
            duplicate = next(key for i, key in enumerate(keys) if key in keys[:i])
            raise ValueError(f"grades: {duplicate!r} appears twice; grades must be distinct")
        return declared

    def _first_grades(self, classes: Classes) -> npt.NDArray[Any]:
        if self.grades is not None:
            declared = self._declared_grades()
            require_same_grades(classes, declared, "grades")
            return declared
        if classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: a sequence of all grades"
            )
        return sorted_grades(as_grades(classes, "classes"))

    def _same_grades(self, classes: Classes) -> npt.NDArray[Any]:
        require_same_grades(classes, self.classes_, "classes_")
        return self.classes_

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
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
        """Rebuild a learner from the output of ``to_parts``.

        Parameters
        ----------
        header : dict
            The JSON part of the model file.
        arrays : dict
            The arrays of the model file, by name.
        """
        params = header["params"]
        grades = None if params["grades"] is None else decoded_grades(params["grades"])
        self = cls(**{**params, "grades": grades})
        self._learner = model_files.unpack(header["learner"], arrays)
        self.classes_ = decoded_grades(header["classes"])
        restore_columns(self, header)
        if self._reduction.columns != self._learner.n_features_in_:
            raise ValueError("its weights do not match its numbers of grades and features")
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        # scikit-learn's checks use three clusters without an order. One weight vector cannot reach
        # the accuracy that they require.
        tags.classifier_tags.poor_score = True
        return tags


def _learn(
    learner: BlockProjection,
    reduction: OrdinalRows,
    X: sp.csr_array,
    numbers: npt.NDArray[np.int64],
    inverse: npt.NDArray[np.float64] | None,
    order: npt.NDArray[np.int64] | None,
) -> None:
    """Learn rows in the given order; builds the blocks of many rows at a time."""
    rows, thresholds = X.shape[0], reduction.thresholds
    chunk = max(1, MAX_CHUNK_ENTRIES * rows // (max(1, thresholds) * (X.nnz + rows)))
    threshold_numbers = np.arange(thresholds)
    order = np.arange(rows) if order is None else order
    if inverse is not None:
        order = order[inverse[order] < np.inf]
    for start in range(0, len(order), chunk):
        part = order[start : start + chunk]
        signs = np.where(threshold_numbers < numbers[part, None], 1.0, -1.0).ravel()
        budgets = None if inverse is None else np.repeat(inverse[part], thresholds)
        sizes = np.full(len(part), thresholds)
        learner.learn_rows(as_matrix(reduction.blocks(X, part)), signs, sizes, None, budgets)


def _inverse_weights(
    sample_weight: SampleWeight, X: Rows, learner: BlockProjection
) -> npt.NDArray[np.float64] | None:
    """Return the budget that a unit step on each row uses; infinity for rows to skip."""
    weights = check_sample_weight(sample_weight, X, learner.largest_weight)
    if weights is None:
        return None
    inverse = np.full(len(weights), np.inf)
    np.divide(1, weights, out=inverse, where=weights >= SMALLEST_WEIGHT)
    return inverse
