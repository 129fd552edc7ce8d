"""Label ranking with one weight vector and class-dependent features (P2)."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters, persist
from tagalong.certificate import Certificate
from tagalong.online.block_projection import (
    BLOCK_GEOMETRIES,
    BLOCK_UPDATES,
    DEFAULT_BLOCK_MARGIN,
)
from tagalong.online.folder_affinity import FolderAffinity
from tagalong.online.label_ranker import LARGEST_BUDGET, LARGEST_CONSTANT
from tagalong.online.ranker import OnlineRanker, Settings

__all__ = ["SharedLabelRanker"]

# The multiplicative form has features that are there or not.
DEFAULT_FEATURES = {
    "euclidean": FolderAffinity(),
    "entropic": FolderAffinity(common=1.0, rare=0.0),
}


class SharedLabelRanker(OnlineRanker):
    r"""Ranks labels by one weight vector that all of them share.

    A label r scores :math:`\langle w, \phi(x, r)\rangle`, where :math:`\phi` says how the words
    of x relate to the label. What is learnt is which words are to be trusted, so a new label
    profits from what the others have taught about its words. A round's rows are
    :math:`\phi(x, r) - \phi(x, s)` for each relevant label r and irrelevant label s, and
    `BlockProjection`'s schemes move w along them.

    Parameters
    ----------
    features : FolderAffinity, optional
        What makes :math:`\phi`. By default the papers' mail map, 2 / -1 / 0, and 1 / 0 in the
        entropic geometry.
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
        The number of features, if it is to be fixed before the first example.
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
    Targets are as for `LabelRanker`. A feature of x counts by being there: its value, if not 0,
    does not matter. Among labels that were never filed under, all scores are 0.

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

    _native: core.SharedRanker32

    def __init__(
        self,
        features: FolderAffinity | None = None,
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
        return Certificate.of(self._native.certificate(), self._settings, self._restarted)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The weights that all labels share, (n,)."""
        self._require_start("coef_")
        found = self._native.weights()
        features, weights = found["features"], found["weights"]
        n = max(self._settings["n_features"], int(features.max(initial=-1)) + 1)
        out = np.zeros(max(n, getattr(self, "n_features_in_", 0)), dtype=weights.dtype)
        out[features] = weights
        return out

    def _checked_settings(self) -> Settings:
        geometry = parameters.choice(self.geometry, "geometry", BLOCK_GEOMETRIES)
        dtype = parameters.choice(self.dtype, "dtype", ("float32", "float64"))
        margin = DEFAULT_BLOCK_MARGIN[geometry] if self.margin is None else self.margin
        features = DEFAULT_FEATURES[geometry] if self.features is None else self.features
        if not isinstance(features, FolderAffinity):
            raise ValueError(f"features must be a FolderAffinity or None, got {features!r}")
        if geometry == "entropic" and self.update == "simopt":
            raise ValueError("update='simopt' does not exist for geometry='entropic'")
        if self.n_features is not None:
            parameters.integer(self.n_features, "n_features", 1, 2**31)
        parameters.integer(self.passes, "passes", 1)
        return {
            "update": parameters.choice(self.update, "update", BLOCK_UPDATES),
            "geometry": geometry,
            "C": parameters.positive(self.C, "C", LARGEST_BUDGET[dtype]),
            "margin": parameters.positive(margin, "margin", LARGEST_CONSTANT),
            **features.settings(),
            "dtype": dtype,
        }

    def _largest_weight(self, settings: Settings) -> float:
        return LARGEST_BUDGET[settings["dtype"]] / float(settings["C"])

    @staticmethod
    def _make_native(settings: Settings) -> core.SharedRanker32:
        kind = core.SharedRanker64 if settings["dtype"] == "float64" else core.SharedRanker32
        return kind(settings)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Only whether a feature is there counts: on numbers that never vanish nothing can be told.
        tags.classifier_tags.poor_score = True
        return tags

    def _to_file(self) -> tuple[dict[str, Any], persist.Arrays]:
        header, arrays = super()._to_file()
        params = self.get_params(deep=False)
        if self.features is not None:
            params["features"] = self.features.get_params()
        return {**header, "params": params}, arrays

    @classmethod
    def _from_file(cls, header: dict[str, Any], arrays: persist.Arrays) -> Self:
        params = dict(header["params"])
        if params["features"] is not None:
            params["features"] = FolderAffinity(**params["features"])
        return super()._from_file({**header, "params": params}, arrays)
