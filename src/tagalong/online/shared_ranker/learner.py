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

# The multiplicative form uses binary features.
DEFAULT_FEATURES = {
    "euclidean": FolderAffinity(),
    "entropic": FolderAffinity(common=1.0, rare=0.0),
}

# Prefix of the names of the custom features' state arrays in a model file.
_STATE_PREFIX = "own_features/"


class SharedLabelRanker(CutoffRanker):
    r"""Ranks labels with one weight vector that all labels share.

    The score of label r is :math:`\langle w, \phi(x, r)\rangle`, where :math:`\phi` describes how
    the words of x relate to r. The weights express which words are informative, so a new label
    benefits from the weights that other labels have given to its words. :math:`\phi` may be custom:
    how a query relates to a category, or a product to a shelf. A round has one row
    :math:`\phi(x, r) - \phi(x, s)` per pair of a relevant label r and an irrelevant label s, and
    the updates of `BlockProjection` move w along these rows.

    Parameters
    ----------
    features : FolderAffinity or LabelFeatures, optional
        The object that computes :math:`\phi`, with a method ``rows(x, labels)``; see
        `tagalong.features.LabelFeatures`. The default is `FolderAffinity` with the values 2 / -1 /
        0 of the papers, and 1 / 0 in the entropic geometry.
    update : str, default "simproj"
        As for `BlockProjection`.
    geometry : str, default "euclidean"
        ``"euclidean"`` or ``"entropic"``.
    C : float, default 1
        The budget of a round.
    margin : float, optional
        The amount by which relevant labels should score above the others. None means 1, and 0.05
        in the entropic geometry.
    passes : int, default 1
        The number of passes of ``fit`` over the data. Each pass counts as new rounds.
    n_features : int, optional
        The number of features of x, to fix it before the first example.
    dtype : "float32" or "float64", default "float32"
        The type in which weights are stored and scores are summed.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, in the order of their columns.
    coef_ : array of shape (n,)
        The weights that all labels share: the score of a label is the product of its features
        with them.
    certificate_ : Certificate
        Rounds, mistakes, loss and dual value so far, and the mistake bound. Each round counts with
        the features that it had at the time.
    cutoff_ : float
        The learnt threshold: ``predict`` returns the labels that score at least this. Infinity
        until an example has had a relevant label with a score other than 0: nothing is predicted.
    n_features_in_ : int
        The number of columns of the training matrices.
    feature_names_in_ : array of str
        The column names of the first DataFrame.

    Notes
    -----
    Targets are as for `LabelRanker`. `FolderAffinity` only uses which features of x are nonzero,
    not their values. Labels without any examples score 0.

    ``coef_`` and ``explain_one`` use the feature numbers of custom features. Rows that are not
    finite, too long for ``dtype`` or of the wrong shape are rejected before any row of the batch is
    learnt; if the features learn, the rows before the invalid one stay learnt. A model file
    contains the learnt state of custom features, but not their code: load it with
    ``tagalong.load(path, features=...)``.

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
    # The user's features, with their learnt state. With FolderAffinity the attribute does not
    # exist.
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
        """The certificate of the rounds so far: counts, losses and the proven bound."""
        self._require_start("certificate_")
        return Certificate.of(self._native.certificate(), self._settings, self._restart_reason)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The weights that all labels share, (n,)."""
        self._require_start("coef_")
        found = self._native.weights()
        features, weights = found.features, found.weights
        if "own_features" in self._settings:
            declared = columns = declared_features(self._custom_features) or 0
        else:
            declared = self._settings["n_features"]
            columns = max(declared, getattr(self, "n_features_in_", 0))
        n = max(columns, int(features.max(initial=-1)) + 1)
        out = np.zeros(n, dtype=weights.dtype)
        if found.unseen is not None:  # in the entropic geometry every declared feature has a weight
            out[:declared] = found.unseen
        out[features] = weights
        return out

    def _params_with(self, settings: Settings) -> dict[str, Any]:
        params = super()._params_with(settings)
        if "own_features" in settings:
            return params
        # A file of an earlier version lacks the newer settings.
        known = FolderAffinity().settings().keys() & settings.keys()
        return {**params, "features": FolderAffinity(**{name: settings[name] for name in known})}

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
            # A weak reference, because a reference cycle would delay freeing the learner.
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
        """Raise ValueError if an example with new labels cannot be learnt.

        Parameters
        ----------
        x : (indices, values) or mapping of features to values
            One example.
        new : sequence of labels
            The labels of the example that the learner does not know yet.
        """
        super().check_example(x, new)
        if isinstance(self._native, CustomFeaturesRanker):
            pairs, _ = self._pairs(x, learning=True)
            self._native.check_one(*pairs, [*self._labels.names, *new])

    def _relabel(self, changes: Mapping[Hashable, Hashable | None]) -> None:
        if "_custom_features" in self.__dict__:
            relabel(self._custom_features, changes)

    def own_feature_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return the names of custom features; None with `FolderAffinity`.

        Parameters
        ----------
        features : array of int
            The numbers of the features.
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
        # FolderAffinity only sees which features are nonzero: dense data carry no information.
        tags.classifier_tags.poor_score = isinstance(self.features, FolderAffinity | None)
        return tags

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
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
        """Rebuild a learner from the output of ``to_parts``.

        Parameters
        ----------
        header : dict
            The JSON part of the model file.
        arrays : dict
            The arrays of the model file, by name.
        """
        params = dict(header["params"])
        own = header.get("own_features")
        if (own is None) == ("own_features" in header["settings"]):
            raise ValueError("its settings and its custom features contradict each other")
        if own is not None:
            params["features"] = own["given"]
            given = _feature_settings(own["given"]).get("own_features")
            if given is None or declared_features(own["given"]) != own["n_features"]:
                raise ValueError(
                    f"its features are of class {own['class']} with "
                    f"n_features={own['n_features']}, got features={own['given']!r}"
                )
            # The class may have got another name since.
            header = {**header, "settings": {**header["settings"], "own_features": given}}
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


def _feature_settings(features: object) -> Settings:
    """Return the settings of the features for the native learner; ValueError if invalid."""
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
