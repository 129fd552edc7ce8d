"""The contract of a learner: all that code outside the learner's package may use.

`Tagger`, the command line, the adapters and the evaluation are written against these protocols.
They find out what a learner can do from ``task``, ``learns_online`` and ``learns_rows``, never from
the existence of a method, and they use none of its private attributes.

A new learner that follows the contract works with all of them. `tests/contract` tests every
learner that `tests/contract/learners.py` lists.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong.learning.batches import RowTargets
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.drift import Drift
from tagalong.learning.examples import FeatureRows, Pair, SparseRows
from tagalong.learning.labels import Labels
from tagalong.learning.model_files import Saveable
from tagalong.learning.places import Covered, Places, TieOrder
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
"""The kind of prediction of a learner. "labels": a ranking of all labels. "lists": a list of labels
to show, from whose feedback it learns. "documents": a ranking of the documents of a query.
"answers": the answers of a custom problem."""


class Learner(Saveable, Protocol):
    """A learner that scores labels, online or fitted to all rows at once."""

    @property
    def task(self) -> Task:
        """The kind of prediction."""

    @property
    def learns_online(self) -> bool:
        """Whether the learner is an `OnlineLearner`, which learns example by example."""

    @property
    def is_started(self) -> bool:
        """Whether the learner has labels or weights: learnt, loaded, or declared."""

    @property
    def labels(self) -> Labels:
        """The labels so far, by number and by name; empty before the learner has started."""

    @property
    def feature_count_matters(self) -> bool:
        """Whether scores depend on ``n_features``; it must then be set before learning starts."""

    @property
    def bytes_of_weights(self) -> int:
        """Memory of the weights, in bytes."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""

    def check_parameters(self) -> None:
        """Raise ValueError for the first parameter that is wrong."""

    def start(self) -> None:
        """Initialise a learner that has not started, with a growing label set.

        A batch learner cannot start without data: it raises ValueError unless it is fitted.
        """

    def score_one(self, x: Pair) -> tuple[npt.NDArray[Any], float]:
        """Return the scores of all labels for one example, and the cut-off."""

    def find_places(
        self, rows: FeatureRows, k: int | None = None, ties: TieOrder | None = None
    ) -> Places:
        """Return the first k labels for each row, with how far to trust them."""

    def judge_rows(
        self, rows: FeatureRows, k: int | None = None, ties: TieOrder | None = None
    ) -> core.PlaceArrays:
        """Return the same as ``find_places``, in the form of the native learners."""

    @property
    def scores_natively(self) -> bool:
        """Whether scoring rows runs no code in Python, so that several threads gain time."""

    @property
    def has_one_label(self) -> bool:
        """Whether every item has one label: told by the user, or noticed."""

    @property
    def has_grades(self) -> bool:
        """Whether the labels are grades, which have an order: that of their numbers."""

    def explain_one(
        self, x: Pair, label: Hashable
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return an example's features, their contributions to a label's score, and the score."""

    def own_feature_names(self, features: npt.NDArray[Any]) -> list[str] | None:
        """Return the names of computed features; None if it uses the examples' features."""

    def weights_by_feature(self) -> dict[str, npt.NDArray[Any]]:
        """Return the ``features`` that have weights, and their ``weights`` (features, K)."""


class OnlineLearner(Learner, Protocol):
    """A learner that learns example by example."""

    n_features: int | None

    @property
    def certificate_(self) -> AnyCertificate:
        """Proven bounds on the rounds so far."""

    @property
    def largest_weight(self) -> float:
        """The largest sample weight that does not overflow the learner's arithmetic."""

    @property
    def learns_rows(self) -> bool:
        """Whether it offers ``encode_rows`` and ``watch_rows``."""

    @property
    def labels_come_in_runs(self) -> bool:
        """Whether labels came in runs far beyond chance; nothing is sure while they do."""

    @property
    def drift(self) -> Drift | None:
        """The last change of the answers; None if there was none or the learner does not look."""

    def coverage(self, targets: Sequence[float] = ...) -> list[Covered]:
        """Return how many recent items could have been filed without asking at each target."""

    def label_precision(self) -> npt.NDArray[np.float64]:
        """Return recent sure suggestions per label, and right ones of them: (K, targets, 2)."""

    def count_mistake(self, label: Hashable, weight: float = 1.0) -> None:
        """Count a wrong suggestion that was acted on against the precision of its label."""

    def watch_one(
        self,
        x: Pair,
        y: object,
        unknown: Collection[Hashable] = (),
        weight: float = 1.0,
        judged: bool | float = True,
    ) -> Round:
        """Learn one example, possibly with new features and labels; return the prior prediction.

        An example that was learnt before is not ``judged``: only weights change. An answer of a
        random sample may stand for several examples, ``judged`` being their number.
        """

    def encode_rows(
        self, Y: Sequence[Collection[Hashable]], weights: npt.NDArray[np.float64] | None
    ) -> RowTargets:
        """Convert labels to numbers; raise ValueError for rows that cannot be learnt."""

    def watch_rows(
        self, rows: SparseRows, targets: RowTargets, judged: bool | float = True
    ) -> Rounds:
        """Learn rows in one native call, with the same bits as one ``watch_one`` per row."""

    def check_example(self, x: Pair, new: Sequence[Hashable]) -> None:
        """Raise ValueError if an example with these new labels cannot be learnt."""

    def add_labels(self, labels: Iterable[Hashable]) -> Self:
        """Add labels before any example has them."""

    def rename_label(self, old: Hashable, new: Hashable) -> None:
        """Rename a label; its weights do not change."""

    def forget_labels(self, labels: Sequence[Hashable]) -> None:
        """Remove labels and their weights; restarts the certificate."""

    def merge_labels(self, labels: Sequence[Hashable], into: Hashable) -> list[int]:
        """Merge labels into one and return their old numbers; restarts the certificate."""

    def set_one_label(self, one_label: bool | Literal["auto"]) -> None:
        """Say whether every item has exactly one label, or "auto" to let the learner notice it.

        ValueError for True and False if the learner has no such setting.
        """

    def feature_lengths(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the features that have weights, and the Euclidean length of their weights."""

    def keep_features(self, kept: npt.NDArray[np.bool_]) -> None:
        """Drop the weights of all other features; ``kept`` has the order of ``feature_lengths``."""


class ListLearner(OnlineLearner, Protocol):
    """An online learner with the task "lists"."""

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
    """A learner with the task "documents"."""

    def watch_query(
        self, documents: Sequence[Pair], grades: npt.ArrayLike, weight: float = 1.0
    ) -> npt.NDArray[Any]:
        """Learn the grades of a query's documents; return the scores from before learning."""

    def score_query(self, documents: Sequence[Pair]) -> npt.NDArray[Any]:
        """Return the scores of a query's documents."""


def is_online(learner: Learner) -> TypeGuard[OnlineLearner]:
    """Return whether a learner learns example by example."""
    return learner.learns_online


def shows_lists(learner: Learner) -> TypeGuard[ListLearner]:
    """Return whether a learner chooses lists of labels to show, and learns from feedback."""
    return learner.task == "lists"


def ranks_documents(learner: Learner) -> TypeGuard[QueryLearner]:
    """Return whether a learner ranks the documents of queries."""
    return learner.task == "documents"
