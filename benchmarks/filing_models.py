"""Models that judge the items of a stream and learn their answers, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.filing_measures import Judged
from benchmarks.filing_streams import FilingStream
from tagalong import LabelRanker
from tagalong.learning.examples import SparseRows
from tagalong.learning.places import PLACES_JUDGED
from tagalong.learning.rounds import Rounds


@dataclass(frozen=True)
class Judgement:
    """The first places of one item, best first, as a model judges them."""

    labels: list[str]
    probabilities: list[float]
    assured: list[float]
    chosen: list[bool]
    whole: float

    @property
    def first_assured(self) -> float:
        """The assured precision of the first place; 0 if there is no label yet."""
        return self.assured[0] if self.assured else 0.0

    @property
    def first_probability(self) -> float:
        """The probability of the first place; 0 if there is no label yet."""
        return self.probabilities[0] if self.probabilities else 0.0


class Model(Protocol):
    """Judges items and learns their answers."""

    def judge(self, number: int) -> Judgement:
        """Judge an item of the stream; nothing is learnt."""

    def learn(
        self, number: int, labels: Sequence[str] | None = None, stands_for: float = 1.0
    ) -> None:
        """Learn the answer to an item, by default its own labels, as judged evidence."""


class DefaultModel:
    """The learner of the library, with its default parameters."""

    def __init__(self, stream: FilingStream) -> None:
        self.stream = stream
        self.learner = LabelRanker()
        self.learner.start()

    def judge(self, number: int) -> Judgement:
        row = SparseRows.of_pairs([self.stream.row(number)])
        places = self.learner.find_places(row, PLACES_JUDGED)
        names = self.learner.labels.names
        exists = places.labels[0] >= 0
        return Judgement(
            [str(names[label]) for label in places.labels[0][exists].tolist()],
            places.probabilities[0][exists].tolist(),
            places.assured[0][exists].tolist(),
            places.chosen[0][exists].tolist(),
            float(places.whole[0]),
        )

    def learn(
        self, number: int, labels: Sequence[str] | None = None, stands_for: float = 1.0
    ) -> None:
        answer = self.stream.labels[number] if labels is None else labels
        self.learner.watch_one(self.stream.row(number), answer, judged=stands_for)


@dataclass(frozen=True)
class Progressive:
    """A stream learnt item by item, as it was before each item.

    Parameters
    ----------
    judged : the first places.
    scores : of all labels, shape (rows, K); -infinity where a label did not exist.
    relevant : which labels were right, of the same shape.
    cutoffs : the learnt cut-off, shape (rows,).
    """

    judged: Judged
    scores: npt.NDArray[Any]
    relevant: npt.NDArray[np.bool_]
    cutoffs: npt.NDArray[np.float64]


def default_run(stream: FilingStream) -> Progressive:
    """Learn a stream with the default learner."""
    return run_learner(LabelRanker(), stream)


def run_learner(learner: LabelRanker, stream: FilingStream) -> Progressive:
    """Learn a stream with a new learner."""
    learner.start()
    rounds = learner.watch_rows(stream.rows, learner.encode_rows(stream.labels, None))
    places = rounds.places
    if places is None:
        raise RuntimeError("the learner does not judge its suggestions")
    relevant = relevant_labels(rounds)
    exists = places.labels >= 0
    right = exists & np.take_along_axis(relevant, np.maximum(places.labels, 0), axis=1)
    # Chosen labels after the first places are missed, which is rare.
    chosen_right = (places.chosen & right).sum(axis=1)
    whole_right = (chosen_right == places.chosen.sum(axis=1)) & (
        chosen_right == relevant.sum(axis=1)
    )
    judged = Judged(places.probabilities, places.assured, right, places.whole, whole_right)
    return Progressive(judged, rounds.scores, relevant, rounds.cutoffs)


def relevant_labels(rounds: Rounds) -> npt.NDArray[np.bool_]:
    """Which labels were right in each round, as a matrix."""
    relevant = np.zeros(rounds.scores.shape, dtype=bool)
    row_of = np.repeat(np.arange(len(relevant)), np.diff(rounds.relevant.indptr))
    relevant[row_of, rounds.relevant.indices] = True
    return relevant
