"""The contract of a learner: all that code outside its package may use.

`Tagger`, the command line, the adapters and the evaluation are written against these protocols.
They ask a learner what it can do through ``task``, ``learns_online`` and ``learns_rows``, never by
looking for a method, and touch none of its private attributes.

A new learner that follows the contract works everywhere: `tests/contract` runs for it once it is
listed in `tests/contract/learners.py`.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from tagalong.learning.batches import RowTargets
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.examples import Pair, SparseRows
from tagalong.learning.labels import Labels
from tagalong.learning.model_files import Saveable
from tagalong.learning.rounds import Round, Rounds

__all__ = [
    "Learner",
    "ListLearner",
    "OnlineLearner",
    "QueryLearner",
    "Task",
    "is_online",
    "ranks_documents",
    "shows_lists",
]

Task: TypeAlias = Literal["labels", "lists", "documents", "answers"]
"""What a learner predicts: a ranking of all labels; a list of labels to show, of which feedback is
learnt; a ranking of the documents of a query; or the answers of a problem of the user's own."""


class Learner(Saveable, Protocol):
    """Every learner that scores labels, whether it learns online or all rows at once."""

    @property
    def task(self) -> Task:
        """What it predicts."""

    @property
    def learns_online(self) -> bool:
        """Whether it is an `OnlineLearner`: learns one example after the other."""

    @property
    def is_started(self) -> bool:
        """Whether it has labels or weights: it has learnt, was loaded, or labels were declared."""

    @property
    def labels(self) -> Labels:
        """The labels so far, by number and by name; none before it has started."""

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``, which must then be known before the start."""

    @property
    def bytes_of_weights(self) -> int:
        """The memory that the weights take."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is wrong."""

    def start(self) -> None:
        """Begin without an example, unless it has begun: labels may appear at any time.

        A learner that learns all rows at once cannot: it raises ValueError unless it is fitted.
        """

    def score_one(self, x: Pair) -> tuple[npt.NDArray[Any], float]:
        """Return the scores of all labels for one example, and the cut-off."""

    def probabilities(self, scores: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return how likely labels with such scores are relevant."""

    def explain_one(
        self, x: Pair, label: Hashable
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return an example's features, what each adds to a label's score, and the score."""

    def own_feature_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return names of features of the learner's own; None if they are the examples'."""

    def weights_by_feature(self) -> dict[str, npt.NDArray[Any]]:
        """Return the features that have weights, and their ``weights`` (features, K)."""


class OnlineLearner(Learner, Protocol):
    """A learner that learns one example after the other."""

    n_features: int | None

    @property
    def certificate_(self) -> AnyCertificate:
        """What it can prove about the rounds so far."""

    @property
    def largest_weight(self) -> float:
        """The largest weight of an example that its arithmetic can bear."""

    @property
    def learns_rows(self) -> bool:
        """Whether it offers ``encode_rows`` and ``watch_rows``."""

    def watch_one(
        self, x: Pair, y: Any, unknown: Collection[Hashable] = (), weight: float = 1.0
    ) -> Round:
        """Learn one example, which may bring new features and labels; return what was predicted."""

    def encode_rows(
        self, Y: Sequence[Collection[Hashable]], weights: npt.NDArray[np.float64] | None
    ) -> RowTargets:
        """Number the labels of rows that are to be learnt; ValueError if some cannot be."""

    def watch_rows(self, rows: SparseRows, targets: RowTargets) -> Rounds:
        """Learn rows in one native call, to the bit as ``watch_one`` would one after the other."""

    def check_example(self, x: Any, new: Sequence[Hashable]) -> None:
        """Raise ValueError if an example that brings new labels cannot be learnt."""

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Declare labels."""

    def rename_label(self, old: Hashable, new: Hashable) -> None:
        """Give a label another name; nothing else changes."""

    def forget_labels(self, labels: Sequence[Hashable]) -> None:
        """Take labels away with their weights; the certificate restarts."""

    def merge_labels(self, labels: Sequence[Hashable], into: Hashable) -> list[int]:
        """Make one label of several; return the numbers that they had. The certificate restarts."""

    def feature_lengths(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the features that have weights, and the length of each one's weights."""

    def keep_features(self, kept: npt.NDArray[np.bool_]) -> None:
        """Keep the weights of some features, in the order of ``feature_lengths``."""


class ListLearner(OnlineLearner, Protocol):
    """An online learner of the task "lists"."""

    max_labels: int | None
    miss_weight: float
    slot_cost: Any

    def suggest_one(self, x: Pair, max_labels: int | None = None) -> Any:
        """Return the `ShownList` for one example."""

    def feedback_one(
        self, x: Pair, shown: Iterable[Hashable], accepted: Iterable[Hashable]
    ) -> Self:
        """Learn which of the shown labels were accepted."""


class QueryLearner(Learner, Protocol):
    """An online learner of the task "documents"."""

    def watch_query(
        self, documents: Sequence[Pair], grades: Any, weight: float = 1.0
    ) -> npt.NDArray[Any]:
        """Learn the grades of a query's documents, and return the scores they had before."""


def is_online(learner: Learner) -> TypeGuard[OnlineLearner]:
    """Whether a learner learns one example after the other."""
    return learner.learns_online


def shows_lists(learner: Learner) -> TypeGuard[ListLearner]:
    """Whether a learner chooses lists of labels to show, and learns from feedback."""
    return learner.task == "lists"


def ranks_documents(learner: Learner) -> TypeGuard[QueryLearner]:
    """Whether a learner ranks the documents of queries."""
    return learner.task == "documents"
