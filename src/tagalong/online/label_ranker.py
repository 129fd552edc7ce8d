"""Online label ranking by dual ascent (P1), with P2's schemes over label pairs."""

import numbers
import os
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, label_ranking_average_precision_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from tagalong import _native, persist
from tagalong.certificate import Certificate
from tagalong.examples import FeatureNames, Pair, as_matrix, as_pairs, comes_by_name
from tagalong.labels import Labels, Targets, label_array

__all__ = ["LabelRanker"]

Example: TypeAlias = tuple[Any, Any] | Mapping[Any, float]

UPDATES = ("fixed", "single", "optimal", "simperc", "conproj", "simproj", "simopt", "smooth")
GEOMETRIES = ("euclidean", "entropic", "adaptive")

# Chosen by measurement: docs/label-ranker.md has the figures.
DEFAULT_MARGIN = {"euclidean": 1.0, "adaptive": 1.0, "entropic": 0.1}
DEFAULT_CONSTANT = {"euclidean": 0.5, "adaptive": 0.5, "entropic": 0.0}
ADAPTIVE_RATE = 5.0

# A dense coef_ of more numbers than this would surprise: it becomes sparse.
DENSE_COEF_LIMIT = 50_000_000


class LabelRanker(ClassifierMixin, BaseEstimator):
    r"""Ranks labels for an example, and learns from each answer before the next one.

    Every label :math:`y` has a weight vector :math:`w_y` and scores :math:`\langle w_y, x\rangle`.
    After a round the dual vectors move along the example, :math:`\theta_y \mathrel{+}= \alpha_y x`,
    and the weights follow, :math:`w = \nabla G(\theta)`. The ``update`` chooses :math:`\alpha` so
    as to ascend the dual of

    .. math:: \min_w F(w) + C \sum_t \max(0, \gamma - \min_{r \in Y_t, s \notin Y_t}
              \langle w_r - w_s, x_t\rangle);

    the ``geometry`` is the choice of :math:`F`. The dual value is a live certificate: see
    ``certificate_``.

    Parameters
    ----------
    update : str, default "smooth"
        How a round moves the labels. ``"fixed"`` (P1's Update I), ``"single"`` (II; PA, and P2's
        multi-prototype MaxPA), ``"optimal"`` (III; P2's Sopopo); ``"simperc"``, ``"conproj"``,
        ``"simproj"``, ``"simopt"``: P2's schemes over all pairs of a relevant and an irrelevant
        label; ``"smooth"``: the exact step of a smoothed loss, whose limit for temperature 0 is
        ``"optimal"``.
    geometry : str, default "adaptive"
        ``"euclidean"``; ``"adaptive"``, in which features that were often updated move less;
        ``"entropic"``, in which each label's weights are a distribution over the features.
    C : float, default 10
        The budget of a round: how much weight it may move. Larger learns faster and forgets
        faster.
    margin : float, optional
        By how much relevant labels should score above the others. None means 1, and 0.1 in the
        entropic geometry.
    temperature : float, default 0.1
        Of the smooth loss.
    average : "auto", True or False, default "auto"
        Predict with the mean of the weights over the rounds (True), with the current ones
        (False), or with these, those or the middle of both, whichever has had the better
        average precision lately ("auto"). The entropic geometry has no averages: "auto" means
        False there.
    constant : float, optional
        Value of a constant feature that carries the labels' frequencies; 0 for none. None means
        0.5, and 0 in the entropic geometry. It is not part of ``coef_``.
    normalize : bool, default True
        Scale rows to length 1: to Euclidean length 1, or in the entropic geometry to largest
        absolute value 1, the length that matters there.
    solver : "exact" or "interior-point", default "exact"
        For ``update="optimal"``: exact water-filling, or P1's interior point method, which gives
        the same steps more slowly.
    passes : int, default 1
        How often ``fit`` goes through the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features, if it is to be fixed before the first example.
    dtype : "float32" or "float64", default "float32"
        How weights are stored and scores summed.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array or CSR array of shape (K, n)
        The weights that predict, built on demand; sparse when large.
    certificate_ : Certificate
        Rounds, mistakes, loss and dual value so far, and the mistake bound.
    cutoff_ : float
        The learnt score from which ``predict`` includes a label.
    n_features_in_ : int
        The number of columns of the matrices seen.
    feature_names_in_ : array of str
        The columns of the first DataFrame.

    Notes
    -----
    Targets may be an indicator matrix, dense or sparse; a list of collections of labels; or one
    label a row. NaN in a dense indicator means that the relevance is unknown: that label takes
    part in no pair. Rows with one label each make a classifier: ``predict`` then returns the
    best label and ``score`` is accuracy; otherwise ``predict`` returns an indicator and
    ``score`` is label-ranking average precision.

    The same stream gives the same bits, through ``fit``, ``partial_fit`` in batches of any size,
    ``learn_one``, or after saving and loading. One thread may learn while others predict.

    References
    ----------
    .. [1] Shalev-Shwartz, Singer. A Unified Algorithmic Approach for Efficient Online Label
       Ranking. AISTATS 2007.
    .. [2] Amit, Shalev-Shwartz, Singer. Online Learning of Complex Prediction Problems Using
       Simultaneous Projections. JMLR 2008.

    Examples
    --------
    >>> from tagalong import LabelRanker
    >>> ranker = LabelRanker().add_labels(["money", "travel"])
    >>> for words, labels in [
    ...     ({"invoice": 1, "due": 1}, ["money"]),
    ...     ({"flight": 1, "invoice": 1}, ["travel", "money"]),
    ...     ({"flight": 1, "delayed": 1}, ["travel"]),
    ... ]:
    ...     _ = ranker.learn_one(words, labels)
    >>> ranker.rank_one({"invoice": 1, "overdue": 1})
    ['money', 'travel']
    >>> ranker.certificate_.mistakes
    2
    """

    def __init__(
        self,
        update: str = "smooth",
        geometry: str = "adaptive",
        C: float = 10.0,
        margin: float | None = None,
        temperature: float = 0.1,
        average: bool | Literal["auto"] = "auto",
        constant: float | None = None,
        normalize: bool = True,
        solver: str = "exact",
        passes: int = 1,
        n_features: int | None = None,
        dtype: str = "float32",
    ):
        self.update = update
        self.geometry = geometry
        self.C = C
        self.margin = margin
        self.temperature = temperature
        self.average = average
        self.constant = constant
        self.normalize = normalize
        self.solver = solver
        self.passes = passes
        self.n_features = n_features
        self.dtype = dtype

    # ------------------------------------------------------------------ learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in the given order, ``passes`` times.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        y : targets
            See Notes.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each round; a row of weight 0 is passed over.
        """
        config = self._config()
        passes = _checked_int(self.passes, "passes", 1)
        X = self._validate(X, reset=True)
        labels = self._labels_of(y, None, fitting=True)
        targets = labels.encode(y, X.shape[0])
        weights = _weights(sample_weight, X)
        matrix = as_matrix(X)
        native = self._new_native(config, X.shape[1])
        native.check(matrix)
        labels.extend(targets.new)
        self._start(native, labels, targets.kind == "single")
        self._names = self._column_names()
        self._native.add_labels(len(labels))
        for _ in range(passes):
            self._learn(matrix, targets, weights, None)
        return self

    def partial_fit(
        self, X: Any, Y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from a batch, row by row. The whole batch is checked before any of it is learnt.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        Y : targets
            See Notes.
        classes : sequence of labels or "grow", optional
            All labels there will be, on the first call; or "grow" to let new labels appear at
            any time. May be left out if Y is an indicator, whose columns are then the labels.
        sample_weight : array of shape (rows,), optional
            Scales the budget C of each round; a row of weight 0 is passed over.
        """
        self._learn_batch(X, Y, classes, sample_weight, scores=False)
        return self

    def predict_then_learn(
        self, X: Any, Y: Any, classes: Any = None, sample_weight: Any = None
    ) -> npt.NDArray[Any]:
        """Learn like ``partial_fit``, and return the scores each row had just before it was learnt.

        The honest way to measure an online learner, at the price of learning alone. With
        ``classes="grow"``, a label that did not exist yet when a row came scores -infinity.

        Returns
        -------
        array of shape (rows, K)
            What ``decision_function`` would have said for each row at that moment.
        """
        return self._learn_batch(X, Y, classes, sample_weight, scores=True)

    def learn_one(self, x: Example, y: Any, unknown: Collection[Hashable] = ()) -> Self:
        """Learn one example.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            Features are numbers from 0 to 2**31 - 1, or names. New ones may appear at any time.
        y : label or collection of labels
            The relevant ones. On a new ranker labels may appear at any time.
        unknown : collection of labels
            Labels whose relevance is not known; they take part in no pair.
        """
        if not self._started():
            self._begin(self._config(), Labels(grows=True), single=False)
        pairs, new_names = self._pairs(x, learning=True)
        relevant, new = self._labels.encode_one(y)
        open_labels = self._labels.encode_one(unknown, "unknown")[0] if len(unknown) else []
        both = set(relevant).intersection(open_labels)
        if both:
            name = self._labels.names[min(both)]
            raise ValueError(f"label {name!r} cannot be both relevant and unknown")
        self._labels.extend(new)
        try:
            self._native.learn_one(
                *pairs, np.array(relevant, np.int32), np.array(open_labels, np.int32), 1.0
            )
        except ValueError:
            self._labels.withdraw(len(new))
            raise
        if self._names is not None:
            self._names.extend(new_names)
        return self

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Add labels, with no weights yet, that take part from the next round on."""
        labels = list(labels)
        if not self._started():
            self._begin(self._config(), Labels(), single=False)
        self._labels.extend(labels)
        self._native.add_labels(len(self._labels) - self._native.labels)
        return self

    # ---------------------------------------------------------------- predicting

    def decision_function(self, X: Any) -> npt.NDArray[Any]:
        """Return the scores of all labels, (rows, K).

        A classifier for two classes returns the difference of their scores, (rows,), as is usual
        in scikit-learn.
        """
        scores, _ = self._scores(X)
        if self._single and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def rank(self, X: Any, k: int | None = None) -> npt.NDArray[Any]:
        """Return the k best labels of each row, or all of them, best first: (rows, k)."""
        check_is_fitted(self)
        matrix = self._checked_matrix(X)
        return np.asarray(self.classes_[self._native.rank(matrix, _count(k))])

    def rank_one(self, x: Example, k: int | None = None) -> list[Any]:
        """Return the k best labels for one example, or all of them, best first."""
        if not self._started():
            return []
        if type(x) is tuple:
            pairs = as_pairs(x)
        else:
            pairs, _ = self._pairs(x, learning=False)
        names = self._labels.names
        return [names[label] for label in self._native.rank_one(*pairs, _count(k))]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return an indicator of the labels that score at least ``cutoff_``.

        A classifier (trained with one label a row) returns the best label of each row.
        """
        scores, cutoff = self._scores(X)
        if self._single:
            return np.asarray(self.classes_[scores.argmax(axis=1)])
        return (scores >= cutoff).astype(np.int64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, else the label-ranking average precision."""
        if self._is_single():
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        scores, _ = self._scores(X)
        targets = self._labels.encode(y, len(scores))
        truth = np.zeros(scores.shape, dtype=np.int8)
        rows = np.repeat(np.arange(len(scores)), np.diff(targets.relevant.indptr))
        truth[rows, targets.relevant.indices] = 1
        return float(
            label_ranking_average_precision_score(truth, scores, sample_weight=sample_weight)
        )

    # ---------------------------------------------------------------- attributes

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of their columns."""
        self._require_start("classes_")
        return label_array(self._labels.names)

    @property
    def certificate_(self) -> Certificate:
        """What the learner can prove about the rounds so far."""
        self._require_start("certificate_")
        facts = self._native.certificate()
        rounds = facts["solver_rounds"]
        mean = facts["solver_iterations"] / rounds if rounds else 0.0
        config = self._settings
        return Certificate(
            **{
                name: facts[name]
                for name in ("rounds", "mistakes", "loss", "dual", "curvature")
                + ("least_weight", "most_weight")
            },
            **{name: config[name] for name in ("update", "geometry", "C", "margin", "temperature")},
            solver_iterations=(facts["solver_most_iterations"], mean),
        )

    @property
    def cutoff_(self) -> float:
        """The score from which ``predict`` includes a label."""
        self._require_start("cutoff_")
        return float(self._native.certificate()["cutoff"])

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights that predict, (K, n)."""
        self._require_start("coef_")
        found = self._native.weights()
        features, weights, unseen = found["features"], found["weights"], found["unseen"]
        own = features >= 0  # the constant feature is none of the user's
        features, weights = features[own], weights[own]
        n = max(getattr(self, "n_features_in_", 0), int(features.max(initial=-1)) + 1)
        size = n * len(self._labels)
        if size <= DENSE_COEF_LIMIT:
            dense = np.repeat(unseen[:, None], n, axis=1)
            dense[:, features] = weights.T
            return np.asarray(dense)
        if unseen.any():
            raise ValueError(
                f"coef_ would have {size:,} numbers, none of them zero in the entropic geometry"
            )
        rows, labels = np.nonzero(weights)
        return sp.csr_array(
            (weights[rows, labels], (labels, features[rows])), shape=(len(self._labels), n)
        )

    # --------------------------------------------------------------- persistence

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the ranker to a file; `tagalong.load` reads it."""
        check_is_fitted(self)
        persist.save(self, path)

    def _to_file(self) -> tuple[dict[str, Any], persist.Arrays]:
        state = self._native.state()
        header = {
            "params": self.get_params(),
            "labels": [persist.encode_label(name) for name in self._labels.names],
            "grows": self._labels.grows,
            "single": self._single,
            "settings": self._settings,
            "n_features_in": getattr(self, "n_features_in_", None),
            "columns": [str(name) for name in getattr(self, "feature_names_in_", [])],
            "names": None if self._names is None else list(self._names.number),
            "numbers": state["numbers"],
        }
        return header, state["arrays"]

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: persist.Arrays) -> Self:
        self = cls(**header["params"])
        labels = Labels(map(persist.decode_label, header["labels"]), header["grows"])
        native = _make_native(header["settings"])
        native.restore({"arrays": arrays, "numbers": header["numbers"]})
        self._settings = header["settings"]
        self._start(native, labels, header["single"])
        if header["n_features_in"] is not None:
            self.n_features_in_ = header["n_features_in"]
        if header["columns"]:
            self.feature_names_in_ = np.array(header["columns"], dtype=object)
        if header["names"] is not None:
            self._names = FeatureNames(header["names"], grows=not header["columns"])
        return self

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_native" in state:
            state = {**state, "_native": self._native.state()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_native" in state:
            native = _make_native(self._settings)
            native.restore(state["_native"])
            self._native = native

    def __sklearn_is_fitted__(self) -> bool:
        return self._started()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags

    # ------------------------------------------------------------------- inside

    def _config(self) -> dict[str, Any]:
        """Check the parameters; return them as the native core wants them."""
        _checked_choice(self.update, "update", UPDATES)
        _checked_choice(self.geometry, "geometry", GEOMETRIES)
        _checked_choice(self.solver, "solver", ("exact", "interior-point"))
        _checked_choice(self.dtype, "dtype", ("float32", "float64"))
        if self.average not in ("auto", True, False):
            raise ValueError(f"average must be 'auto', True or False, got {self.average!r}")
        entropic = self.geometry == "entropic"
        if entropic and self.update == "simopt":
            raise ValueError(
                "update='simopt' does not exist for geometry='entropic'; use 'simproj', or the "
                "euclidean or adaptive geometry"
            )
        if entropic and self.average is True:
            raise ValueError("geometry='entropic' has no averages: average must be 'auto' or False")
        if self.solver == "interior-point" and self.update != "optimal":
            raise ValueError("solver='interior-point' is for update='optimal' only")
        margin = DEFAULT_MARGIN[self.geometry] if self.margin is None else self.margin
        constant = DEFAULT_CONSTANT[self.geometry] if self.constant is None else self.constant
        if self.n_features is not None:
            _checked_int(self.n_features, "n_features", 1, 2**31)
        average = {"auto": "chosen", True: "always", False: "never"}[self.average]
        return {
            "update": self.update,
            "geometry": self.geometry,
            "C": _checked_positive(self.C, "C"),
            "margin": _checked_positive(margin, "margin"),
            "temperature": _checked_positive(self.temperature, "temperature"),
            "average": "never" if entropic else average,
            "constant": _checked_real(constant, "constant"),
            "normalize": bool(self.normalize),
            "solver": self.solver,
            "rate": ADAPTIVE_RATE,
            "dtype": self.dtype,
        }

    def _started(self) -> bool:
        return "_native" in self.__dict__

    def _require_start(self, name: str) -> None:
        # AttributeError, so that hasattr() tells whether there is anything yet.
        if not self._started():
            raise AttributeError(f"{name} is there once the ranker has learnt something")

    def _is_single(self) -> bool:
        check_is_fitted(self)
        return self._single

    def _new_native(self, config: dict[str, Any], columns: int | None) -> _native.LabelRanker32:
        declared = self.n_features if self.n_features is not None else (columns or 0)
        self._settings = {**config, "n_features": declared}
        return _make_native(self._settings)

    def _start(self, native: _native.LabelRanker32, labels: Labels, single: bool) -> None:
        self._native = native
        self._labels = labels
        self._single = single
        self._names: FeatureNames | None = None

    def _begin(self, config: dict[str, Any], labels: Labels, single: bool) -> None:
        self._start(self._new_native(config, None), labels, single)
        self._native.add_labels(len(labels))

    def _column_names(self) -> FeatureNames | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else FeatureNames(map(str, names), grows=False)

    def _validate(self, X: Any, reset: bool) -> Any:
        # Whether values are finite is checked natively, which can say where they are not.
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
        )
        if self.n_features is not None and X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} columns, but n_features={self.n_features} was declared"
            )
        return X

    def _labels_of(self, Y: Any, classes: Any, fitting: bool) -> Labels:
        """Return the labels of a ranker that starts with these targets."""
        if isinstance(classes, str) and classes == "grow":
            return Labels(grows=True)
        if classes is not None:
            return Labels(classes)
        # Any label of Y may appear; the set is closed afterwards.
        labels = Labels(grows=True)
        targets = labels.encode(Y)
        if targets.kind == "single":
            check_classification_targets(np.asarray(Y).ravel())
        elif targets.kind == "sets" and not fitting:
            raise ValueError(
                "the first call of partial_fit needs classes=, all labels there will be, or "
                "classes='grow'"
            )
        if targets.kind == "single" and not fitting:
            raise ValueError("classes must be passed on the first call to partial_fit")
        names = targets.new
        if targets.kind != "indicator":
            try:
                names = sorted(names)  # type: ignore[type-var]
            except TypeError:
                pass  # labels of several types keep the order in which they appear
        return Labels(names)

    def _learn_batch(
        self, X: Any, Y: Any, classes: Any, sample_weight: Any, scores: bool
    ) -> npt.NDArray[Any]:
        first = not self._started()
        has_columns = hasattr(self, "n_features_in_")
        if not first and classes is not None:
            self._check_same_classes(classes)
        if not first and self._names is not None and self._names.grows:
            raise ValueError("this ranker has learnt features by name: use learn_one, or a new one")
        config = self._config() if first else {}
        X = self._validate(X, reset=not has_columns)
        try:
            matrix = as_matrix(X)
            labels = self._labels_of(Y, classes, fitting=False) if first else self._labels
            targets = labels.encode(Y, X.shape[0])
            weights = _weights(sample_weight, X)
            native = self._new_native(config, X.shape[1]) if first else self._native
            native.check(matrix)
        except BaseException:
            if not has_columns:
                self.__dict__.pop("n_features_in_", None)
                self.__dict__.pop("feature_names_in_", None)
            raise
        if first:
            self._start(native, labels, targets.kind == "single")
            self._names = self._column_names()
            native.add_labels(len(labels))
        labels.extend(targets.new)
        out = None
        if scores:
            out = np.full((X.shape[0], len(labels)), -np.inf, dtype=self._settings["dtype"])
        self._learn(matrix, targets, weights, out)
        return np.empty(0) if out is None else out

    def _learn(
        self,
        matrix: _native.Matrix,
        targets: Targets,
        weights: npt.NDArray[np.float64] | None,
        scores: npt.NDArray[Any] | None,
    ) -> None:
        relevant, unknown = targets.relevant, targets.unknown
        self._native.learn(
            matrix,
            relevant.indptr,
            relevant.indices,
            unknown.indptr,
            unknown.indices,
            weights,
            scores,
        )

    def _check_same_classes(self, classes: Any) -> None:
        if isinstance(classes, str) and classes == "grow":
            self._labels.grows = True
            return
        given = Labels(classes).names
        if given != self._labels.names:
            raise ValueError(f"classes is {given!r}, but on the first call it was {self._labels.names!r}")

    def _checked_matrix(self, X: Any) -> _native.Matrix:
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(
                "this LabelRanker has learnt single examples only: use rank_one, or learn a matrix"
            )
        matrix = as_matrix(self._validate(X, reset=False))
        self._native.check(matrix)
        return matrix

    def _scores(self, X: Any) -> tuple[npt.NDArray[Any], float]:
        check_is_fitted(self)
        return self._native.score(self._checked_matrix(X))

    def _pairs(self, x: Example, learning: bool) -> tuple[Pair, list[str]]:
        if not comes_by_name(x):
            pairs = as_pairs(x)
            if self.n_features is not None and pairs[0].max(initial=-1) >= self.n_features:
                raise ValueError(
                    f"feature index {pairs[0].max()} must be below n_features={self.n_features}"
                )
            return pairs, []
        assert isinstance(x, Mapping)
        if self._names is None:
            if self._native.certificate()["rounds"] > 0 or hasattr(self, "n_features_in_"):
                raise ValueError("x has names for features, but this ranker knows numbers only")
            self._names = FeatureNames()
        return self._names.translate(x, learning)


def _make_native(settings: dict[str, Any]) -> _native.LabelRanker32:
    kind = _native.LabelRanker64 if settings["dtype"] == "float64" else _native.LabelRanker32
    return kind(settings)


def _weights(sample_weight: Any, X: Any) -> npt.NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    weights: npt.NDArray[np.float64] = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0))
        raise ValueError(f"sample_weight: row {row} is {weights[row]:g}; weights must not be negative")
    return np.ascontiguousarray(weights)


def _count(k: int | None) -> int:
    return -1 if k is None else _checked_int(k, "k", 0)


def _checked_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        options = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {options}, got {value!r}")


def _checked_real(value: Any, name: str) -> float:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not np.isfinite(float(value)):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def _checked_positive(value: Any, name: str) -> float:
    if _checked_real(value, name) <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return float(value)


def _checked_int(value: Any, name: str, least: int, most: int | None = None) -> int:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if value < least or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be {limits}, got {value!r}")
    return int(value)
