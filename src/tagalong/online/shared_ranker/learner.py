"""Label ranking with one weight vector and class-dependent features (P2)."""

import weakref
from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.labels import Labels, Targets
from tagalong.online.blocks.projection import (
    BLOCK_GEOMETRIES,
    DEFAULT_BLOCK_MARGIN,
    checked_block_update,
)
from tagalong.online.cutoff_ranker import CutoffRanker
from tagalong.online.label_model import Settings
from tagalong.online.label_ranker.learner import LARGEST_BUDGET, LARGEST_CONSTANT
from tagalong.online.native import NativeRanker, new_native
from tagalong.online.ranker import Example
from tagalong.online.shared_ranker.custom_features import CustomFeaturesRanker
from tagalong.online.shared_ranker.folder_affinity import FolderAffinity
from tagalong.online.shared_ranker.label_features import (
    LabelFeatures,
    declared_features,
    has_method,
    relabel,
    restore_state,
    split_state,
    trainable_copy,
)

__all__ = ["SharedLabelRanker"]

# The multiplicative form has features that are there or not.
DEFAULT_FEATURES = {
    "euclidean": FolderAffinity(),
    "entropic": FolderAffinity(common=1.0, rare=0.0),
}

# Before the names of arrays, in a file, that the user's features have learnt.
_STATE_PREFIX = "own_features/"


