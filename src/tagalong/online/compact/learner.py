"""A compact copy of a label ranker, for predictions only."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, Literal, NoReturn, Self

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.learning import model_files
from tagalong.learning.batches import RowTargets
from tagalong.learning.examples import SparseRows
from tagalong.learning.input_types import Classes, MatrixLike, SampleWeight, TargetsLike
from tagalong.learning.rounds import Round, Rounds
from tagalong.online.cutoff_ranker import CutoffRanker
from tagalong.online.label_model import Settings
from tagalong.online.ranker import Example

__all__ = ["PREDICTION_ONLY", "CompactRanker"]

PREDICTION_ONLY = (
    "this model is compact, which means for predictions only: learn with the full model from "
    "which it was exported, and export that one again"
)


class CompactRanker(CutoffRanker):
    """A compact copy of a `LabelRanker`, for predictions only.

    `tagalong.online.compact.compact_ranker` makes it from a fitted ranker, and ``Tagger.compact``
    from a tagger. Averaged weights are folded in, small weights are dropped, and the others are
    stored as integers from -127 to 127 with a scale per feature. Labels, confidence and cut-off are
    those of the full ranker. In a model file the weights are not compressed: processes that load
    the same file share their memory.
    """

    _native: core.CompactRanker

    def __init__(self) -> None:
        self.n_features = None

    @property
    def learns_online(self) -> bool:
        """Whether it learns one example at a time: False, as it does not learn at all."""
        return False

    @property
    def learns_rows(self) -> bool:
        """Whether ``watch_rows`` exists: False."""
        return False

    @property
    def cutoff_(self) -> float:
        """The threshold: ``predict`` returns the labels that score at least this."""
        self._require_start("cutoff_")
        return self._native.cutoff

    def start(self) -> None:
        """Raise ValueError unless the ranker has been exported or loaded."""
        if not self.is_started:
            raise ValueError("a CompactRanker is exported from a fitted LabelRanker")

    def _checked_settings(self) -> Settings:
        return {}

    def _make_native(self, settings: Settings) -> core.CompactRanker:
        constant = parameters.real(settings["constant"], "constant")
        given: dict[str, Any] = {
            "centred": parameters.flag(settings["centred"], "centred"),
            "one_label": parameters.choice(settings["one_label"], "one_label", ONE_LABEL),
            "probability": parameters.flag(settings["probability"], "probability"),
            "normalize": parameters.flag(settings["normalize"], "normalize"),
            "constant": constant,
        }
        if given != settings or abs(constant) > LARGEST_CONSTANT:
            raise ValueError(f"these are not settings of a compact model: {settings!r}")
        return core.CompactRanker(**given)

    def _restore_native(self, header: dict[str, Any], arrays: model_files.Arrays) -> None:
        settings = header["settings"]
        native = self._make_native(settings)
        native.restore({"arrays": arrays, "numbers": header["numbers"]})
        self._native, self._settings = native, settings

    # It does not learn.

    def fit(self, X: MatrixLike, y: TargetsLike, sample_weight: SampleWeight = None) -> Self:
        """Raise ValueError: it does not learn.

        Parameters
        ----------
        X : matrix
            Examples.
        y : targets
            Labels.
        sample_weight : array, optional
            Weights.
        """
        self._refuse()

    def _learn_batch(
        self,
        X: MatrixLike,
        Y: TargetsLike,
        classes: Classes,
        sample_weight: SampleWeight,
        judged: bool | float,
        watched: bool,
        places: bool = True,
    ) -> Rounds:
        self._refuse()

    def _learn_example(
        self,
        x: Example,
        y: Hashable | Iterable[Hashable],
        unknown: Collection[Hashable],
        weight: float,
        judged: bool | float,
        watched: bool,
    ) -> Round:
        self._refuse()

    def check_example(self, x: Example, new: Sequence[Hashable]) -> None:
        """Raise ValueError: it does not learn.

        Parameters
        ----------
        x : example
            One example.
        new : sequence of labels
            New labels.
        """
        self._refuse()

    def encode_rows(
        self, Y: Sequence[Collection[Hashable]], weights: npt.NDArray[np.float64] | None = None
    ) -> RowTargets:
        """Raise ValueError: it does not learn.

        Parameters
        ----------
        Y : sequence of collections of labels
            Labels.
        weights : array, optional
            Weights.
        """
        self._refuse()

    def watch_rows(
        self, rows: SparseRows, targets: RowTargets, judged: bool | float = True
    ) -> Rounds:
        """Raise ValueError: it does not learn.

        Parameters
        ----------
        rows : SparseRows
            Examples.
        targets : RowTargets
            Labels.
        judged : bool or float
            Ignored.
        """
        self._refuse()

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Raise ValueError: it does not learn.

        Parameters
        ----------
        labels : collection of labels
            New labels.
        """
        self._refuse()

    def count_mistake(self, label: Hashable, weight: float = 1.0) -> None:
        """Raise ValueError: it does not learn.

        Parameters
        ----------
        label : label
            The label.
        weight : float
            Ignored.
        """
        self._refuse()

    def set_one_label(self, one_label: bool | Literal["auto"]) -> None:
        """Raise ValueError: it does not learn.

        Parameters
        ----------
        one_label : "auto", True or False
            Ignored.
        """
        self._refuse()

    def _require_editable_weights(self) -> None:
        self._refuse()

    def _largest_weight(self, settings: Settings) -> float:
        self._refuse()

    @staticmethod
    def _refuse() -> NoReturn:
        raise ValueError(PREDICTION_ONLY)


ONE_LABEL = ("auto", "yes", "no")
LARGEST_CONSTANT = 1e9
