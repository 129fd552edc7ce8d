"""Online label ranking by dual ascent (P1), with P2's schemes over label pairs."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.update_rules import LABEL_RULES
from tagalong.online.cutoff_ranker import CutoffRanker
from tagalong.online.label_model import Settings
from tagalong.online.native import new_native
from tagalong.online.weights import weight_matrix

__all__ = ["LabelRanker"]

UPDATES = tuple(LABEL_RULES)
GEOMETRIES = ("euclidean", "entropic", "adaptive")

# Chosen by measurement: docs/label-ranker.md has the figures.
DEFAULT_MARGIN = {"euclidean": 1.0, "adaptive": 1.0, "entropic": 0.01}
DEFAULT_CONSTANT = {"euclidean": 0.5, "adaptive": 0.5, "entropic": 0.0}
DEFAULT_TEMPERATURE = 0.05  # in margins
ADAPTIVE_RATE = 3.0

# Budgets beyond these could overflow the weights within a stream's lifetime.
LARGEST_BUDGET = {"float32": 1e12, "float64": 1e100}
LARGEST_CONSTANT = 1e9


class LabelRanker(CutoffRanker):
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
        By how much relevant labels should score above the others. None means 1, and 0.01 in the
        entropic geometry, whose scores are small.
    temperature : float, optional
        Of the smooth loss: pairs whose scores differ by up to about this much from what decides
        share in a step. None means a twentieth of the margin.
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
    ``learn_one`` (in the entropic geometry if ``n_features`` is given), or after saving and
    loading. One thread may learn while others predict.

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

    _native: core.LabelRanker32 | core.LabelRanker64

    def __init__(
        self,
        update: str = "smooth",
        geometry: str = "adaptive",
        C: float = 10.0,
        margin: float | None = None,
        temperature: float | None = None,
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

    @property
    def certificate_(self) -> Certificate:
        """What the learner can prove about the rounds so far."""
        self._require_start("certificate_")
        return Certificate.of(self._native.certificate(), self._settings, self._restart_reason)

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights that predict, (K, n)."""
        self._require_start("coef_")
        return weight_matrix(self._native.weights(), self._feature_counts())

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``: in the entropic geometry."""
        return self.geometry == "entropic"

    def _checked_settings(self) -> Settings:
        entropic = self.geometry == "entropic"
        if not (isinstance(self.average, (bool, np.bool_)) or self.average == "auto"):
            raise ValueError(f"average must be 'auto', True or False, got {self.average!r}")
        average = {"auto": "chosen", True: "always", False: "never"}[self.average]
        dtype = parameters.choice(self.dtype, "dtype", ("float32", "float64"))
        geometry = parameters.choice(self.geometry, "geometry", GEOMETRIES)
        margin = DEFAULT_MARGIN[geometry] if self.margin is None else self.margin
        margin = parameters.positive(margin, "margin", LARGEST_CONSTANT)
        temperature = DEFAULT_TEMPERATURE * margin if self.temperature is None else self.temperature
        constant = DEFAULT_CONSTANT[geometry] if self.constant is None else self.constant
        if abs(parameters.real(constant, "constant")) > LARGEST_CONSTANT:
            raise ValueError(f"constant must be at most {LARGEST_CONSTANT:g}, got {constant!r}")
        settings = {
            "update": parameters.choice(self.update, "update", UPDATES),
            "geometry": geometry,
            "C": parameters.positive(self.C, "C", LARGEST_BUDGET[dtype]),
            "margin": margin,
            "temperature": parameters.positive(temperature, "temperature"),
            "average": "never" if entropic else average,
            "constant": constant,
            "normalize": parameters.flag(self.normalize, "normalize"),
            "solver": parameters.choice(self.solver, "solver", ("exact", "interior-point")),
            "rate": ADAPTIVE_RATE,
            "dtype": dtype,
        }
        if self.n_features is not None:
            parameters.integer(self.n_features, "n_features", 1, 2**31)
        parameters.integer(self.passes, "passes", 1)
        rule = LABEL_RULES[self.update]
        if entropic and not rule.entropic:
            raise ValueError(
                f"update={rule.name!r} does not exist for geometry='entropic'; use "
                f"{rule.entropic_instead!r}, or the euclidean or adaptive geometry"
            )
        if entropic and self.average is True:
            raise ValueError("geometry='entropic' has no averages: average must be 'auto' or False")
        if self.solver == "interior-point" and not rule.interior_point:
            having = [
                f"update={found.name!r}" for found in LABEL_RULES.values() if found.interior_point
            ]
            raise ValueError(f"solver='interior-point' is for {' or '.join(having)} only")
        return settings

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_BUDGET[settings["dtype"]] / float(settings["C"])

    def _make_native(self, settings: Settings) -> core.LabelRanker32 | core.LabelRanker64:
        return new_native((core.LabelRanker32, core.LabelRanker64), settings)
