"""Simultaneous projections (P2): one weight vector, one block of rows per trial."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.convergence import warn_if_unsolved
from tagalong.learning.estimators import (
    columns_of,
    restore_columns,
    restored_on_error,
    validated,
)
from tagalong.learning.examples import as_matrix
from tagalong.learning.fitted import NativeModel
from tagalong.learning.input_types import MatrixLike
from tagalong.learning.update_rules import BLOCK_RULES
from tagalong.online.label_ranker.learner import LARGEST_BUDGET, LARGEST_CONSTANT
from tagalong.online.native import new_native

__all__ = ["BLOCK_UPDATES", "DEFAULT_BLOCK_MARGIN", "BlockProjection", "checked_block_update"]

BLOCK_UPDATES = tuple(BLOCK_RULES)
BLOCK_GEOMETRIES = ("euclidean", "entropic")
DEFAULT_BLOCK_MARGIN = {"euclidean": 1.0, "entropic": 0.05}


class BlockProjection(NativeModel):
    r"""Learns to predict the signs of all rows of a block at once.

    A trial has rows :math:`x_j` with signs :math:`y_j` and the constraints
    :math:`y_j \langle w, x_j\rangle \ge \gamma`. Its loss is the largest
    :math:`\ell_j = \max(0, \gamma - y_j \langle w, x_j\rangle)`. The learner ascends the dual of

    .. math:: \min_w F(w) + C \sum_t \max_j \ell_{t,j}(w)

    by moving along all rows at once, :math:`\theta \mathrel{+}= \sum_j \lambda_j y_j x_j`.

    Parameters
    ----------
    update : str, default "simproj"
        The rule that chooses :math:`\lambda`. Let :math:`\alpha_j` be the optimal step for row j
        alone, M the misclassified rows, and L the rows with positive loss. ``"simperc"`` divides C
        among M; ``"conproj"`` uses :math:`\alpha_j / |M|` on M; ``"simproj"``
        :math:`\alpha_j / |L|` on L; ``"max"`` :math:`\alpha_j` on the row with the largest loss;
        ``"simopt"`` (Euclidean only) maximises a surrogate that ignores how rows overlap, without
        any guarantee; ``"optimal"`` is the optimal step for the whole block.
    geometry : str, default "euclidean"
        ``"euclidean"``: additive updates. ``"entropic"``: multiplicative updates; the weights are
        a distribution over the features.
    C : float, default 1
        The budget of a trial.
    margin : float, optional
        The margin :math:`\gamma`. None means 1, and 0.05 in the entropic geometry, whose scores
        are small.
    dtype : "float32" or "float64", default "float32"
        The type in which weights are stored and scores are summed.

    Attributes
    ----------
    coef_ : array of shape (n,)
        The weights, built on demand.
    certificate_ : Certificate
        Trials, mistakes (trials with a misclassified row), loss and dual value so far, and the
        mistake bound if one is proven.
    n_features_in_ : int
        The number of columns of the training rows.

    Notes
    -----
    ``groups`` divides a block into r groups. Each has its own step, from the same weights, with the
    budget C/r, and the loss is the mean of the groups' losses; with one row per group it is the
    average loss. A mistake then counts as the share of groups with a misclassified row. With
    ``weights`` :math:`v_j` the budget is :math:`\sum_j v_j \lambda_j \le C` and the loss
    :math:`\max_j \ell_j / v_j`.

    A mistake bound is proven for ``"simperc"``, ``"conproj"``, ``"max"`` and ``"optimal"``; with
    groups only for ``"simperc"``; and for ``"max"`` only if the weights within a block are equal.
    The papers' claims that ``"simopt"`` ascends the dual most are false: with two equal rows it
    gains nothing, and with three the dual value decreases.

    References
    ----------
    .. [1] Amit, Shalev-Shwartz, Singer. Online Learning of Complex Prediction Problems Using
       Simultaneous Projections. JMLR 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong import BlockProjection
    >>> rng = np.random.default_rng(0)
    >>> learner = BlockProjection(update="optimal", C=10)
    >>> for _ in range(200):
    ...     X = rng.normal(size=(5, 3))
    ...     loss = learner.learn_block(X, np.sign(X @ [1, -2, 0.5]))
    >>> learner.certificate_.mistakes < 40
    True
    """

    _native: core.BlockLearner32 | core.BlockLearner64
    _settings: dict[str, Any]

    def __init__(
        self,
        update: str = "simproj",
        geometry: str = "euclidean",
        C: float = 1.0,
        margin: float | None = None,
        dtype: str = "float32",
    ):
        self.update = update
        self.geometry = geometry
        self.C = C
        self.margin = margin
        self.dtype = dtype

    def learn_block(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        groups: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> float:
        """Learn one block of rows.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            The rows.
        y : array of shape (rows,)
            Their signs, +1 and -1.
        groups : array of shape (rows,), optional
            The group of each row, as any values; one group by default.
        weights : array of shape (rows,), optional
            The budget that a unit step on each row uses; positive.

        Returns
        -------
        float
            The loss of the block, before it was learnt.
        """
        return float(self._learn(X, y, None, groups, weights)[0])

    def learn_blocks(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        sizes: npt.ArrayLike,
        groups: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> npt.NDArray[np.float64]:
        """Learn blocks in order, with the same result as ``learn_block`` for each.

        For small blocks this is many times faster. All blocks are validated before the first one
        is learnt.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            The rows of all blocks.
        y : array of shape (rows,)
            Their signs, +1 and -1.
        sizes : array of int of shape (blocks,)
            The number of rows of each block; the sizes sum to the number of rows.
        groups : array of shape (rows,), optional
            The group of each row within its block.
        weights : array of shape (rows,), optional
            The budget that a unit step on each row uses; positive.

        Returns
        -------
        array of shape (blocks,)
            The loss of each block, before it was learnt.
        """
        return self._learn(X, y, sizes, groups, weights)

    def _learn(
        self,
        X: MatrixLike,
        y: npt.ArrayLike,
        sizes: npt.ArrayLike | None,
        groups: npt.ArrayLike | None,
        weights: npt.ArrayLike | None,
    ) -> npt.NDArray[np.float64]:
        first = not self.is_started
        with restored_on_error(self):
            matrix = as_matrix(validated(self, X, reset=first))
            rows, columns = matrix.shape
            blocks = np.array([rows]) if sizes is None else _sizes(sizes, rows)
            signs = _signs(y, rows)
            numbers = None if groups is None else _group_numbers(groups, rows)
            if first:
                self.start(columns)
            v = None if weights is None else _positive(weights, rows, 1 / self.largest_weight)
            self.check_rows(matrix)
        return self.learn_rows(matrix, signs, blocks, numbers, v)

    def start(self, columns: int) -> None:
        """Start without a row.

        Parameters
        ----------
        columns : int
            The number of columns of the rows.
        """
        settings = {**self._checked_settings(), "n_features": columns}
        native = self._make_native(settings)
        self.n_features_in_ = columns
        self._settings, self._native = settings, native

    @property
    def largest_weight(self) -> float:
        """The largest factor of the budget C that cannot overflow the weights."""
        return LARGEST_BUDGET[self._settings["dtype"]] / float(self._settings["C"])

    def check_rows(self, matrix: core.Matrix) -> None:
        """Raise ValueError if some row cannot be learnt.

        Parameters
        ----------
        matrix : Matrix
            Rows, which may have fewer columns than declared.
        """
        self._native.check(matrix)

    def learn_rows(
        self,
        matrix: core.Matrix,
        signs: npt.NDArray[np.float64],
        sizes: npt.NDArray[np.int64],
        groups: npt.NDArray[np.int32] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> npt.NDArray[np.float64]:
        """Learn validated blocks, and return the loss of each before it was learnt.

        Parameters
        ----------
        matrix : Matrix
            The rows of all blocks.
        signs : array of shape (rows,)
            +1 and -1.
        sizes : array of shape (blocks,)
            The number of rows of each block.
        groups : array of shape (rows,), optional
            The group of each row within its block, from 0.
        weights : array of shape (rows,), optional
            The budget that a unit step on each row uses.
        """
        unsolved = self._native.unsolved
        losses = self._native.learn(matrix, signs, sizes, groups, weights)
        warn_if_unsolved(self._native, unsolved)
        return losses

    def score_rows(self, matrix: core.Matrix) -> npt.NDArray[np.float64]:
        """Return the scores of validated rows, (rows,).

        Parameters
        ----------
        matrix : Matrix
            Rows, which may have fewer columns than declared.
        """
        return self._native.score(matrix)

    def decision_function(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the scores of rows, (rows,).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Rows.
        """
        self._require_fit()
        matrix = as_matrix(validated(self, X, reset=False))
        self.check_rows(matrix)
        return self.score_rows(matrix)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The weights, (n,)."""
        self._require_start("coef_")
        found = self._native.weights()
        out = np.full(self.n_features_in_, found.unseen, dtype=found.weights.dtype)
        out[found.features] = found.weights
        return out

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the trials so far: counts, losses and the proven bound."""
        self._require_start("certificate_")
        return Certificate.of(self._native.certificate(), self._settings)

    def _checked_settings(self) -> dict[str, Any]:
        geometry = parameters.choice(self.geometry, "geometry", BLOCK_GEOMETRIES)
        dtype = parameters.choice(self.dtype, "dtype", ("float32", "float64"))
        margin = DEFAULT_BLOCK_MARGIN[geometry] if self.margin is None else self.margin
        return {
            "update": checked_block_update(self.update, geometry),
            "geometry": geometry,
            "C": parameters.positive(self.C, "C", LARGEST_BUDGET[dtype]),
            "margin": parameters.positive(margin, "margin", LARGEST_CONSTANT),
            "dtype": dtype,
        }

    @staticmethod
    def _make_native(settings: dict[str, Any]) -> core.BlockLearner32 | core.BlockLearner64:
        return new_native((core.BlockLearner32, core.BlockLearner64), settings)

    def _require_fit(self) -> None:
        if not self.is_started:
            raise NotFittedError("this learner has learnt nothing yet: call learn_block first")

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
        state = self._native.state()
        header = {
            "params": self.get_params(),
            "settings": self._settings,
            **columns_of(self),
            "numbers": state["numbers"],
        }
        return header, state["arrays"]

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
        self = cls(**header["params"])
        restore_columns(self, header)
        features = arrays["features"]
        if len(features) and not 0 <= features.min() <= features.max() < self.n_features_in_:
            raise ValueError(f"it has weights of features beyond its {self.n_features_in_}")
        self._restore_native(header, arrays)
        return self


