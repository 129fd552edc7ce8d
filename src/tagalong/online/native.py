"""The interface of the native learners, as protocols, and their construction from settings."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning.input_types import Indices, Values

__all__ = ["EditableRanker", "NativePredtron", "NativeRanker", "RankerWrapper", "new_native"]

NativePredtron: TypeAlias = core.Predtron32 | core.Predtron64

Single = TypeVar("Single")
Double = TypeVar("Double")


def new_native(
    kinds: tuple[Callable[..., Single], Callable[..., Double]],
    settings: Mapping[str, Any],
    python_only: Collection[str] = (),
) -> Single | Double:
    """Return a new native learner.

    Parameters
    ----------
    kinds : pair of classes
        The native classes for weights in single and in double precision.
    settings : mapping
        Settings as in a model file: the arguments of the class, ``"dtype"``, which selects the
        class, and settings that only Python uses.
    python_only : collection of str
        The names of the settings that only Python uses.
    """
    single, double = kinds
    given = {n: v for n, v in settings.items() if n != "dtype" and n not in python_only}
    dtype = parameters.choice(settings["dtype"], "dtype", ("float32", "float64"))
    return double(**given) if dtype == "float64" else single(**given)


class NativeCertificate(Protocol):
    """The fields that the certificates of all native rankers share."""

    @property
    def rounds(self) -> int:
        """The number of rounds."""

    @property
    def cutoff(self) -> float:
        """The threshold: labels that score at least this are predicted."""


class NativeRanker(Protocol):
    """A native learner of labels. Labels and features are numbers; it knows no names."""

    @property
    def labels(self) -> int:
        """The number of labels."""

    def add_labels(self, count: int) -> None:
        """Add labels without weights."""

    def check(self, x: core.Matrix) -> None:
        """Raise ValueError if some row cannot be learnt."""

    def learn(
        self,
        x: core.Matrix,
        relevant: core.LabelRows,
        unknown: core.LabelRows,
        weights: npt.NDArray[np.float64] | None = None,
        scores: npt.NDArray[Any] | None = None,
        cutoffs: npt.NDArray[np.float64] | None = None,
        stands_for: float = 1.0,
        places: core.PlaceArrays | None = None,
    ) -> None:
        """Learn the rows; write scores, cut-off and places before each row, if arrays are given."""

    def learn_one(
        self,
        indices: Indices,
        values: Values,
        relevant: list[int],
        unknown: list[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None:
        """Learn one example."""

    def predict_then_learn_one(
        self,
        indices: Indices,
        values: Values,
        relevant: list[int],
        unknown: list[int],
        weight: float,
        stands_for: float,
        places: core.PlaceArrays | None,
        /,
    ) -> tuple[npt.NDArray[Any], float]:
        """Learn one example; return the scores and the cut-off before learning."""

    def score_one(self, indices: Indices, values: Values, /) -> tuple[npt.NDArray[Any], float]:
        """Return the scores of one example and the cut-off."""

    def explain_one(
        self, indices: Indices, values: Values, label: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return an example's features, their contributions to the label's score, and the score."""

    def judge(
        self,
        x: core.Matrix,
        k: int,
        count: npt.NDArray[np.int64] | None = None,
        last: npt.NDArray[np.int64] | None = None,
    ) -> core.PlaceArrays:
        """Return the first k places of each row; all labels if k < 0."""

    def covered(self, targets: Sequence[float]) -> list[tuple[float, float, float]]:
        """Return share, precision and number of answers of the sure suggestions at each target."""

    def label_precision(self) -> npt.NDArray[np.float64]:
        """Return sure suggestions of each label, and right ones of them: (K, targets, 2)."""

    def count_mistake(self, label: int, weight: float) -> None:
        """Count a wrong suggestion of a label that was acted on."""

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label, as far as is known."""

    @property
    def in_runs(self) -> bool:
        """Whether labels came in runs far beyond chance."""

    def restart_certificate(self) -> None:
        """Restart the counts and the dual value, centred on the current weights."""

    @property
    def bytes(self) -> int:
        """The memory used by the weights."""

    @property
    def unsolved(self) -> int:
        """The rounds in which the solver reached its limit."""

    def score(self, x: core.Matrix) -> tuple[npt.NDArray[Any], float]:
        """Return scores (rows, labels) and the cut-off."""

    def rank(self, x: core.Matrix, k: int) -> npt.NDArray[np.int32]:
        """Return the k best labels of each row; all labels if k < 0."""

    def rank_one(self, indices: Indices, values: Values, k: int, /) -> list[int]:
        """Return the k best labels of one example; all labels if k < 0."""

    def weights(self) -> core.FeatureWeights:
        """Return the weights used for predictions, (features, K)."""

    def certificate(self) -> NativeCertificate:
        """Return the counts, the dual value and the cut-off."""

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the learnt state as ``arrays`` and ``numbers``."""

    def packed_state(self) -> dict[str, dict[str, Any]]:
        """Return the learnt state with packed weights, for files."""

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Restore a saved state into a new learner."""


class EditableRanker(NativeRanker, Protocol):
    """A native learner whose labels and features can be edited, not only learnt."""

    @property
    def rounds(self) -> int:
        """The number of rounds, including those before a restart of the certificate."""

    def select_labels(self, sources: list[list[int]]) -> None:
        """Replace the labels; ``sources`` lists, per new label, the old labels to sum."""

    def select_features(self, kept: list[bool]) -> None:
        """Keep the weights of some features, in the order of ``weights``."""


Core = TypeVar("Core", bound=EditableRanker)


class RankerWrapper(EditableRanker, Generic[Core]):
    """Base class of wrappers around a native ranker that have its interface.

    Calls that a subclass does not override go to the wrapped ranker.

    Parameters
    ----------
    native : EditableRanker
        The wrapped ranker.
    """

    def __init__(self, native: Core):
        self._core = native

    @property
    def labels(self) -> int:
        """The number of labels."""
        return self._core.labels

    @property
    def bytes(self) -> int:
        """The memory used by the weights."""
        return self._core.bytes

    @property
    def unsolved(self) -> int:
        """The rounds in which the solver reached its limit."""
        return self._core.unsolved

    def add_labels(self, count: int) -> None:
        """Add labels without weights."""
        self._core.add_labels(count)

    def check(self, x: core.Matrix) -> None:
        """Raise ValueError if some row cannot be learnt."""
        self._core.check(x)

    def learn_one(
        self,
        indices: Indices,
        values: Values,
        relevant: list[int],
        unknown: list[int],
        weight: float,
        stands_for: float,
        /,
    ) -> None:
        """Learn one example."""
        self.predict_then_learn_one(indices, values, relevant, unknown, weight, stands_for, None)

    def covered(self, targets: Sequence[float]) -> list[tuple[float, float, float]]:
        """Return share, precision and number of answers of the sure suggestions at each target."""
        return self._core.covered(targets)

    def label_precision(self) -> npt.NDArray[np.float64]:
        """Return sure suggestions of each label, and right ones of them: (K, targets, 2)."""
        return self._core.label_precision()

    def count_mistake(self, label: int, weight: float) -> None:
        """Count a wrong suggestion of a label that was acted on."""
        self._core.count_mistake(label, weight)

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label, as far as is known."""
        return self._core.has_one_label

    @property
    def in_runs(self) -> bool:
        """Whether labels came in runs far beyond chance."""
        return self._core.in_runs

    def restart_certificate(self) -> None:
        """Restart the counts and the dual value, centred on the current weights."""
        self._core.restart_certificate()

    @property
    def rounds(self) -> int:
        """The number of rounds, including those before a restart of the certificate."""
        return self._core.rounds

    def select_labels(self, sources: list[list[int]]) -> None:
        """Replace the labels; ``sources`` lists, per new label, the old labels to sum."""
        self._core.select_labels(sources)

    def select_features(self, kept: list[bool]) -> None:
        """Keep the weights of some features, in the order of ``weights``."""
        self._core.select_features(kept)

    def weights(self) -> core.FeatureWeights:
        """Return the weights used for predictions."""
        return self._core.weights()

    def state(self) -> dict[str, dict[str, Any]]:
        """Return the learnt state as ``arrays`` and ``numbers``."""
        return self._core.state()

    def packed_state(self) -> dict[str, dict[str, Any]]:
        """Return the learnt state with packed weights, for files."""
        return self._core.packed_state()

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Restore a saved state into a new learner."""
        self._core.restore(state)
