"""Models that judge the items of a stream and learn their answers, in any order.

`NativeModel` is the learner of the library. `TwinModel` takes its scores, but computes confidence
with the reference implementation of the tests, to compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.filing_measures import Judged
from benchmarks.filing_streams import FilingStream
from tagalong import LabelRanker
from tagalong.learning.places import PLACES_JUDGED
from tests.reference.confidence import ConfidenceTwin, JudgedPlaces


@dataclass(frozen=True)
class Judgement:
    """What a model says of one item: the first places, best first."""

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


class TwinModel:
    """The default learner, with the confidence of the reference implementation."""

    def __init__(self, stream: FilingStream) -> None:
        self.stream = stream
        self.learner = LabelRanker()
        self.learner.start()
        self.twin = ConfidenceTwin(stream.one_label)
        self._seen = np.zeros(int(stream.rows.indices.max(initial=-1)) + 1, dtype=bool)

    def judge(self, number: int) -> Judgement:
        scores, cutoff = self.learner.score_one(self.stream.row(number))
        return self._judgement(self.twin.judge(scores, cutoff, self._known(number)))

    def learn(
        self, number: int, labels: Sequence[str] | None = None, stands_for: float = 1.0
    ) -> None:
        row = self.stream.row(number)
        answer = self.stream.labels[number] if labels is None else labels
        found = self.learner.watch_one(row, answer)
        existing = found.scores[np.isfinite(found.scores)]
        known = self._known(number)
        self.twin.observe(
            existing, found.cutoff, known, frozenset(found.relevant), stands_for=stands_for
        )
        self._seen[row[0]] = True

    def _known(self, number: int) -> int:
        return int(self._seen[self.stream.row(number)[0]].sum())

    def _judgement(self, places: JudgedPlaces) -> Judgement:
        names = self.learner.labels.names
        return Judgement(
            [str(names[label]) for label in places.labels],
            places.probabilities,
            places.assured,
            places.chosen,
            places.whole,
        )


@dataclass(frozen=True)
class Progressive:
    """A stream learnt item by item: the places before each item, and the scores of all labels."""

    judged: Judged
    scores: npt.NDArray[np.float32]


def twin_run(stream: FilingStream, places: int = PLACES_JUDGED) -> Progressive:
    """Learn a stream, with the confidence of the reference implementation."""
    learner = LabelRanker()
    learner.start()
    rounds = learner.watch_rows(stream.rows, learner.encode_rows(stream.labels, None))
    relevant = [
        frozenset(rounds.relevant.indices[begin:end].tolist())
        for begin, end in zip(rounds.relevant.indptr[:-1], rounds.relevant.indptr[1:], strict=True)
    ]
    twin = ConfidenceTwin(stream.one_label, places)
    found = [
        twin.observe(scores[np.isfinite(scores)], cutoff, int(known), labels)
        for scores, cutoff, known, labels in zip(
            rounds.scores, rounds.cutoffs, stream.known, relevant, strict=True
        )
    ]
    return Progressive(_judged(found, relevant, places), rounds.scores)


def _judged(
    found: Sequence[JudgedPlaces], relevant: Sequence[frozenset[int]], places: int
) -> Judged:
    shape = len(found), places
    probabilities, assured = np.zeros(shape), np.zeros(shape)
    right, whole_right = np.zeros(shape, bool), np.zeros(len(found), bool)
    for row, (one, labels) in enumerate(zip(found, relevant, strict=True)):
        count = len(one.labels)
        probabilities[row, :count] = one.probabilities
        assured[row, :count] = one.assured
        right[row, :count] = [label in labels for label in one.labels]
        chosen = {label for label, chosen in zip(one.labels, one.chosen, strict=True) if chosen}
        whole_right[row] = chosen == labels
    return Judged(
        probabilities, assured, right, np.array([one.whole for one in found]), whole_right
    )