def checked_block_update(update: object, geometry: str) -> str:
    """Validate an update rule for blocks; ValueError if the geometry does not have it.

    Parameters
    ----------
    update : object
        The value of the parameter ``update``.
    geometry : str
        A valid geometry.
    """
    name = parameters.choice(update, "update", BLOCK_UPDATES)
    if geometry == "entropic" and not BLOCK_RULES[name].entropic:
        raise ValueError(f"update={name!r} does not exist for geometry='entropic'")
    return name


def _signs(y: npt.ArrayLike, rows: int) -> npt.NDArray[np.float64]:
    signs = np.ascontiguousarray(y, dtype=np.float64)
    if signs.shape != (rows,):
        raise ValueError(f"y must have shape ({rows},), one sign per row, got {signs.shape}")
    right = (signs == 1) | (signs == -1)
    if not right.all():
        row = int(np.argmin(right))
        raise ValueError(f"y: row {row} is {signs[row]:g}; signs must be +1 or -1")
    return signs


def _sizes(sizes: npt.ArrayLike, rows: int) -> npt.NDArray[np.int64]:
    given = np.asarray(sizes)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(f"sizes must have one integer per block, got {sizes!r}")
    wrong = given < 0
    if wrong.any():
        block = int(np.argmax(wrong))
        raise ValueError(f"sizes: block {block} has {given[block]} rows; sizes must be 0 or more")
    if given.sum() != rows:
        raise ValueError(f"sizes must sum to the {rows} rows of X, got {given.sum()}")
    return np.ascontiguousarray(given, dtype=np.int64)


def _group_numbers(groups: npt.ArrayLike, rows: int) -> npt.NDArray[np.int32]:
    given = np.asarray(groups)
    if given.shape != (rows,):
        raise ValueError(f"groups must have shape ({rows},), one group per row, got {given.shape}")
    try:
        return np.unique(given, return_inverse=True)[1].astype(np.int32)
    except TypeError as error:
        raise ValueError(f"groups must be of one type that can be sorted: {error}") from None


def _positive(weights: npt.ArrayLike, rows: int, least: float) -> npt.NDArray[np.float64]:
    given = np.ascontiguousarray(weights, dtype=np.float64)
    if given.shape != (rows,):
        raise ValueError(
            f"weights must have shape ({rows},), one number per row, got {given.shape}"
        )
    # A smaller weight could make a step that overflows the model's weights.
    wrong = ~((given >= least) & (given <= 1 / least))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"weights: row {row} is {given[row]:g}; weights must be positive, from {least:g} to "
            f"{1 / least:g}"
        )
    return given
