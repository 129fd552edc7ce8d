"""Online label ranking by dual ascent (P1), with P2's schemes over label pairs."""

from collections.abc import Hashable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.drift import Drift
from tagalong.learning.input_types import MatrixLike
from tagalong.learning.labels import Labels, Targets
from tagalong.learning.update_rules import LABEL_RULES
from tagalong.online.cutoff_ranker import CutoffRanker
from tagalong.online.label_model import Settings
from tagalong.online.label_ranker.contestant import (
    CONTESTANTS,
    Contestant,
    checked_names,
    largest_budget,
)
from tagalong.online.native import new_native
from tagalong.online.weights import intercept, native_coef_matrix

__all__ = ["LabelRanker"]

UPDATES = tuple(LABEL_RULES)
GEOMETRIES = ("euclidean", "entropic", "adaptive")

# Chosen by measurement: docs/label-ranker.md has the figures.
DEFAULT_MARGIN = {"euclidean": 1.0, "adaptive": 1.0, "entropic": 0.01}
DEFAULT_CONSTANT = {"euclidean": 0.5, "adaptive": 0.5, "entropic": 0.0}
DEFAULT_TEMPERATURE = 0.05  # in units of the margin
RACE_TEMPERATURE = 0.1
ADAPTIVE_RATE = 3.0

# The values of one_label by their names in files.
_ONE_LABEL: dict[str, bool | Literal["auto"]] = {"auto": "auto", "yes": True, "no": False}

# Larger budgets could overflow the weights in a long stream.
LARGEST_BUDGET = {"float32": 1e12, "float64": 1e100}
LARGEST_CONSTANT = 1e9


Native: TypeAlias = core.LabelRanker32 | core.LabelRanker64 | core.Race32 | core.Race64

RACES = (core.Race32, core.Race64)
DEFAULT_BUDGET = 10.0

# The parameters that determine a learner, with the values that leave the choice to the race.
LEARNER_DEFAULTS: dict[str, Any] = {
    "update": "smooth",
    "geometry": "adaptive",
    "C": None,
    "margin": None,
    "temperature": None,
    "average": "auto",
    "constant": None,
    "normalize": True,
    "solver": "exact",
}


def _learns_probabilities(ranker: "LabelRanker") -> bool:
    if not ranker.probability:
        raise AttributeError("predict_proba does not exist with probability=False")
    return True


