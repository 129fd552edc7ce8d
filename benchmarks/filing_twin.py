"""The default learner with the confidence of the reference implementation, to compare the two."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.filing_measures import Judged
from benchmarks.filing_models import Judgement, Progressive, relevant_labels
from benchmarks.filing_streams import FilingStream
from tagalong import LabelRanker
from tagalong.learning.examples import SparseRows
from tagalong.learning.places import PLACES_JUDGED
from tests.reference.confidence import ConfidenceTwin, JudgedPlaces


class TwinModel:
    """Takes the scores of one learner, and judges them by the reference implementation."""

    def __init__(self, stream: FilingStream) -> None:
        self.stream = stream
        self.learner = LabelRanker(race=None)
        self.learner.start()
        self.twin = ConfidenceTwin(stream.one_label)

    def judge(self, number: int) -> Judgement:
        scores, cutoff = self.learner.score_one(self.stream.row(number))
        return self._judgement(self.twin.judge(scores, cutoff, self._known(number)))

    def learn(
        self, number: int, labels: Sequence[str] | None = None, stands_for: float = 1.0
    ) -> None:
        row = self.stream.row(number)
        answer = self.stream.labels[number] if labels is None else labels
        known = self._known(number)
        found = self.learner.watch_one(row, answer)
        existing = found.scores[np.isfinite(found.scores)]
        self.twin.observe(
            existing, found.cutoff, known, frozenset(found.relevant), stands_for=stands_for
        )

    def _known(self, number: int) -> int:
        row = SparseRows.of_pairs([self.stream.row(number)])
        return int(self.learner.find_places(row, 1).known[0])

    def _judgement(self, places: JudgedPlaces) -> Judgement:
        names = self.learner.labels.names
        return Judgement(
            [str(names[label]) for label in places.labels],
            places.probabilities,
            places.assured,
            places.chosen,
            places.whole,
        )


def twin_run(stream: FilingStream, places: int = PLACES_JUDGED) -> Progressive:
    """Learn a stream, with the confidence of the reference implementation."""
    learner = LabelRanker(race=None)
    learner.start()
    rounds = learner.watch_rows(stream.rows, learner.encode_rows(stream.labels, None))
    assert rounds.places is not None
    relevant = [
        frozenset(rounds.relevant.indices[begin:end].tolist())
        for begin, end in zip(rounds.relevant.indptr[:-1], rounds.relevant.indptr[1:], strict=True)
    ]
    twin = ConfidenceTwin(stream.one_label, places)
    found = [
        twin.observe(scores[np.isfinite(scores)], cutoff, int(known), labels)
        for scores, cutoff, known, labels in zip(
            rounds.scores, rounds.cutoffs, rounds.places.known, relevant, strict=True
        )
    ]
    judged = _judged(found, relevant, places)
    return Progressive(judged, rounds.scores, relevant_labels(rounds), rounds.cutoffs)


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
