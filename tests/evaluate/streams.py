"""Rows, rounds and batches for the tests of `tagalong.evaluate`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from tagalong.evaluate import Progress, Report
from tagalong.learning.labels import LabelRows
from tagalong.learning.rounds import Round, Rounds
from tests.evaluate.naive import Row


def as_round(row: Row, dtype: Any = np.float64) -> Round:
    scores = np.array(row.scores, dtype=dtype)
    return Round(scores, row.cutoff, sorted(row.relevant), sorted(row.unknown))


def as_rounds(rows: Sequence[Row], dtype: Any = np.float64) -> Rounds:
    """A batch of rows that have the same number of labels."""
    return Rounds(
        np.array([row.scores for row in rows] or np.empty((0, 3)), dtype=dtype),
        np.array([row.cutoff for row in rows], dtype=np.float64),
        LabelRows.from_lists(sorted(row.relevant) for row in rows),
        LabelRows.from_lists(sorted(row.unknown) for row in rows),
    )


def from_arrays(
    scores: npt.NDArray[Any], truth: npt.NDArray[Any], cutoff: float, unknown: Any = None
) -> Rounds:
    is_unknown = np.zeros(truth.shape, bool) if unknown is None else unknown
    return Rounds(
        scores,
        np.full(len(scores), cutoff),
        LabelRows.from_mask(truth & ~is_unknown),
        LabelRows.from_mask(is_unknown),
    )


def report_of(rounds: Rounds, k: int = 5, window: int = 1000) -> Report:
    progress = Progress(k, window)
    progress.add_rounds(rounds)
    return progress.report()


def random_rounds(seed: int, rows: int, labels: int, dtype: Any = np.float32) -> Rounds:
    """Rounds with many equal scores, some unknown labels, and varying cut-offs."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 4, size=(rows, labels)).astype(dtype) / 3
    truth, unknown = rng.random((rows, labels)) < 0.3, rng.random((rows, labels)) < 0.1
    rounds = from_arrays(scores, truth, 0.0, unknown)
    return Rounds(rounds.scores, rng.normal(size=rows) / 3, rounds.relevant, rounds.unknown)


def part(rounds: Rounds, start: int, stop: int) -> Rounds:
    """Some rows of a batch."""
    return Rounds(
        rounds.scores[start:stop],
        rounds.cutoffs[start:stop],
        _rows(rounds.relevant, start, stop),
        _rows(rounds.unknown, start, stop),
    )


def singles(rounds: Rounds) -> list[Round]:
    """A batch as single rounds."""
    return [
        Round(
            rounds.scores[row],
            float(rounds.cutoffs[row]),
            _rows(rounds.relevant, row, row + 1).indices.tolist(),
            _rows(rounds.unknown, row, row + 1).indices.tolist(),
        )
        for row in range(len(rounds.scores))
    ]


def _rows(labels: LabelRows, start: int, stop: int) -> LabelRows:
    indptr = labels.indptr[start : stop + 1]
    return LabelRows(indptr - indptr[0], labels.indices[indptr[0] : indptr[-1]])


@st.composite
def some_rows(draw: st.DrawFn, labels: int, with_unknown: bool = True) -> list[Row]:
    """Rows with few labels whose scores are often equal."""
    score = st.sampled_from([-1.0, 0.0, 0.5, 1.0])
    numbers = st.integers(0, labels - 1)
    found = []
    for _ in range(draw(st.integers(0, 6))):
        relevant = draw(st.frozensets(numbers))
        unknown = draw(st.frozensets(numbers)) - relevant if with_unknown else frozenset()
        scores = tuple(draw(st.lists(score, min_size=labels, max_size=labels)))
        found.append(Row(scores, relevant, unknown, draw(score)))
    return found
