"""The first places of rankings, each compared with the labels of its row."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tagalong.learning.labels import LabelRows
from tagalong.learning.places import PLACES_JUDGED, Places
from tagalong.learning.rounds import Round, Rounds

__all__ = ["PLACES_WITHOUT_CONFIDENCE", "JudgedRows", "RowPart"]

PLACES_WITHOUT_CONFIDENCE = 3
"""Number of places that are taken from the scores if a learner has no confidence."""

Flags = npt.NDArray[np.bool_]
Reals = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


CountedLabels = tuple[npt.ArrayLike, npt.ArrayLike]
"""The number of labels of each row, and the labels, row after row."""


class RowPart(NamedTuple):
    """Some rows of a run: their scores, their places if known, and their labels."""

    scores: npt.NDArray[Any]
    places: Places | None
    relevant: CountedLabels
    unknown: CountedLabels

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
        relevant, unknown = (([len(labels)], labels) for labels in (round.relevant, round.unknown))
        return cls(round.scores[np.newaxis], round.places, relevant, unknown)

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
        places = None if rounds.places is None else rounds.places[start:stop]
        relevant, unknown = (
            _counted(labels, start, stop) for labels in (rounds.relevant, rounds.unknown)
        )
        return cls(rounds.scores[start:stop], places, relevant, unknown)


def _counted(labels: LabelRows, start: int, stop: int) -> CountedLabels:
    indptr = labels.indptr[start : stop + 1]
    return indptr[1:] - indptr[:-1], labels.indices[indptr[0] : indptr[-1]]


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """The first places of some rows, and which of them are right.

    Parameters
    ----------
    labels : array of shape (rows, 10)
        The numbers of the labels, best first; -1 where there is none.
    counts : array of bool of shape (rows, 10)
        Whether there is a label and it is known whether it is relevant.
    right : array of bool of shape (rows, 10)
        Whether the label is relevant.
    probabilities, assured : array of shape (rows, 10)
        As in `Places`; 0 without confidence.
    chosen : array of bool of shape (rows, 10)
        As in `Places`.
    whole : array of shape (rows,)
        The chance that the chosen labels are exactly the relevant ones.
    has_confidence, in_runs : array of bool of shape (rows,)
        Whether the learner gave its confidence, and whether it found labels in runs.
    relevant : LabelRows
        The relevant labels of each row.
    """

    labels: Numbers
    counts: Flags
    right: Flags
    probabilities: Reals
    assured: Reals
    chosen: Flags
    whole: Reals
    has_confidence: Flags
    in_runs: Flags
    relevant: LabelRows

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def relevant_counts(self) -> Numbers:
        """Number of relevant labels of each row."""
        return np.diff(self.relevant.indptr)

    @property
    def only_label(self) -> Numbers:
        """The relevant label of the rows that have exactly one, -1 for other rows."""
        found = np.full(len(self), -1, np.int64)
        one = self.relevant_counts == 1
        found[one] = self.relevant.indices[self.relevant.indptr[:-1][one]]
        return found

    @property
    def is_exact(self) -> Flags:
        """Whether the chosen labels of the first places are exactly the relevant labels."""
        chosen = self.chosen & (self.labels >= 0)
        all_right = ~(chosen & ~self.right).any(axis=1)
        exact: Flags = all_right & (chosen.sum(axis=1) == self.relevant_counts)
        return exact

    @classmethod
    def from_parts(cls, parts: Sequence["RowPart"]) -> "JudgedRows":
        """Return the rows of several parts of a run, in their order.

        Parameters
        ----------
        parts : sequence of RowPart
            The parts, at least one.
        """
        found: list[Places] = []
        # Scores are compared for all parts in a row that have the same number of labels.
        for labels, group in groupby(parts, lambda part: part.scored_labels):
            some = list(group)
            if labels is None:
                found += [_widened(part.places) for part in some if part.places is not None]
            else:
                scores = np.concatenate([part.scores for part in some])
                unknown = _joined([part.unknown for part in some])
                found.append(_places_of_scores(scores, unknown))
        places = Places(
            *(np.concatenate([getattr(one, name) for one in found]) for name in Places.__slots__)
        )
        has_confidence = np.repeat(
            [part.places is not None for part in parts], [len(part.scores) for part in parts]
        )
        return cls._judged(
            places,
            has_confidence,
            _joined([part.relevant for part in parts]),
            _joined([part.unknown for part in parts]),
        )

    @classmethod
    def _judged(
        cls, places: Places, has_confidence: Flags, relevant: LabelRows, unknown: LabelRows
    ) -> "JudgedRows":
        labels = places.labels.astype(np.int64)
        return cls(
            labels=labels,
            counts=(labels >= 0) & ~_contained(labels, unknown),
            right=_contained(labels, relevant),
            probabilities=places.probabilities,
            assured=places.assured,
            chosen=places.chosen,
            whole=places.whole,
            has_confidence=has_confidence,
            in_runs=places.in_runs,
            relevant=relevant,
        )


def _joined(parts: Sequence[CountedLabels]) -> LabelRows:
    counts = np.concatenate([part[0] for part in parts])
    indptr = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    indices = np.concatenate([part[1] for part in parts]).astype(np.int32)
    return LabelRows(indptr, indices)


def _contained(labels: Numbers, rows: LabelRows) -> Flags:
    """Return which labels are among those of their row."""
    if not len(rows.indices):
        return np.zeros(labels.shape, bool)
    stride = max(int(labels.max(initial=-1)), int(rows.indices.max())) + 1
    row_of = np.repeat(np.arange(len(labels)), np.diff(rows.indptr))
    present = np.sort(row_of * stride + rows.indices)
    wanted = np.arange(len(labels))[:, np.newaxis] * stride + labels
    at = np.searchsorted(present, wanted)
    found: Flags = present[np.minimum(at, len(present) - 1)] == wanted
    return found & (labels >= 0)


def _widened(places: Places) -> Places:
    """Return the first ten places; those that a row does not have are empty."""
    rows, width = places.labels.shape
    if width == PLACES_JUDGED:
        return places
    kept = min(width, PLACES_JUDGED)
    empty = _empty_places(rows)
    for name in ("labels", "probabilities", "assured", "chosen"):
        getattr(empty, name)[:, :kept] = getattr(places, name)[:, :kept]
    return Places(
        empty.labels,
        empty.scores,
        empty.probabilities,
        empty.assured,
        empty.chosen,
        places.whole,
        places.known,
        places.in_runs,
    )


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


def _places_of_scores(scores: npt.NDArray[np.float64], unknown: LabelRows) -> Places:
    """Return the labels with the highest scores; of equal scores the lowest number comes first."""
    rows, labels = scores.shape
    places = _empty_places(rows)
    if not labels:
        return places
    left = np.array(scores)
    if len(unknown.indices):
        left[np.repeat(np.arange(rows), np.diff(unknown.indptr)), unknown.indices] = -np.inf
    for place in range(min(PLACES_WITHOUT_CONFIDENCE, labels)):
        best = left.argmax(axis=1)
        at = np.arange(rows), best
        exists = left[at] > -np.inf
        places.labels[:, place] = np.where(exists, best, -1)
        left[at] = -np.inf
    return places
