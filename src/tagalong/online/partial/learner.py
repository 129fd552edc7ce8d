"""Label ranking with partial feedback (P3): show some labels, learn which were accepted."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_array, check_is_fitted

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.certificates.regret_bound import ConfidenceBound
from tagalong.learning.estimators import restored_on_error
from tagalong.learning.examples import as_matrix
from tagalong.learning.input_types import Classes, MatrixLike, SampleWeight, TargetsLike
from tagalong.learning.labels import LabelRows, Targets, label_list
from tagalong.learning.protocols import Task
from tagalong.learning.rounds import Round, Rounds
from tagalong.online.native import new_native
from tagalong.online.partial.lists import MaxLabels, Played, ShownList, checked_sizes, row_count
from tagalong.online.partial.slot_costs import (
    SlotCostLike,
    checked_list_settings,
    cost_table,
    longest_list,
)
from tagalong.online.partial.surrogate import LossLike, checked_loss, loss_of_setting, saved_loss
from tagalong.online.ranker import Example, OnlineRanker, Settings
from tagalong.online.weights import native_coef_matrix

__all__ = ["PartialFeedbackRanker"]

COVARIANCES = ("full", "diagonal", "kernel")
KERNELS = ("linear", "rbf")
LARGEST_RADIUS = 20.0  # for larger margins the logistic curvature is numerically zero
LARGEST_WEIGHT = 1e6


class PartialFeedbackRanker(OnlineRanker):
    r"""Shows an ordered list of labels, and learns only which of them were accepted.

    Every label i has weights :math:`w_i` and a matrix :math:`A_i = I + \sum x x^\top` over the
    rounds in which it was shown. Its margin :math:`\Delta_i = \langle w_i, x\rangle`, projected
    onto [-R, R], has the confidence width :math:`\epsilon_i`, which shrinks with
    :math:`x^\top A_i^{-1} x`. A round

    1. computes upper confidence bounds :math:`\hat p_i = p(\Delta_i + \epsilon_i)`, which rank
       likely labels and rarely shown labels first;
    2. shows the list with the least expected cost, given by ``miss_weight`` and ``slot_cost``;
    3. learns from the shown labels: an online Newton step on the surrogate loss.

    Parameters
    ----------
    loss : "square", "logistic", "exponential" or a loss, default "square"
        The surrogate loss. It also determines the probability of a margin: (1 + margin)/2 for
        square, the logistic function for logistic, that of twice the margin for exponential.
        `tagalong.losses.MarginLoss` defines losses of your own; their constants are checked
        numerically, and a model file has them as numbers.
    radius : float, default 1
        R: margins are limited to [-R, R]. At most 1 for the square loss.
    miss_weight : float, default 0.5
        The cost a of a relevant label that is not shown. An irrelevant label in slot i of s costs
        (1 - a) c(i, s). With 1 and strictly decreasing costs, every list has ``max_labels`` labels:
        the ranking mode.
    slot_cost : str, function or table, default "decreasing"
        The costs c(i, s), from 0 to 1 and not increasing from slot to slot. ``"decreasing"``:
        (s - i + 1)/s. ``"constant"``: 1. A function of slot and size, both from 1, which needs
        ``max_labels``. Or a table with a row of s costs for each size s = 1, 2, ...
    max_labels : int, optional
        S, the largest number of labels in a list. No limit by default.
    delta : float, default 0.05
        The probability with which the confidence widths may fail; below 1/e.
    norm_bound : float, optional
        U, an upper bound on the norm of the true weight vectors. If it is None, the widths adapt
        to an unknown norm; they are at most 2R.
    covariance : "full", "diagonal" or "kernel", default "full"
        The representation of A: a full matrix per label, which takes about 8 * K * n**2 bytes
        (float32: 6 * K * n**2); its diagonal, for which no bound is proven; or the kernel form, in
        dual variables over the rows that the label was shown for.
    exploration : float, default 1
        A factor for the widths. The theory requires 1; its widths are about ten times the observed
        errors. With 0 there is no exploration: lists follow the estimated probabilities.
    update : "partial" or "full", default "partial"
        ``"full"`` is the baseline with full information: no widths, and in a game on full labels
        every label learns, shown or not.
    width : "dimension" or "determinant", default "dimension"
        The measure of information in the widths: the numbers of features and rounds, or ln|A| of
        the label, which is smaller. The kernel form always uses ln|A|.
    ties : "width" or "index", default "width"
        The order of labels with equal upper confidence bounds: by margin and width without the
        limit R, so that all labels are shown early; or by label number.
    kernel : "linear" or "rbf", optional
        The kernel for ``covariance="kernel"``; linear by default.
    gamma : float, optional
        Parameter of the kernel exp(-gamma * abs(x - z)**2); 1 by default, which suits rows of
        length 1.
    normalize : bool, default True
        Scale rows to length 1. Without it no bound is proven, and longer rows have more influence.
    max_explore : int, optional
        The largest number of labels in a list that are shown only to explore, that is, not by
        their estimated probabilities. If it is set, no regret bound is proven.
    dtype : "float32" or "float64", default "float64"
        The type in which weights and inverse matrices are stored and scores are summed. The kernel
        form always computes in double precision.
    passes : int, default 1
        The number of passes of ``fit`` over the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features, to fix it before the first example. Widths depend on it. The
        default is the number of columns of the first matrix, or with single examples the number of
        features seen so far.
    memory_limit : float, default 2e9
        The largest memory for the matrices A, in bytes; a model that needs more raises ValueError.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array or CSR array of shape (K, n)
        The weights, without the projection onto [-R, R]. Not available for the rbf kernel.
    certificate_ : ConfidenceBound
        The bound on the regret so far: the cost of the lists shown minus that of the best lists.
    n_features_in_ : int
        The number of columns of the training matrices.
    feature_names_in_ : array of str
        The column names of the first DataFrame.

    Notes
    -----
    ``suggest`` and the predictions do not change the model; ``feedback`` and the methods that play
    the game do. Feedback may come later and in any order: the update uses the model at that time,
    so that a suggestion need not be stored. ``fit``, ``partial_fit``, ``learn_one``, ``play`` and
    the ``watch`` methods play the game on full labels: each round chooses a list, and learns the
    relevance of the labels in it. Labels that are not shown have no influence on the model, to the
    last bit.

    ``decision_function`` and ``rank`` use the estimates without widths. ``predict`` returns the
    labels of the best list by these estimates. Targets are as for `LabelRanker`; a label of
    unknown relevance is not learnt. A ``sample_weight`` v counts a row as v equal rows in the
    matrix A and in the step; the theory covers only v = 1.

    New labels start with the largest width, so they are shown soon. A new label in the targets of a
    row takes part after that round.

    References
    ----------
    .. [1] Gentile, Orabona. On Multilabel Classification and Ranking with Partial Feedback.
       NIPS 2012; JMLR 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong import PartialFeedbackRanker
    >>> ranker = PartialFeedbackRanker(max_labels=1, exploration=0.1).add_labels(["cat", "dog"])
    >>> barks = np.array([[0.0, 1.0]])
    >>> for _ in range(20):
    ...     (shown,) = ranker.suggest(barks)
    ...     _ = ranker.feedback(barks, [shown], [[label for label in shown if label == "dog"]])
    >>> ranker.suggest(barks)[0].labels
    ['dog']
    """

    _native: core.PartialRanker32 | core.PartialRanker64

    def __init__(
        self,
        loss: LossLike = "square",
        radius: float = 1.0,
        miss_weight: float = 0.5,
        slot_cost: SlotCostLike = "decreasing",
        max_labels: int | None = None,
        delta: float = 0.05,
        norm_bound: float | None = None,
        covariance: str = "full",
        exploration: float = 1.0,
        update: str = "partial",
        width: str = "dimension",
        ties: str = "width",
        kernel: str | None = None,
        gamma: float | None = None,
        normalize: bool = True,
        max_explore: int | None = None,
        dtype: str = "float64",
        passes: int = 1,
        n_features: int | None = None,
        memory_limit: float = 2e9,
    ):
        self.loss = loss
        self.radius = radius
        self.miss_weight = miss_weight
        self.slot_cost = slot_cost
        self.max_labels = max_labels
        self.delta = delta
        self.norm_bound = norm_bound
        self.covariance = covariance
        self.exploration = exploration
        self.update = update
        self.width = width
        self.ties = ties
        self.kernel = kernel
        self.gamma = gamma
        self.normalize = normalize
        self.max_explore = max_explore
        self.dtype = dtype
        self.passes = passes
        self.n_features = n_features
        self.memory_limit = memory_limit

    def suggest(self, X: MatrixLike, max_labels: MaxLabels = None) -> list[ShownList]:
        """Return the labels to show for each row, in order. Changes nothing.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        max_labels : int or array of int of shape (rows,), optional
            The largest number of labels in these lists, or in the list of each row; by default the
            parameter ``max_labels``.
        """
        self._require_labels()
        matrix = self._matrix_to_suggest_for(X)
        most = self._list_sizes(max_labels, matrix.shape[0])
        found: tuple[npt.NDArray[Any], ...] = self._native.suggest(matrix, most)
        ends, *columns = found
        return [
            self._shown_list([column[start:end] for column in columns])
            for start, end in pairwise(ends)
        ]

    def suggest_one(self, x: Example, max_labels: int | None = None) -> ShownList:
        """Return the labels to show for one example, in order. Changes nothing.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        max_labels : int, optional
            The largest number of labels in the list; by default the parameter ``max_labels``.
        """
        self._require_labels()
        pairs, _ = self._pairs(x, learning=False)
        found: tuple[npt.NDArray[Any], ...]
        most = self._list_sizes(max_labels, 1)
        found = self._native.suggest_one(*pairs, 0 if most is None else int(most[0]))
        return self._shown_list(found[1:])

    def _shown_list(self, columns: Sequence[npt.NDArray[Any]]) -> ShownList:
        labels, optimistic, plain, widths, explores = columns
        names = self._labels.names
        found = [names[label] for label in labels]
        return ShownList(found, optimistic, plain, widths, explores.astype(bool))

    def feedback(
        self,
        X: MatrixLike,
        shown: Sequence[Iterable[Hashable]],
        accepted: Sequence[Iterable[Hashable]],
    ) -> Self:
        """Learn which of the shown labels were accepted. Each row is a round, in order.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        shown : sequence of `ShownList` or of collections of labels
            The labels shown for each row, in the order shown.
        accepted : sequence of collections of labels
            The accepted labels among those shown; the others count as rejected.
        """
        self._require_labels()
        with restored_on_error(self):
            matrix = as_matrix(self._validate(X, reset=not hasattr(self, "n_features_in_")))
            self._native.check(matrix)
            rows = matrix.shape[0]
            for name, given in (("shown", shown), ("accepted", accepted)):
                if len(given) != rows:
                    raise ValueError(f"X has {rows} rows but {name} has {len(given)}")
            pairs = [
                self._feedback_numbers(lists, answers, f"row {i}: ")
                for i, (lists, answers) in enumerate(zip(shown, accepted, strict=True))
            ]
            self._names = self._names or self._column_names()
        self._declare_columns(matrix)
        lists = LabelRows.from_lists([pair[0] for pair in pairs])
        answers = LabelRows.from_lists([pair[1] for pair in pairs])
        self._native.feedback(matrix, lists, answers)
        return self

    def feedback_one(
        self, x: Example, shown: Iterable[Hashable], accepted: Iterable[Hashable]
    ) -> Self:
        """Learn which of the labels shown for one example were accepted.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        shown : ShownList or collection of labels
            The labels shown, in the order shown.
        accepted : collection of labels
            The accepted labels among those shown; the others count as rejected.
        """
        self._require_labels()
        with restored_on_error(self):
            numbers = self._feedback_numbers(shown, accepted, "")
            pairs, new_names = self._pairs(x, learning=True)
            self._native.feedback_one(*pairs, *numbers)
            if self._names is not None:
                self._names.extend(new_names)
        return self

    def play(
        self,
        X: MatrixLike,
        Y: TargetsLike,
        classes: Classes = None,
        max_labels: MaxLabels = None,
        sample_weight: SampleWeight = None,
    ) -> Played:
        """Play the game on full labels row by row; return the lists shown and their losses.

        Learns like ``partial_fit``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            As for ``partial_fit``.
        max_labels : int or array of int of shape (rows,), optional
            The largest number of labels in these lists, or in the list of each round; by default
            the parameter ``max_labels``.
        sample_weight : array of shape (rows,), optional
            As for ``partial_fit``.
        """
        most = self._list_sizes(max_labels, row_count(X))
        matrix, targets, weights = self._checked_batch(X, Y, classes, sample_weight)
        self._declare_columns(matrix)
        try:
            lists, right, losses, partial = self._native.play(
                matrix, targets.relevant, targets.unknown, weights=weights, most=most
            )
        finally:
            self._native.add_labels(len(self._labels) - self._native.labels)
        ends, shown = lists.indptr, lists.indices
        names = self._labels.names
        named = list(map(names.__getitem__, shown.tolist()))
        accepted = list(map(names.__getitem__, shown[right == 1].tolist()))
        hits = np.concatenate([[0], np.cumsum(right, dtype=np.int64)])[ends]
        return Played(
            [named[start:end] for start, end in pairwise(ends.tolist())],
            [accepted[start:end] for start, end in pairwise(hits.tolist())],
            losses,
            partial,
        )

    def predict(self, X: MatrixLike) -> npt.NDArray[Any]:
        """Return an indicator of the labels in the best list, by the estimated probabilities.

        A classifier (trained with one label per row) returns the best label of each row.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        matrix = self._checked_matrix(X)
        if self._single:
            scores, _ = self._native.score(matrix)
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return self._native.predict(matrix)

    @property
    def certificate_(self) -> ConfidenceBound:
        """The bound on the regret of the lists shown so far."""
        self._require_start("certificate_")
        return ConfidenceBound.of(self._native.certificate(), self._settings)

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights, (K, n)."""
        self._require_start("coef_")
        if self._settings["kernel"] != "linear":
            raise AttributeError(f"kernel={self._settings['kernel']!r} has no weights, so no coef_")
        return native_coef_matrix(self._native.weights(), self._feature_counts())

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Add labels, which start with the largest width and take part from the next round on.

        Parameters
        ----------
        labels : collection of labels
            The new labels: distinct, and none of them known already.
        """
        labels = label_list(labels, "labels")
        settings = self._current_settings()
        known = len(self._labels) if self.is_started else 0
        features = settings.get("n_features") or self.n_features or 0
        self._check_memory(settings, known + len(labels), features)
        return super().add_labels(labels)

    @property
    def task(self) -> Task:
        """The kind of prediction: a list of labels to show, with feedback on it."""
        return "lists"

    @property
    def learns_rows(self) -> bool:
        """Whether ``watch_rows`` exists: False, because its rounds would lack the lists shown."""
        return False

    def _require_editable_weights(self) -> None:
        raise ValueError(
            "labels of a PartialFeedbackRanker can be renamed, but not forgotten or merged, and "
            "its features cannot be pruned: its confidence matrices cannot be edited"
        )

    def _check_start(self, settings: Settings, labels: int, features: int) -> None:
        self._check_memory(settings, labels, features)

    @staticmethod
    def _check_memory(settings: Settings, labels: int, features: int) -> None:
        """Raise ValueError for matrices beyond the memory limit, before the first is allocated."""
        if settings["covariance"] != "full":
            return
        kind = _native_class(settings)
        needed = labels * kind.bytes_a_label(float(features))
        if needed > settings["memory_limit"]:
            raise ValueError(
                f"covariance='full' would take {needed / 1e6:,.0f} MB for {labels} labels and "
                f"{features} features, more than memory_limit={settings['memory_limit']:g} bytes: "
                "use covariance='diagonal', fewer features or labels, or a larger memory_limit"
            )

    def _learn(
        self,
        matrix: core.Matrix,
        targets: Targets,
        weights: npt.NDArray[np.float64] | None,
        watched: Rounds | None,
        judged: bool | float = True,
        with_places: bool = True,
    ) -> Rounds | None:
        self._declare_columns(matrix)
        return super()._learn(matrix, targets, weights, watched, judged, with_places)

    def _empty_places(self, rows: int) -> None:
        """Return None: the learner estimates probabilities, but does not check them."""

    def _declare_columns(self, matrix: core.Matrix) -> None:
        """Take the number of features from the matrix, if no round has been played yet."""
        if not self._settings["n_features"] and self._native.certificate().rounds == 0:
            self._settings = {**self._settings, "n_features": matrix.shape[1]}
            self._native.declare_features(matrix.shape[1])

    def _learn_example(
        self,
        x: Example,
        y: Hashable | Iterable[Hashable],
        unknown: Collection[Hashable],
        weight: float,
        judged: bool | float,
        watched: bool,
    ) -> Round:
        found = super()._learn_example(x, y, unknown, weight, judged, watched)
        if not watched:
            return found
        shown, _, _ = self._native.last_round()
        return Round(found.scores, found.cutoff, found.relevant, found.unknown, shown)

    def _require_labels(self) -> None:
        check_is_fitted(
            self, msg="there are no labels yet: use add_labels, or learn examples, first"
        )

    def _list_sizes(self, max_labels: MaxLabels, rows: int) -> npt.NDArray[np.int64] | None:
        """Return the largest size of the list of each row; None for the parameter's."""
        if max_labels is None:
            return None
        sizes = checked_sizes(max_labels, rows)
        longest = longest_list(self._current_settings()["slot_cost"])
        if longest is not None and sizes.max(initial=0) > longest:
            raise ValueError(
                f"slot_cost has costs for lists of up to {longest} labels, but max_labels is "
                f"{sizes.max()}"
            )
        return sizes

    def _matrix_to_suggest_for(self, X: MatrixLike) -> core.Matrix:
        if hasattr(self, "n_features_in_"):
            return self._checked_matrix(X)
        # Before the first matrix is learnt, any number of columns is valid.
        numbers = [np.float64, np.float32]
        rows = check_array(
            X, accept_sparse="csr", dtype=numbers, order="C", ensure_all_finite=False
        )
        matrix = as_matrix(rows)
        self._native.check(matrix)
        return matrix

    def _feedback_numbers(
        self, shown: Iterable[Hashable], accepted: Iterable[Hashable], place: str
    ) -> tuple[list[int], list[int]]:
        """Return the numbers of the shown labels and of the accepted ones."""
        if isinstance(shown, ShownList):
            shown = shown.labels
        numbers: list[list[int]] = []
        for name, labels in (("shown", shown), ("accepted", accepted)):
            row = []
            for label in label_list(labels, f"{place}{name}"):
                if label not in self._labels.number:
                    raise ValueError(f"{place}{name} label {label!r} is not in classes_")
                row.append(self._labels.number[label])
            if len(set(row)) < len(row):
                raise ValueError(f"{place}{name} has a label twice: {labels!r}")
            numbers.append(row)
        for label in numbers[1]:
            if label not in numbers[0]:
                wrong = self._labels.names[label]
                raise ValueError(f"{place}accepted label {wrong!r} was not shown")
        return numbers[0], numbers[1]

    def _params_with(self, settings: Settings) -> dict[str, Any]:
        kernel = settings["kernel"] if settings["covariance"] == "kernel" else None
        return {
            **super()._params_with(settings),
            "loss": loss_of_setting(settings["loss"], settings["radius"]),
            "slot_cost": cost_table(settings["slot_cost"]),
            "max_labels": settings["max_labels"] or None,
            "max_explore": None if settings["max_explore"] == -1 else settings["max_explore"],
            "kernel": kernel,
            "gamma": settings["gamma"] if kernel == "rbf" else None,
        }

    def _checked_settings(self) -> Settings:
        radius = parameters.positive(self.radius, "radius", LARGEST_RADIUS)
        delta = parameters.positive(self.delta, "delta")
        if delta >= np.exp(-1):
            raise ValueError(f"delta must be below 1/e = 0.3679, got {self.delta!r}")
        norm_bound = None
        if self.norm_bound is not None:
            norm_bound = parameters.positive(self.norm_bound, "norm_bound")
        exploration = parameters.real(self.exploration, "exploration")
        if exploration < 0:
            raise ValueError(f"exploration must not be negative, got {self.exploration!r}")
        covariance = parameters.choice(self.covariance, "covariance", COVARIANCES)
        width = parameters.choice(self.width, "width", ("dimension", "determinant"))
        if self.n_features is not None:
            parameters.integer(self.n_features, "n_features", 1, 2**31)
        parameters.integer(self.passes, "passes", 1)
        game = checked_list_settings(self.miss_weight, self.slot_cost, self.max_labels)
        if self.max_explore is not None:
            game["max_explore"] = parameters.integer(self.max_explore, "max_explore", 0)
        return {
            **game,
            "loss": checked_loss(self.loss, radius),
            "radius": radius,
            "delta": delta,
            "norm_bound": norm_bound,
            "covariance": covariance,
            "exploration": exploration,
            "update": parameters.choice(self.update, "update", ("partial", "full")),
            "width": "determinant" if covariance == "kernel" else width,
            "ties": parameters.choice(self.ties, "ties", ("width", "index")),
            **self._checked_kernel(covariance),
            "normalize": parameters.flag(self.normalize, "normalize"),
            "memory_limit": parameters.positive(self.memory_limit, "memory_limit"),
            "dtype": parameters.choice(self.dtype, "dtype", ("float32", "float64")),
        }

    def _checked_kernel(self, covariance: str) -> Settings:
        kernel = "linear"
        if self.kernel is not None:
            kernel = parameters.choice(self.kernel, "kernel", KERNELS)
            if covariance != "kernel":
                raise ValueError(f"kernel={kernel!r} is for covariance='kernel' only")
        if self.gamma is not None and kernel != "rbf":
            raise ValueError(f"gamma={self.gamma!r} is for kernel='rbf' only")
        gamma = 1.0 if self.gamma is None else parameters.positive(self.gamma, "gamma")
        return {"kernel": kernel, "gamma": gamma}

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_WEIGHT

    @staticmethod
    def _make_native(settings: Settings) -> core.PartialRanker32 | core.PartialRanker64:
        return new_native((core.PartialRanker32, core.PartialRanker64), settings)

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
        header, arrays = super().to_parts()
        costs, loss = cost_table(self._settings["slot_cost"]), self._settings["loss"]
        saved = saved_loss(self.loss, loss, self._settings["radius"])
        params = {**self.get_params(deep=False), "slot_cost": costs, "loss": saved}
        if not isinstance(loss, str):
            params["radius"] = self._settings["radius"]  # the table is for this radius only
        return {**header, "params": params}, arrays

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
        params = {**params, "loss": loss_of_setting(params["loss"], params["radius"])}
        return super().from_parts({**header, "params": params}, arrays)


def _native_class(settings: Settings) -> type[core.PartialRanker32 | core.PartialRanker64]:
    return core.PartialRanker64 if settings["dtype"] == "float64" else core.PartialRanker32