class SharedLabelRanker(CutoffRanker):
    r"""Ranks labels by one weight vector that all of them share.

    A label r scores :math:`\langle w, \phi(x, r)\rangle`, where :math:`\phi` says how the words
    of x relate to the label. What is learnt is which words are to be trusted, so a new label
    profits from what the others have taught about its words. :math:`\phi` may be your own: how a
    query relates to a category, a product to a shelf. A round's rows are
    :math:`\phi(x, r) - \phi(x, s)` for each relevant label r and irrelevant label s, and
    `BlockProjection`'s schemes move w along them.

    Parameters
    ----------
    features : FolderAffinity or LabelFeatures, optional
        What makes :math:`\phi`: an object with ``rows(x, labels)``, see
        `tagalong.features.LabelFeatures`. By default the papers' mail map, 2 / -1 / 0, and 1 / 0 in
        the entropic geometry.
    update : str, default "simproj"
        As for `BlockProjection`.
    geometry : str, default "euclidean"
        ``"euclidean"`` or ``"entropic"``.
    C : float, default 1
        The budget of a round.
    margin : float, optional
        By how much relevant labels should score above the others. None means 1, and 0.05 in the
        entropic geometry.
    passes : int, default 1
        How often ``fit`` goes through the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features of x, if it is to be fixed before the first example.
    dtype : "float32" or "float64", default "float32"
        How weights are stored and scores summed.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array of shape (n,)
        The weights that all labels share.
    certificate_ : Certificate
        Rounds, mistakes, loss and dual value so far, and the mistake bound. The features of a
        round are what they were in that round.
    cutoff_ : float
        The learnt score from which ``predict`` includes a label.
    n_features_in_ : int
        The number of columns of the matrices seen.
    feature_names_in_ : array of str
        The columns of the first DataFrame.

    Notes
    -----
    Targets are as for `LabelRanker`. With `FolderAffinity`, a feature of x counts by being there:
    its value, if not 0, does not matter. Among labels never filed under, all scores are 0.

    Features of your own have numbers of their own, which ``coef_`` and ``explain_one`` use. What is
    not finite, too long for ``dtype`` or of the wrong shape is refused before anything of the batch
    is learnt; if the features learn, the rows before the bad one stay learnt. A model file holds
    what they have learnt, but not them: ``tagalong.load(path, features=...)``.

    References
    ----------
    .. [1] Amit, Shalev-Shwartz, Singer. Online Learning of Complex Prediction Problems Using
       Simultaneous Projections. JMLR 2008.

    Examples
    --------
    >>> from tagalong import SharedLabelRanker
    >>> ranker = SharedLabelRanker(update="max").add_labels(["money", "travel"])
    >>> for words, label in [
    ...     (["invoice", "due"], "money"),
    ...     (["flight", "delayed"], "travel"),
    ...     (["invoice", "overdue"], "money"),
    ... ]:
    ...     _ = ranker.learn_one(dict.fromkeys(words, 1), [label])
    >>> ranker.rank_one({"invoice": 1})
    ['money', 'travel']
    """

    _native: core.SharedRanker32 | core.SharedRanker64 | CustomFeaturesRanker
    # The user's features, with what they have learnt; the attribute is missing for FolderAffinity.
    _custom_features: LabelFeatures

    def __init__(
        self,
        features: FolderAffinity | LabelFeatures | None = None,
        update: str = "simproj",
        geometry: str = "euclidean",
        C: float = 1.0,
        margin: float | None = None,
        passes: int = 1,
        n_features: int | None = None,
        dtype: str = "float32",
    ):
        self.features = features
        self.update = update
        self.geometry = geometry
        self.C = C
        self.margin = margin
        self.passes = passes
        self.n_features = n_features
        self.dtype = dtype

    @property
    def certificate_(self) -> Certificate:
        """What the learner can prove about the rounds so far."""
        self._require_start("certificate_")
        return Certificate.of(self._native.certificate(), self._settings, self._restart_reason)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The weights that all labels share, (n,)."""
        self._require_start("coef_")
        found = self._native.weights()
        features, weights = found.features, found.weights
        n = int(features.max(initial=-1)) + 1
        if "own_features" in self._settings:
            n = max(n, declared_features(self._custom_features) or 0)
        else:
            n = max(n, self._settings["n_features"], getattr(self, "n_features_in_", 0))
        out = np.zeros(n, dtype=weights.dtype)
        out[features] = weights
        return out

    def _checked_settings(self) -> Settings:
        geometry = parameters.choice(self.geometry, "geometry", BLOCK_GEOMETRIES)
        dtype = parameters.choice(self.dtype, "dtype", ("float32", "float64"))
        margin = DEFAULT_BLOCK_MARGIN[geometry] if self.margin is None else self.margin
        features = DEFAULT_FEATURES[geometry] if self.features is None else self.features
        update = checked_block_update(self.update, geometry)
        if self.n_features is not None:
            parameters.integer(self.n_features, "n_features", 1, 2**31)
        parameters.integer(self.passes, "passes", 1)
        return {
            "update": update,
            "geometry": geometry,
            "C": parameters.positive(self.C, "C", LARGEST_BUDGET[dtype]),
            "margin": parameters.positive(margin, "margin", LARGEST_CONSTANT),
            **_feature_settings(features),
            "dtype": dtype,
        }

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_BUDGET[settings["dtype"]] / float(settings["C"])

    def _start_with(
        self,
        settings: Settings,
        labels: Labels,
        single: bool,
        matrix: core.Matrix | None = None,
        targets: Targets | None = None,
    ) -> None:
        self.__dict__.pop("_custom_features", None)  # `_make_native` makes an untrained copy
        super()._start_with(settings, labels, single, matrix, targets)

    def _make_native(
        self, settings: Settings
    ) -> core.SharedRanker32 | core.SharedRanker64 | CustomFeaturesRanker:
        if "own_features" in settings:
            if "_custom_features" not in self.__dict__:
                self._custom_features = trainable_copy(self.features)
            # Not the learner itself, so that it goes as soon as nobody needs it.
            owner = weakref.ref(self)
            return CustomFeaturesRanker(settings, self._custom_features, lambda: _names_of(owner))
        return new_native((core.SharedRanker32, core.SharedRanker64), settings)

    def _check_batch(
        self, native: NativeRanker, matrix: core.Matrix, labels: Labels, targets: Targets
    ) -> None:
        super()._check_batch(native, matrix, labels, targets)
        if isinstance(native, CustomFeaturesRanker):
            names = [*labels.names, *targets.new]
            native.check_batch(matrix, names, len(labels), targets.relevant, targets.unknown)

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``: in the entropic geometry."""
        return self.geometry == "entropic"

    def check_example(self, x: Example, new: Sequence[Hashable]) -> None:
        """Raise ValueError if an example that brings new labels cannot be learnt.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        new : sequence of labels
            The labels that it brings.
        """
        super().check_example(x, new)
        if isinstance(self._native, CustomFeaturesRanker):
            pairs, _ = self._pairs(x, learning=True)
            self._native.check_one(*pairs, [*self._labels.names, *new])

    def _relabel(self, changes: Mapping[Hashable, Hashable | None]) -> None:
        if "_custom_features" in self.__dict__:
            relabel(self._custom_features, changes)

    def own_feature_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return names of features of the user's own; None if features are the examples'.

        Parameters
        ----------
        features : array of int
            Their numbers.
        """
        if "_custom_features" not in self.__dict__:
            return None
        names = getattr(self._custom_features, "feature_names", None)
        return [f"feature {j}" if names is None else str(names[j]) for j in features.tolist()]

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if has_method(state.get("_custom_features"), "learn"):
            state["_custom_features"] = deepcopy(state["_custom_features"])
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Only whether a feature is there counts: on numbers that never vanish nothing can be told.
        tags.classifier_tags.poor_score = isinstance(self.features, FolderAffinity | None)
        return tags

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a file."""
        header, arrays = super().to_parts()
        params = self.get_params(deep=False)
        if "_custom_features" in self.__dict__:
            values, learnt = split_state(self._custom_features)
            declared = declared_features(self._custom_features)
            kind = self._settings["own_features"]
            header["own_features"] = {"class": kind, "n_features": declared, "state": values}
            arrays = {**arrays, **{_STATE_PREFIX + name: array for name, array in learnt.items()}}
            params["features"] = None
        elif isinstance(self.features, FolderAffinity):
            params["features"] = self.features.get_params()
        return {**header, "params": params}, arrays

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
        params = dict(header["params"])
        own = header.get("own_features")
        if (own is None) == ("own_features" in header["settings"]):
            raise ValueError("its settings and its features do not fit together")
        if own is not None:
            params["features"] = own["given"]
            given = _feature_settings(own["given"]).get("own_features")
            if given is None or declared_features(own["given"]) != own["n_features"]:
                raise ValueError(
                    f"its features were made by {own['class']} with "
                    f"n_features={own['n_features']}, got {own['given']!r}"
                )
        elif params["features"] is not None:
            params["features"] = FolderAffinity(**params["features"])
        self = super().from_parts({**header, "params": params}, arrays)
        if own is not None:
            learnt = {
                n.removeprefix(_STATE_PREFIX): a
                for n, a in arrays.items()
                if n.startswith(_STATE_PREFIX)
            }
            restore_state(self._custom_features, own["state"], learnt)
        return self


def _feature_settings(features: Any) -> Settings:
    """Return what the native learner has to know about features; ValueError for bad ones."""
    if isinstance(features, FolderAffinity):
        return features.settings()
    if isinstance(features, type) or not has_method(features, "rows"):
        raise ValueError(
            "features must be a FolderAffinity, an object with rows(x, labels), or None, got "
            f"{features!r}"
        )
    declared_features(features)
    return {"own_features": type(features).__name__}


def _names_of(owner: "weakref.ref[SharedLabelRanker]") -> Sequence[Hashable]:
    ranker = owner()
    return [] if ranker is None else ranker.labels.names
