"""Base class of the Predtrons whose answers are no labels: validation, learning, files."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.estimators import (
    columns_of,
    restore_columns,
    restored_on_error,
    validated,
)
from tagalong.learning.examples import as_matrix
from tagalong.learning.labels import Labels, label_array
from tagalong.online import label_surgery
from tagalong.online.label_model import Settings
from tagalong.online.predtron.core import PredtronCore, with_problems
from tagalong.online.predtron.structured_batches import Batch, Scores
from tagalong.online.weights import DeclaredFeatures, matrix_of

__all__ = ["StructuredPredtron"]


class StructuredPredtron(PredtronCore):
    """A Predtron without labels. A subclass checks batches and predicts."""

    _names: list[str] | None  # the columns of the DataFrame that it started with

    # The contract of a learner: see `tagalong.learning.protocols`.

    @property
    def learns_online(self) -> bool:
        """Whether it learns one round after the other: True."""
        return True

    @property
    def learns_rows(self) -> bool:
        """Whether it offers ``watch_rows``: False, as rows have no labels."""
        return False

    @property
    def labels(self) -> Labels:
        """The labels: none."""
        return Labels()

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of their columns: none."""
        self._require_start("classes_")
        return label_array([])

    @property
    def cutoff_(self) -> float:
        """The score that separates what is relevant from the rest."""
        self._require_start("cutoff_")
        return float(self._native.certificate()["cutoff"])

    @property
    def largest_weight(self) -> float:
        """The largest weight of a round that the arithmetic can bear."""
        return self._largest_weight(self._settings if self.is_started else self._checked_settings())

    @property
    def bytes_of_weights(self) -> int:
        """The memory that the weights take."""
        self._require_start("bytes_of_weights")
        return int(self._native.bytes)

    def start(self) -> None:
        """Begin without a round, unless it has begun."""
        if not self.is_started:
            self._start_with(self._checked_settings(), None)

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return how often what had such scores has been relevant lately.

        Parameters
        ----------
        scores : array of shape (scores,)
            One or more of them.
        """
        if not self.is_started:
            return np.zeros(len(scores))
        return np.asarray(self._native.probabilities(scores))

    def own_feature_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return names of features that the learner makes itself: None, as it makes none.

        Parameters
        ----------
        features : array of int
            Their numbers.
        """
        return None

    def weights_by_feature(self) -> dict[str, npt.NDArray[Any]]:
        """Return the features with weights, and the weights, (features, scores)."""
        self._require_start("weights_by_feature")
        found: dict[str, npt.NDArray[Any]] = self._native.weights()
        return found

    def feature_lengths(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the features that have weights, and the Euclidean length of each one's weights."""
        found = self.weights_by_feature()
        weights = found["weights"].astype(np.float64).reshape(len(found["features"]), -1)
        return found["features"], np.linalg.norm(weights, axis=1)

    def keep_features(self, kept: npt.NDArray[np.bool_]) -> None:
        """Keep the weights of some of the features. The certificate restarts.

        Parameters
        ----------
        kept : array of bool
            Which ones, in the order of ``feature_lengths``.
        """
        self._check_surgery()
        state = self._native.state()
        native = self._make_native(self._settings)
        native.restore(label_surgery.keep_features(state, kept))
        native.restart_certificate()
        self._native = native
        dropped, rounds = int(len(kept) - kept.sum()), state["numbers"]["rounds"]
        self._restarted = f"the weights of {dropped} features were pruned after {rounds:,} rounds"

    # Learning, for the subclasses: ``check`` makes a batch of a validated matrix.

    def _fit(self, X: Any, check: Callable[[Any], Batch]) -> Self:
        passes = parameters.integer(self.passes, "passes", 1)
        with restored_on_error(self):
            settings = self._checked_settings()
            X = self._validate(X, reset=True)
            self._start_with(settings, as_matrix(X))
            batch = self._checked_batch(X, check)
        for _ in range(passes):
            batch.learn()
        return self

    def _learn(self, X: Any, check: Callable[[Any], Batch], watched: bool) -> Scores:
        with restored_on_error(self):
            X = self._validate(X, reset=not hasattr(self, "n_features_in_"))
            if not self.is_started:
                self._start_with(self._checked_settings(), as_matrix(X))
            batch = self._checked_batch(X, check)
        return batch.learn(watched)

    def _checked_batch(self, X: Any, check: Callable[[Any], Batch]) -> Batch:
        self._native.check(as_matrix(X))
        return check(X)

    def _start_with(self, settings: Settings, matrix: core.Matrix | None) -> None:
        """Begin anew, with an engine that has learnt nothing."""
        features = self.n_features or (0 if matrix is None else matrix.shape[1])
        self._check_start(settings, 0, features)
        settings = {**settings, "n_features": features}
        native = self._make_native(settings)
        self._settings = settings
        self._restarted = ""
        columns = columns_of(self)["columns"]
        self._names = columns if matrix is not None and columns else None
        self._native = native

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

    def _weight_matrix(self) -> npt.NDArray[Any] | sp.csr_array:
        features, weights = self._coefficients()
        by_matrix = int(getattr(self, "n_features_in_", 0))
        declared = DeclaredFeatures(int(self._settings["n_features"]), by_matrix)
        return matrix_of(features, weights, declared)

    # Files.

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of a file."""
        named = self._problems_by_name()
        state = self._native.state()
        header = {
            **named,
            "labels": [],
            "grows": False,
            "single": False,
            **columns_of(self),
            "names": self._names,
            "restarted": self._restarted,
            "numbers": state["numbers"],
        }
        return header, state["arrays"]

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: model_files.Arrays) -> Self:
        """Return the learner that ``to_parts`` took apart.

        Parameters
        ----------
        header : dict
            What can be said in JSON.
        arrays : dict
            Arrays by name.
        """
        header = with_problems(header)
        self = cls(**header["params"])
        native = self._make_native(header["settings"])
        native.restore({"arrays": arrays, "numbers": header["numbers"]})
        if header["labels"] or native.labels:
            found = len(header["labels"])
            raise ValueError(f"it has {found} labels and weights of {native.labels}, not none")
        self._native = native
        self._settings = header["settings"]
        self._restarted = header.get("restarted", "")
        restore_columns(self, header)
        self._names = header["names"]
        return self
