"""Streams that change, and the recovery of a learner."""

import numpy as np
import pytest

from benchmarks import drift
from benchmarks.drift import Course, interrupted, renamed, swapped
from benchmarks.filing_measures import average_precisions
from benchmarks.filing_streams import FilingStream
from tagalong.learning.examples import SparseRows

COUNT = 900


@pytest.fixture(scope="module")
def stream() -> FilingStream:
    """The label of a row is its first word; the second word says nothing."""
    rng = np.random.default_rng(0)
    groups = rng.choice(3, size=COUNT, p=[0.5, 0.3, 0.2])
    indices = np.column_stack([groups, rng.integers(3, 9, size=COUNT)]).ravel().astype(np.int32)
    rows = SparseRows(np.arange(0, 2 * COUNT + 1, 2), indices, np.ones(2 * COUNT))
    return FilingStream("made up", rows, [("abc"[group],) for group in groups], True)


def test_all_labels_swap(stream: FilingStream) -> None:
    found = swapped(stream, 400)
    assert found.stream.labels[:400] == stream.labels[:400]
    following = {"a": "b", "b": "c", "c": "a"}
    assert found.stream.labels[400:] == [(following[one],) for (one,) in stream.labels[400:]]


def test_the_most_frequent_label_vanishes_and_returns(stream: FilingStream) -> None:
    found = interrupted(stream)
    missing = [("a",) in found.stream.labels[part] for part in np.s_[:300, 300 : found.change]]
    assert (found.label, missing) == ("a", [True, False])
    assert found.stream.labels[found.change :] == stream.labels[600:]


def test_words_are_renamed_once_and_for_ever(stream: FilingStream) -> None:
    found = renamed(stream).stream
    new = found.rows.indices.reshape(COUNT, 2)
    assert (np.diff(new) > 0).all()
    assert set((new % 9).ravel()) == set(range(9))
    for word in range(9):
        names = new[new % 9 == word]
        assert (np.diff(names) >= 0).all()
        assert set(names) == {word, word + 9}


def test_recovery_is_the_end_of_the_first_good_window() -> None:
    right = np.concatenate([np.ones(500), np.zeros(200), np.ones(300)])
    course = Course(right, right, 500, 0.0)
    # 95 of 100 are right once 95 good items have come.
    assert course.recovery(500) == 295
    assert Course(right[:650], right[:650], 500, 0.0).recovery(500) is None
    assert course.cells()[2:5] == ["1.000 / 1.000", "0.600 / 0.600", "295"]


def test_a_learner_recovers_from_a_swap(stream: FilingStream) -> None:
    found = drift.course("today", swapped(stream, 300))
    assert found.right[250:300].mean() > 0.9
    assert found.right[300:310].mean() < 0.5
    assert found.recovery(300) is not None


def test_average_precision_of_each_row() -> None:
    scores = np.array([[3.0, 2.0, -np.inf], [1.0, 1.0, 0.0], [1.0, 2.0, 3.0]])
    relevant = np.array([[False, True, True], [True, False, False], [False, False, False]])
    found = average_precisions(scores, relevant)
    assert found.tolist() == pytest.approx([(1 / 2 + 2 / 3) / 2, 1 / 2, 0.0])