class LabelRanker(CutoffRanker):
    r"""Ranks labels, and learns from each example before the next one.

    Every label :math:`y` has a weight vector :math:`w_y` and the score
    :math:`\langle w_y, x\rangle`. After a round the dual vectors move along the example,
    :math:`\theta_y \mathrel{+}= \alpha_y x`, and determine the weights,
    :math:`w = \nabla G(\theta)`. The ``update`` chooses :math:`\alpha` to ascend the dual of

    .. math:: \min_w F(w) + C \sum_t \max(0, \gamma - \min_{r \in Y_t, s \notin Y_t}
              \langle w_r - w_s, x_t\rangle);

    the ``geometry`` determines :math:`F`. The dual value yields a mistake bound while learning:
    see ``certificate_``.

    Parameters
    ----------
    update : str, default "smooth"
        The update rule of a round. ``"fixed"``: Update I of [1]_. ``"single"``: Update II of [1]_,
        also known as PA, and the multi-prototype MaxPA of [2]_. ``"optimal"``: Update III of [1]_,
        the Sopopo of [2]_. ``"simperc"``, ``"conproj"``, ``"simproj"``, ``"simopt"``: the schemes
        of [2]_ over all pairs of a relevant and an irrelevant label. ``"smooth"``: the exact step
        for a smoothed loss, which converges to ``"optimal"`` as the temperature goes to 0.
    geometry : str, default "adaptive"
        ``"euclidean"``; ``"adaptive"``, in which frequently updated features move less; or
        ``"entropic"``, in which each label's weights are a distribution over the features.
    C : float, optional
        The budget of a round: an upper bound on its step. Larger values learn faster and forget
        faster. The default is 10.
    margin : float, optional
        The amount by which relevant labels should score above the others. None means 1, and 0.01
        in the entropic geometry, whose scores are small.
    temperature : float, optional
        The temperature of the smoothed loss: pairs whose loss is within about this much of the
        largest one share a step. None means a twentieth of the margin, and a tenth in a race.
    average : "auto", True or False, default "auto"
        Predict with the mean of the weights over the rounds (True) or with the current weights
        (False). "auto" chooses between the mean, the current weights and their midpoint by recent
        average precision. The entropic geometry has no averages: "auto" means False there.
    constant : float, optional
        The value of a constant feature, whose weights learn the labels' frequencies; 0 for no
        such feature. None means 0.5, and 0 in the entropic geometry. It is not part of ``coef_``.
    normalize : bool, default True
        Scale rows to Euclidean norm 1; in the entropic geometry to maximum norm 1, which is the
        norm in its bound.
    solver : "exact" or "interior-point", default "exact"
        The solver for ``update="optimal"``: exact water-filling, or the interior-point method
        of [1]_, which is slower and finds the same steps.
    passes : int, default 1
        The number of passes of ``fit`` over the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features, to fix it before the first example.
    dtype : "float32" or "float64", default "float32"
        The type in which weights are stored and scores are summed.
    one_label : "auto", True or False, default "auto"
        Whether every item has exactly one label. Then answers have one label, and probabilities
        sum to 1. "auto" notices it: after 20 examples of which none had several labels, until one
        has. It is True if targets are one label per row.
    probability : bool, default True
        Whether to learn how far suggestions can be trusted. If False, ``predict_proba`` does not
        exist and no suggestion is sure; learning is a few percent faster.
    relevance : "auto", True or False, default "auto"
        Whether to learn how relevant each feature is, in the adaptive geometry: a feature whose
        weights already argued for the correction of a round counts more. True learns it for the
        features that were present in under half of the updates. "auto" means True in a race and
        False for one learner.
    working_set : "auto", True or False, default "auto"
        Whether the update ``"smooth"`` moves only labels that matter in the round, and none if all
        relevant labels are ranked above the others by the margin. False moves all labels in every
        round. "auto" means True in a race and False for one learner.
    race : "auto", None or sequence of str, default "auto"
        The learners that compete. ``None``: one learner, with the settings above. ``"auto"``: all
        contestants, if the settings above that determine the learner have their default values;
        otherwise one learner. A sequence names the contestants, at least one of them a ranker.
        See Notes.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array or CSR array of shape (K, n)
        The weights used for predictions, built on demand; sparse if large. Scores are
        ``X @ coef_.T + intercept_``, where the rows of X are normalised as ``normalize`` says. In
        a race they are approximate: weights for rows of typical length, up to a positive factor
        per row.
    intercept_ : array of shape (K,)
        The contribution of the constant feature to the scores.
    certificate_ : Certificate
        Rounds, mistakes, loss and dual value so far, and the mistake bound. In a race: those of the
        ranker that leads.
    standings_ : tuple of Contestant
        The contestants of the race, with their weights in the mixture, and those that left, with
        the reasons; empty for one learner.
    cutoff_ : float
        The learnt threshold: ``predict`` returns the labels that score at least this. Infinity
        until an example has had a relevant label with a score other than 0: nothing is predicted.
    n_features_in_ : int
        The number of columns of the training matrices.
    feature_names_in_ : array of str
        The column names of the first DataFrame.

    Notes
    -----
    Targets may be an indicator matrix, dense or sparse; a list of collections of labels; or one
    label per row. NaN in a dense indicator means unknown relevance: the round uses no pairs with
    that label. If targets have one label per row, the learner is a classifier: ``predict`` returns
    the best label and ``score`` the accuracy. Otherwise ``predict`` returns an indicator and
    ``score`` the label-ranking average precision.

    In a race all contestants learn every example. They differ in how they scale the features, in
    their budgets and in their methods. The prediction is a mixture of their scores, in which those
    with better rankings weigh more. Contestants that do not suit the data or are clearly worse than
    another one leave, and their memory is freed. docs/label-ranker.md has the table of contestants
    and the formulas.

    The same stream gives bitwise the same model through ``fit``, ``partial_fit`` in batches of any
    size, ``learn_one`` (in the entropic geometry if ``n_features`` is given), and after saving and
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

    _native: Native

    def __init__(
        self,
        update: str = "smooth",
        geometry: str = "adaptive",
        C: float | None = None,
        margin: float | None = None,
        temperature: float | None = None,
        average: bool | Literal["auto"] = "auto",
        constant: float | None = None,
        normalize: bool = True,
        solver: str = "exact",
        passes: int = 1,
        n_features: int | None = None,
        dtype: str = "float32",
        one_label: bool | Literal["auto"] = "auto",
        probability: bool = True,
        relevance: bool | Literal["auto"] = "auto",
        working_set: bool | Literal["auto"] = "auto",
        race: Literal["auto"] | Sequence[str] | None = "auto",
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
        self.one_label = one_label
        self.probability = probability
        self.relevance = relevance
        self.working_set = working_set
        self.race = race

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the rounds so far: counts, losses and the proven bound.

        In a race it is that of the ranker which leads; the mixture has none.
        """
        self._require_start("certificate_")
        return Certificate.of(self._native.certificate(), self._settings, self._restart_reason)

    @property
    def standings_(self) -> tuple[Contestant, ...]:
        """The contestants of the race, those still running first; empty for one learner."""
        self._require_start("standings_")
        if not isinstance(self._native, RACES):
            return ()
        return tuple(map(Contestant.of, self._native.standings()))

    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array:
        """The weights used for predictions, (K, n)."""
        self._require_start("coef_")
        return native_coef_matrix(self._native.weights(), self._feature_counts())

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        """The contribution of the constant feature to the scores, (K,)."""
        self._require_start("intercept_")
        constant = 1.0 if isinstance(self._native, RACES) else self._settings["constant"]
        return intercept(self._native.weights(), constant)

    def feature_lengths(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the features that have weights, and how much each one's weights matter.

        It is the Euclidean norm of its weights. In a race, words of few examples have large
        weights, so that the norm is multiplied by the number of these examples.
        """
        features, lengths = super().feature_lengths()
        if isinstance(self._native, RACES):
            lengths *= self._native.occurrences()
        return features, lengths

    @property
    def drift(self) -> Drift | None:
        """The last change of the answers; None if there was none, or the learner is no race."""
        if not self.is_started or not isinstance(self._native, RACES):
            return None
        found = self._native.drift()
        if found.since == 0:
            return None
        names = self.labels.names
        return Drift(found.since, tuple(names[number] for number in found.labels), found.active)

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``: in the entropic geometry."""
        return self.geometry == "entropic"

    def set_one_label(self, one_label: bool | Literal["auto"]) -> None:
        """Change whether every item has exactly one label. What was learnt stays.

        Parameters
        ----------
        one_label : "auto", True or False
            As the parameter ``one_label``. With True, later examples with several labels are
            refused; with "auto", the answers so far decide, unless targets are one label per row.
        """
        setting = _checked_one_label(one_label)
        if self.is_started:
            current = self._one_label_at_start(setting, self._single)
            self._native.set_one_label(current)
            self._settings = {**self._settings, "one_label": current}
        self.one_label = _ONE_LABEL[setting]

    @staticmethod
    def _one_label_at_start(setting: str, single: bool) -> str:
        """Return the setting of a learner whose targets may be one label per row."""
        return "yes" if single and setting == "auto" else setting

    def compact_parts(self, dropped_share: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return header and arrays of a compact copy: see `tagalong.online.compact`.

        Parameters
        ----------
        dropped_share : float
            See `tagalong.online.compact.DROPPED_SHARE`.
        """
        self._require_fit()
        settings = self._settings
        if settings["geometry"] == "entropic":
            raise ValueError(
                "geometry='entropic' cannot be exported as a compact model, as features that were "
                "never seen have weights too; the euclidean and adaptive geometries can"
            )
        if not 0 <= parameters.real(dropped_share, "dropped_share") < 1:
            raise ValueError(f"dropped_share must be at least 0 and below 1, got {dropped_share!r}")
        state = core.compacted(self._native, dropped_share)
        kept = ("one_label", "probability", "normalize", "constant")
        header = {
            **self._header(),
            "params": {},
            "settings": {"centred": bool(settings["race"]), **{k: settings[k] for k in kept}},
            "grows": False,
            "restarted": "",
            "numbers": state["numbers"],
        }
        return header, state["arrays"]

    def mixing_parts(self) -> tuple[dict[str, Any], Native]:
        """Return the header of the model file, and the native learner, for `tagalong.mix`."""
        self._require_fit()
        return self._header(), self._native

    def _params_with(self, settings: Settings) -> dict[str, Any]:
        average = {"chosen": "auto", "always": True, "never": False}[settings["average"]]
        one_label = _ONE_LABEL[settings["one_label"]]
        relevance = {"rare": True, "none": False}[settings["relevance"]]
        race = settings["race"] or None
        given = {"average": average, "one_label": one_label, "relevance": relevance, "race": race}
        return {**super()._params_with(settings), **given}

    def _checked_settings(self) -> Settings:
        entropic = self.geometry == "entropic"
        if not (isinstance(self.average, (bool, np.bool_)) or self.average == "auto"):
            raise ValueError(f"average must be 'auto', True or False, got {self.average!r}")
        average = {"auto": "chosen", True: "always", False: "never"}[self.average]
        dtype = parameters.choice(self.dtype, "dtype", ("float32", "float64"))
        geometry = parameters.choice(self.geometry, "geometry", GEOMETRIES)
        margin = DEFAULT_MARGIN[geometry] if self.margin is None else self.margin
        margin = parameters.positive(margin, "margin", LARGEST_CONSTANT)
        race = self._contestants()
        temperature = self.temperature
        if temperature is None:
            temperature = margin * (RACE_TEMPERATURE if race else DEFAULT_TEMPERATURE)
        constant = DEFAULT_CONSTANT[geometry] if self.constant is None else self.constant
        if abs(parameters.real(constant, "constant")) > LARGEST_CONSTANT:
            raise ValueError(f"constant must be at most {LARGEST_CONSTANT:g}, got {constant!r}")
        budget = DEFAULT_BUDGET if self.C is None else self.C
        most = LARGEST_BUDGET[dtype] / largest_budget(race)
        settings = {
            "update": parameters.choice(self.update, "update", UPDATES),
            "geometry": geometry,
            "C": parameters.positive(budget, "C", most),
            "margin": margin,
            "temperature": parameters.positive(temperature, "temperature"),
            "average": "never" if entropic else average,
            "constant": constant,
            "normalize": parameters.flag(self.normalize, "normalize"),
            "solver": parameters.choice(self.solver, "solver", ("exact", "interior-point")),
            "rate": ADAPTIVE_RATE,
            "dtype": dtype,
            "one_label": _checked_one_label(self.one_label),
            "probability": parameters.flag(self.probability, "probability"),
            "relevance": _checked_relevance(self.relevance, geometry, bool(race)),
            "working_set": self._takes_working_set(bool(race)),
            "race": race,
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
            supported = [
                f"update={other_rule.name!r}"
                for other_rule in LABEL_RULES.values()
                if other_rule.interior_point
            ]
            raise ValueError(f"solver='interior-point' is for {' or '.join(supported)} only")
        return settings

    def _takes_working_set(self, racing: bool) -> bool:
        possible = self.update == "smooth" and self.geometry != "entropic"
        chosen: object = self.working_set
        if isinstance(chosen, (bool, np.bool_)):
            if chosen and not possible:
                raise ValueError(
                    "working_set=True needs update='smooth' and geometry='euclidean' or "
                    f"'adaptive', got update={self.update!r} and geometry={self.geometry!r}; use "
                    "working_set='auto' or False"
                )
            return bool(chosen)
        if chosen != "auto":
            raise ValueError(f"working_set must be 'auto', True or False, got {chosen!r}")
        return racing and possible

    def _contestants(self) -> list[str]:
        """Return the names of the contestants; empty if there is one learner."""
        race: object = self.race
        if race is None:
            return []
        if isinstance(race, str) and race == "auto":
            chosen = any(getattr(self, name) != value for name, value in LEARNER_DEFAULTS.items())
            return [] if chosen else list(CONTESTANTS)
        names = checked_names(race)
        if self.geometry == "entropic":
            raise ValueError("geometry='entropic' has no race: race must be 'auto' or None")
        return names

    def _start_with(
        self,
        settings: Settings,
        labels: Labels,
        single: bool,
        matrix: core.Matrix | None = None,
        targets: Targets | None = None,
    ) -> None:
        one_label = self._one_label_at_start(settings["one_label"], single)
        settings = {**settings, "one_label": one_label}
        super()._start_with(settings, labels, single, matrix, targets)

    def _check_targets(self, labels: Labels, targets: Targets) -> None:
        if self.one_label is not True:
            return
        sizes = np.diff(targets.relevant.indptr)
        if (sizes > 1).any():
            row = int(np.argmax(sizes > 1))
            raise ValueError(f"row {row} has {sizes[row]} labels, but one_label=True")

    def _check_label_count(self, relevant: Sequence[int]) -> None:
        if self.one_label is True and len(relevant) > 1:
            raise ValueError(f"the example has {len(relevant)} labels, but one_label=True")

    def count_mistake(self, label: Hashable, weight: float = 1.0) -> None:
        """Count a wrong suggestion that was acted on against the precision of its label.

        Parameters
        ----------
        label : hashable
            The label that was wrong.
        weight : float, default 1
            From 0 to 1; less than 1 if only a part of the right ones is counted.
        """
        self._number(label)
        if self._settings["probability"]:  # otherwise there is no precision, nor in files
            super().count_mistake(label, weight)

    def _empty_places(self, rows: int) -> core.PlaceArrays | None:
        return super()._empty_places(rows) if self._settings["probability"] else None

    def _largest_weight(self, settings: Settings) -> float:
        budget = float(settings["C"]) * largest_budget(settings["race"])
        return LARGEST_BUDGET[settings["dtype"]] / budget

    def _make_native(self, settings: Settings) -> Native:
        if settings["race"]:
            return new_native(RACES, settings)
        return new_native((core.LabelRanker32, core.LabelRanker64), settings, ["race"])

    @available_if(_learns_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the probability that each label is right, (rows, K), in the order of ``classes_``.

        If items have one label each, the probabilities of a row sum to 1. Otherwise they are
        independent. They follow how often such suggestions were right when examples were seen for
        the first time, so they are rough after few examples.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        return super().predict_proba(X)

    @available_if(_learns_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: MatrixLike) -> npt.NDArray[np.float64]:
        """Return the logarithms of ``predict_proba``.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (rows, n)
            Examples.
        """
        return super().predict_log_proba(X)


def _checked_one_label(one_label: object) -> str:
    if isinstance(one_label, (bool, np.bool_)):
        return "yes" if one_label else "no"
    if one_label != "auto":
        raise ValueError(f"one_label must be 'auto', True or False, got {one_label!r}")
    return "auto"


def _checked_relevance(relevance: object, geometry: str, racing: bool) -> str:
    """Return the features whose relevance is learnt: "rare" ones, or "none"."""
    if not isinstance(relevance, (bool, np.bool_)):
        if relevance != "auto":
            raise ValueError(f"relevance must be 'auto', True or False, got {relevance!r}")
        return "rare" if racing and geometry == "adaptive" else "none"
    if relevance and geometry != "adaptive":
        raise ValueError(
            f"relevance=True needs geometry='adaptive', got geometry={geometry!r}; "
            "use relevance='auto' or False"
        )
    return "rare" if relevance else "none"
