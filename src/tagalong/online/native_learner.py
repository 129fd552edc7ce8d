"""Base class of the online learners: parameters, native learner, matrices, weights."""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong.learning.estimators import validated
from tagalong.learning.examples import as_matrix
from tagalong.learning.fitted import NativeModel
from tagalong.online.native import EditableRanker, NativeRanker
from tagalong.online.weights import FeatureCounts, weights_as_dict

__all__ = ["NativeLearner", "Settings"]

Settings: TypeAlias = dict[str, Any]


class NativeLearner(NativeModel):
    """An online learner with a native learner inside, whatever it predicts.

    A subclass states its parameters, turns them into settings (``_checked_settings``) and makes a
    native learner from settings (``_make_native``).
    """

    _native: NativeRanker
    _restart_reason: str  # why the certificate does not begin with the first round
    n_features: int | None

    # What a subclass defines, or may define.

    def _checked_settings(self) -> Settings:
        """Return the parameters as the native learner wants them; ValueError for a bad one."""
        raise NotImplementedError

    def _largest_weight(self, settings: Settings) -> float:
        """Return the largest sample weight that the arithmetic can bear."""
        raise NotImplementedError

    def _make_native(self, settings: Settings) -> NativeRanker:
        """Return a new native learner without labels."""
        raise NotImplementedError

    def _check_start(self, settings: Settings, labels: int, features: int) -> None:
        """Raise ValueError if nothing can begin with so many labels and features (0: unknown)."""

    def _require_editable_weights(self) -> None:
        """Raise ValueError if weights can be changed by learning only."""

    # The contract: see `tagalong.learning.protocols`.

    @property
    def learns_online(self) -> bool:
        """Whether it learns one example after the other: True."""
        return True

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``."""
        return False

    @property
    def largest_weight(self) -> float:
        """The largest weight of an example that the arithmetic can bear."""
        return self._largest_weight(self._current_settings())

    @property
    def bytes_of_weights(self) -> int:
        """The memory that the weights take."""
        self._require_start("bytes_of_weights")
        return self._native.bytes

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is wrong."""
        self._checked_settings()

    def own_feature_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return names of features that the learner makes itself; None if they are the examples'.

        Parameters
        ----------
        features : array of int
            Their numbers.
        """
        return None

    def weights_by_feature(self) -> dict[str, npt.NDArray[Any]]:
        """Return the features with weights, the weights (features, K), and what else is kept."""
        self._require_start("weights_by_feature")
        return weights_as_dict(self._native.weights())

    def feature_lengths(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the features that have weights, and the Euclidean length of each one's weights."""
        found = self.weights_by_feature()
        weights = found["weights"].astype(np.float64)
        if weights.ndim == 1:  # one number per feature, shared by all labels
            return found["features"], np.abs(weights)
        return found["features"], np.linalg.norm(weights, axis=1)

    def keep_features(self, kept: npt.NDArray[np.bool_]) -> None:
        """Keep the weights of some of the features. The certificate restarts.

        Parameters
        ----------
        kept : array of bool
            Which ones, in the order of ``feature_lengths``.
        """
        dropped = int(len(kept) - kept.sum())
        self._edit_weights(
            lambda native: native.select_features(kept.tolist()),
            f"the weights of {dropped} features were pruned",
        )

    # Within the learner.

    def _current_settings(self) -> Settings:
        return self._settings if self.is_started else self._checked_settings()

    def _validate(self, X: Any, reset: bool) -> Any:
        X = validated(self, X, reset)
        if self.n_features is not None and X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} columns, but n_features={self.n_features} was declared"
            )
        return X

    def _checked_matrix(self, X: Any) -> core.Matrix:
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
        """Change the weights in another way than by learning.

        What was proven about the rounds so far does not hold for such weights, so the native
        learner restarts its certificate, centred on the new weights.
        """
        self._require_editable_weights()
        native = cast(EditableRanker, self._native)
        rounds = native.rounds
        change(native)
        self._restart_reason = f"{reason} after {rounds:,} rounds"
