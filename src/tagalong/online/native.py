"""How a native learner is made, and what it offers to the Python class around it."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tagalong import _native as core

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
        For weights in single and in double precision.
    settings : mapping
        As files have them: what the class is called with, ``"dtype"``, which chooses the class, and
        what concerns Python only.
    python_only : collection of str
        The names of the latter.
    """
    single, double = kinds
    given = {n: v for n, v in settings.items() if n != "dtype" and n not in python_only}
    return double(**given) if settings["dtype"] == "float64" else single(**given)


class NativeCertificate(Protocol):
    """What every certificate of a native ranker says."""

    @property
    def rounds(self) -> int:
        """How many there were."""

    @property
    def cutoff(self) -> float:
        """The score from which a label is predicted."""


class NativeRanker(Protocol):
    """What a native learner offers: it knows numbers of labels and features, no names."""

    @property
    def labels(self) -> int:
        """How many there are."""

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
    ) -> None:
        """Learn the rows; write scores and cut-off before each of them, if wanted."""

    def learn_one(
        self,
        indices: npt.NDArray[Any],
        values: npt.NDArray[Any],
        relevant: list[int],
        unknown: list[int],
        weight: float,
        /,
    ) -> None:
        """Learn one example."""

    def predict_then_learn_one(
        self,
        indices: npt.NDArray[Any],
        values: npt.NDArray[Any],
        relevant: list[int],
        unknown: list[int],
        weight: float,
        /,
    ) -> tuple[npt.NDArray[Any], float]:
        """Learn one example; return the scores and the cut-off there were before."""

    def score_one(
        self, indices: npt.NDArray[Any], values: npt.NDArray[Any], /
    ) -> tuple[npt.NDArray[Any], float]:
        """Return the scores of one example and the cut-off."""

    def explain_one(
        self, indices: npt.NDArray[Any], values: npt.NDArray[Any], label: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return an example's features, what each adds to the label's score, and the score."""

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return how often labels with such scores have been relevant lately."""

    def restart_certificate(self) -> None:
        """Begin the counts and the dual value anew, centred on the present weights."""

    @property
    def bytes(self) -> int:
        """What the weights take."""

    def score(self, x: core.Matrix) -> tuple[npt.NDArray[Any], float]:
        """Return scores (rows, labels) and the cut-off."""

    def rank(self, x: core.Matrix, k: int) -> npt.NDArray[np.int32]:
        """Return the k best labels of each row, all of them for k < 0."""

    def rank_one(self, indices: npt.NDArray[Any], values: npt.NDArray[Any], k: int, /) -> list[int]:
        """Return the k best labels of one example."""

    def weights(self) -> core.FeatureWeights:
        """Return the weights that predict, (rows, K)."""

    def certificate(self) -> NativeCertificate:
        """Return what was counted, the dual value and the cut-off."""

    def state(self) -> dict[str, dict[str, Any]]:
        """Return everything that was learnt, as ``arrays`` and ``numbers``."""

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Take over a state; the learner must be new."""


class EditableRanker(NativeRanker, Protocol):
    """A native learner whose labels and features can be changed otherwise than by learning."""

    @property
    def rounds(self) -> int:
        """How many rounds there were, those before a restart of the certificate too."""

    def select_labels(self, sources: list[list[int]]) -> None:
        """Have other labels: per new label the old ones whose weights it sums."""

    def select_features(self, kept: list[bool]) -> None:
        """Keep the weights of some features, in the order of ``weights``."""


Core = TypeVar("Core", bound=EditableRanker)


class RankerWrapper(EditableRanker, Generic[Core]):
    """Offers what a native ranker offers. The one inside does what a subclass leaves to it.

    Parameters
    ----------
    native : NativeRanker
        The one inside.
    """

    def __init__(self, native: Core):
        self._core = native

    @property
    def labels(self) -> int:
        """How many there are."""
        return self._core.labels

    @property
    def bytes(self) -> int:
        """What the weights take."""
        return self._core.bytes

    def add_labels(self, count: int) -> None:
        """Add labels without weights."""
        self._core.add_labels(count)

    def check(self, x: core.Matrix) -> None:
        """Raise ValueError if some row cannot be learnt."""
        self._core.check(x)

    def learn_one(
        self, indices: Any, values: Any, relevant: list[int], unknown: list[int], weight: float, /
    ) -> None:
        """Learn one example."""
        self.predict_then_learn_one(indices, values, relevant, unknown, weight)

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return how often labels with such scores have been relevant lately."""
        return self._core.probabilities(scores)

    def restart_certificate(self) -> None:
        """Begin the counts and the dual value anew, centred on the present weights."""
        self._core.restart_certificate()

    @property
    def rounds(self) -> int:
        """How many rounds there were, those before a restart of the certificate too."""
        return self._core.rounds

    def select_labels(self, sources: list[list[int]]) -> None:
        """Have other labels: per new label the old ones whose weights it sums."""
        self._core.select_labels(sources)

    def select_features(self, kept: list[bool]) -> None:
        """Keep the weights of some features, in the order of ``weights``."""
        self._core.select_features(kept)

    def weights(self) -> core.FeatureWeights:
        """Return the weights that predict."""
        return self._core.weights()

    def state(self) -> dict[str, dict[str, Any]]:
        """Return everything that was learnt, as ``arrays`` and ``numbers``."""
        return self._core.state()

    def restore(self, state: dict[str, dict[str, Any]]) -> None:
        """Take over a state; the learner must be new."""
        self._core.restore(state)
