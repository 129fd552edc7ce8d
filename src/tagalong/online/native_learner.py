"""Base class of the online learners: settings, native learner, input matrices, weights."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong.learning.estimators import validated
from tagalong.learning.examples import as_matrix
from tagalong.learning.fitted import NativeModel
from tagalong.learning.input_types import MatrixLike, Rows
from tagalong.online.native import EditableRanker, NativeRanker
from tagalong.online.weights import FeatureCounts, weights_as_dict

__all__ = ["NativeLearner", "Settings"]

Settings: TypeAlias = dict[str, Any]


class NativeLearner(NativeModel):
    """An online learner around a native learner, for any kind of prediction.

    A subclass declares its parameters, turns them into settings (``_checked_settings``) and makes
    a native learner from settings (``_make_native``).
    """

    _native: NativeRanker
    _restart_reason: str  # why the certificate does not cover all rounds; empty if it does
    n_features: int | None

    # Hooks for subclasses.

    def _largest_weight(self, settings: Settings) -> float:
        """Return the largest sample weight that cannot overflow the model's weights."""
        raise NotImplementedError

    def _make_native(self, settings: Settings) -> NativeRanker:
        """Return a new native learner without labels."""
        raise NotImplementedError

    def _check_start(self, settings: Settings, labels: int, features: int) -> None:
        """Raise ValueError if these numbers of labels and features (0: unknown) are impossible."""

    def _require_editable_weights(self) -> None:
        """Raise ValueError if weights can only be changed by learning."""

    # The contract: see `tagalong.learning.protocols`.

    @property
    def learns_online(self) -> bool:
        """Whether it learns one example at a time: True."""
        return True

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``."""
        return False

    @property
    def largest_weight(self) -> float:
        """The largest weight of an example that cannot overflow the model's weights."""
        return self._largest_weight(self._current_settings())

    @property
    def bytes_of_weights(self) -> int:
        """The memory used by the weights, in bytes."""
        self._require_start("bytes_of_weights")
        return self._native.bytes

    def own_feature_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return the names of computed features; None if the learner uses the examples' features.

        Parameters
        ----------
        features : array of int
            The numbers of the features.
        """
        return None

    def set_one_label(self, one_label: bool | Literal["auto"]) -> None:
        """Raise ValueError unless ``one_label`` is "auto": the learner has no such setting.

        Parameters
        ----------
        one_label : "auto", True or False
            Whether every item has exactly one label. "auto" changes nothing.
        """
        if isinstance(one_label, (bool, np.bool_)):
            raise ValueError(
                f"a {type(self).__name__} has no one_label setting, so it must be 'auto', got "
                f"{one_label!r}; a LabelRanker has one"
            )
        if one_label != "auto":
            raise ValueError(f"one_label must be 'auto', True or False, got {one_label!r}")

    def weights_by_feature(self) -> dict[str, npt.NDArray[Any]]:
        """Return ``features``, ``weights`` (features, K), and ``unseen`` weights if they exist."""
        self._require_start("weights_by_feature")
        return weights_as_dict(self._native.weights())

    def feature_lengths(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the features that have weights, and the Euclidean norm of each one's weights."""
        found = self.weights_by_feature()
        weights = found["weights"].astype(np.float64)
        if weights.ndim == 1:  # one number per feature, shared by all labels
            return found["features"], np.abs(weights)
        return found["features"], np.linalg.norm(weights, axis=1)

    def keep_features(self, kept: npt.NDArray[np.bool_]) -> None:
        """Keep the weights of some features and drop the others. The certificate restarts.

        Parameters
        ----------
        kept : array of bool
            One flag per feature, in the order of ``feature_lengths``.
        """
        dropped = int(len(kept) - kept.sum())
        self._edit_weights(
            lambda native: native.select_features(kept.tolist()),
            f"the weights of {dropped} features were pruned",
        )

    # Internals.

    def _current_settings(self) -> Settings:
        return self._settings if self.is_started else self._checked_settings()

    def _validate(self, X: MatrixLike, reset: bool) -> Rows:
        rows: Rows = validated(self, X, reset)
        if self.n_features is not None and rows.shape[1] != self.n_features:
            raise ValueError(
                f"X has {rows.shape[1]} columns, but n_features={self.n_features} was declared"
            )
        return rows

    def _checked_matrix(self, X: MatrixLike) -> core.Matrix:
        check_is_fitted(self)
        if not hasattr(self, "n_features_in_"):
            raise NotFittedError(
                "this learner has learnt single examples only: use rank_one, or learn a matrix"
            )
        matrix = as_matrix(self._validate(X, reset=False))
        self._native.check(matrix)
        return matrix

    def _feature_counts(self) -> FeatureCounts:
        return FeatureCounts(
            int(self._settings["n_features"]), int(getattr(self, "n_features_in_", 0))
        )

    def _edit_weights(self, change: Callable[[EditableRanker], None], reason: str) -> None:
        """Change the weights other than by learning.

        The bound on the rounds so far does not hold for the changed weights. So the native
        learner restarts its certificate, centred on the new weights.
        """
        self._require_editable_weights()
        native = cast(EditableRanker, self._native)
        rounds = native.rounds
        change(native)
        self._restart_reason = f"{reason} after {rounds:,} rounds"
