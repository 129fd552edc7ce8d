"""Base class of the Predtrons without labels: validation, learning, persistence."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.drift import Drift
from tagalong.learning.estimators import (
    columns_of,
    restart_reason,
    restore_columns,
    restored_on_error,
)
from tagalong.learning.examples import as_matrix
from tagalong.learning.input_types import MatrixLike, Rows
from tagalong.learning.labels import Labels, label_array
from tagalong.online.native_learner import Settings
from tagalong.online.predtron.base_learner import PredtronBase, header_with_problems
from tagalong.online.predtron.structured_batches import Batch, Scores
from tagalong.online.weights import coef_matrix

__all__ = ["StructuredPredtron"]


class StructuredPredtron(PredtronBase):
    """A Predtron without labels. A subclass validates batches and predicts."""

    _names: list[str] | None  # column names of the first matrix, if it was a DataFrame

    # The contract of a learner: see `tagalong.learning.protocols`.

    @property
    def learns_rows(self) -> bool:
        """Whether ``encode_rows`` and ``watch_rows`` exist: False, as rows have no labels."""
        return False

    @property
    def scores_natively(self) -> bool:
        """Whether scoring rows runs no code in Python: False, as there are no labels to score."""
        return False

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label: False, as there are none."""
        return False

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades: False, as there are none."""
        return False

    @property
    def labels_come_in_runs(self) -> bool:
        """Whether labels come in runs: False, as there are none."""
        return False

    @property
    def drift(self) -> Drift | None:
        """The last change of the answers: None, as it does not look for changes."""
        return None

    @property
    def labels(self) -> Labels:
        """The known labels: always empty."""
        return Labels()

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels: always empty."""
        self._require_start("classes_")
        return label_array([])

    @property
    def cutoff_(self) -> float:
        """The score threshold that separates relevant from irrelevant."""
        self._require_start("cutoff_")
        return self._native.certificate().cutoff

    def start(self) -> None:
        """Start without a round, unless already started."""
        if not self.is_started:
            self._start_with(self._checked_settings(), None)

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the recent share of relevant targets among targets with such scores.

        Parameters
        ----------
        scores : array of shape (scores,)
            One or more scores.
        """
        if not self.is_started:
            return np.zeros(len(scores))
        return np.asarray(self._native.probabilities(scores))

    # Learning, for the subclasses: ``check`` turns a validated matrix into a batch.

    def _fit(self, X: MatrixLike, check: Callable[[Rows], Batch]) -> Self:
        passes = parameters.integer(self.passes, "passes", 1)
        with restored_on_error(self):
            settings = self._checked_settings()
            rows = self._validate(X, reset=True)
            self._start_with(settings, as_matrix(rows))
            batch = self._checked_batch(rows, check)
        for _ in range(passes):
            batch.learn()
        return self

    def _learn(self, X: MatrixLike, check: Callable[[Rows], Batch], watched: bool) -> Scores:
        with restored_on_error(self):
            rows = self._validate(X, reset=not hasattr(self, "n_features_in_"))
            if not self.is_started:
                self._start_with(self._checked_settings(), as_matrix(rows))
            batch = self._checked_batch(rows, check)
        return batch.learn(watched)

    def _checked_batch(self, rows: Rows, check: Callable[[Rows], Batch]) -> Batch:
        self._native.check(as_matrix(rows))
        return check(rows)

    def _start_with(self, settings: Settings, matrix: core.Matrix | None) -> None:
        """Start from scratch, with a new engine."""
        features = self.n_features or (0 if matrix is None else matrix.shape[1])
        self._check_start(settings, 0, features)
        settings = {**settings, "n_features": features}
        native = self._make_native(settings)
        self._settings = settings
        self._restart_reason = ""
        columns = columns_of(self)["columns"]
        self._names = columns if matrix is not None and columns else None
        self._native = native

    def _coef_matrix(self) -> npt.NDArray[Any] | sp.csr_array:
        features, weights = self._coefficients()
        return coef_matrix(features, weights, self._feature_counts())

    # Persistence.

    def to_parts(self) -> tuple[dict[str, Any], model_files.Arrays]:
        """Return the header and the arrays of the model file."""
        named = self._header_problems()
        state = self._native.state()
        header = {
            **named,
            "labels": [],
            "grows": False,
            "single": False,
            **columns_of(self),
            "names": self._names,
            "restarted": self._restart_reason,
            "numbers": state["numbers"],
        }
        return header, state["arrays"]

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
        header = header_with_problems(header)
        self = cls(**header["params"])
        found = header["numbers"]["labels"]
        if header["labels"] or found != 0:
            raise ValueError(
                f"it has labels {header['labels']!r} and weights of {found}, but its problem has "
                "none"
            )
        self._restart_reason = restart_reason(header)
        restore_columns(self, header)
        self._names = header["names"]
        if self._names not in (None, columns_of(self)["columns"]):
            raise ValueError("the names of its features are not those of its columns")
        self._restore_native(header, arrays)
        return self
