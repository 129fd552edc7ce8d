"""Rows of a run that wait to be counted, and the first places of rows without confidence."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong.learning.labels import LabelRows
from tagalong.learning.places import PLACES_JUDGED, Places
from tagalong.learning.rounds import Round, Rounds

__all__ = ["PLACES_WITHOUT_CONFIDENCE", "RowPart", "with_places"]

PLACES_WITHOUT_CONFIDENCE = 3
"""Number of places that are taken from the scores if a learner has no confidence."""


class RowPart(NamedTuple):
    """Some rows of a run: their scores, their places if known, and their labels.

    The labels of a single row are two lists.
    """

    scores: npt.NDArray[Any]
    places: Places | None
    relevant: LabelRows | list[int]
    unknown: LabelRows | list[int]

    @property
    def scored_labels(self) -> int | None:
        """Number of labels of rows without confidence, None for other rows."""
        return self.scores.shape[1] if self.places is None else None

    @classmethod
    def from_round(cls, round: Round) -> "RowPart":
        """Return a single round.

        Parameters
        ----------
        round : Round
            The round.
        """
        return cls(round.scores[np.newaxis], round.places, round.relevant, round.unknown)

    @classmethod
    def from_rounds(cls, rounds: Rounds, start: int, stop: int) -> "RowPart":
        """Return the rows of a batch from start to stop, which is excluded.

        Parameters
        ----------
        rounds : Rounds
            The batch.
        start, stop : int
            The first row, and the row after the last.
        """
        if start == 0 and stop == len(rounds.scores):
            return cls(rounds.scores, rounds.places, rounds.relevant, rounds.unknown)
        return cls(
            rounds.scores[start:stop],
            None if rounds.places is None else rounds.places[start:stop],
            rounds.relevant.row_slice(start, stop),
            rounds.unknown.row_slice(start, stop),
        )

    def count_in(
        self,
        counts: core.AnswerCounts,
        places: Places,
        item: int,
        table: npt.NDArray[np.int64],
    ) -> None:
        """Count the rows and write their columns to a table.

        Parameters
        ----------
        counts : AnswerCounts
            The counts of the run.
        places : Places
            The places of the rows, whether or not the learner gave its confidence.
        item : int
            Number, from 1, of the first row in the run.
        table : array of shape (rows, columns)
            The table.
        """
        has_confidence = self.places is not None
        relevant, unknown = self.relevant, self.unknown
        if isinstance(relevant, LabelRows) and isinstance(unknown, LabelRows):
            counts.count(places, has_confidence, relevant, unknown, item, table)
        elif isinstance(relevant, list) and isinstance(unknown, list):
            counts.count_one(places, has_confidence, relevant, unknown, item, table)


def with_places(parts: Sequence[RowPart]) -> Iterator[tuple[RowPart, Places]]:
    """Yield parts with their places, which follow from the scores if there is no confidence.

    Parameters
    ----------
    parts : sequence of RowPart
        The parts.
    """
    # Scores are compared for all parts in a row that have the same number of labels.
    for labels, group in groupby(parts, lambda part: part.scored_labels):
        some = list(group)
        if labels is None:
            yield from ((part, part.places) for part in some if part.places is not None)
            continue
        found = _places_of_scores(some)
        start = 0
        for part in some:
            stop = start + len(part.scores)
            yield part, found[start:stop]
            start = stop


def _places_of_scores(parts: Sequence[RowPart]) -> Places:
    """Return the labels with the highest scores; of equal scores the lowest number comes first."""
    left = np.concatenate([part.scores for part in parts])
    rows, labels = left.shape
    places = _empty_places(rows)
    if not labels:
        return places
    start = 0
    for part in parts:
        _remove_unknown(left[start : start + len(part.scores)], part.unknown)
        start += len(part.scores)
    for place in range(min(PLACES_WITHOUT_CONFIDENCE, labels)):
        best = left.argmax(axis=1)
        at = np.arange(rows), best
        exists = left[at] > -np.inf
        places.labels[:, place] = np.where(exists, best, -1)
        left[at] = -np.inf
    return places


def _remove_unknown(scores: npt.NDArray[Any], unknown: LabelRows | list[int]) -> None:
    """Make labels of unknown relevance the last of their rows."""
    if isinstance(unknown, list):
        scores[0, unknown] = -np.inf
    elif unknown.indptr[0] < unknown.indptr[-1]:
        indices = unknown.indices[unknown.indptr[0] : unknown.indptr[-1]]
        scores[np.repeat(np.arange(len(scores)), np.diff(unknown.indptr)), indices] = -np.inf


def _empty_places(rows: int) -> Places:
    shape = (rows, PLACES_JUDGED)
    return Places(
        labels=np.full(shape, -1, np.int32),
        scores=np.zeros(shape),
        probabilities=np.zeros(shape),
        assured=np.zeros(shape),
        chosen=np.zeros(shape, bool),
        whole=np.zeros(rows),
        known=np.zeros(rows, np.int32),
        in_runs=np.zeros(rows, bool),
    )
