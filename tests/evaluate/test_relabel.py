"""Tests of `Progress.relabel`: labels that were merged or forgotten."""

import copy
import json
import pickle
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import Tagger
from tagalong.evaluate import Progress, Report
from tagalong.learning.labels import LabelRows
from tagalong.learning.rounds import Rounds
from tests.evaluate.confident import (
    NaiveAnswers,
    confident_rounds,
    single,
    some_of,
    without_confidence,
)

LABELS = 6
Numbers = list[int | None]


def renamed(rounds: Rounds, numbers: npt.NDArray[np.int64]) -> Rounds:
    """The same rounds with other label numbers; no two of them are equal."""
    scores = np.empty_like(rounds.scores)
    scores[:, numbers] = rounds.scores
    places = rounds.places
    if places is not None:
        # The label -1 stands for none.
        places = replace(places, labels=np.append(numbers, -1).astype(np.int32)[places.labels])
    relevant, unknown = (
        LabelRows(each.indptr, numbers[each.indices].astype(np.int32))
        for each in (rounds.relevant, rounds.unknown)
    )
    return Rounds(scores, rounds.cutoffs, relevant, unknown, places)


def run(rounds: Rounds, progress: Progress, sizes: tuple[int, ...] = (1, 40)) -> Progress:
    start = turn = 0
    while start < len(rounds.scores):
        size = sizes[turn % len(sizes)]
        if size == 1:
            progress.add(single(rounds, start))
        else:
            progress.add_rounds(some_of(rounds, start, start + size))
        start, turn = start + size, turn + 1
    return progress


def some_rounds(seed: int, rows: int, one_label: bool, confident: bool) -> Rounds:
    # The labels of the first row are not known beforehand: some measures depend on their numbers.
    rounds = confident_rounds(seed, rows + 1, LABELS, one_label, unknown=0.1, width=LABELS)
    rounds = some_of(rounds, 1, rows + 1)
    return rounds if confident else without_confidence(rounds)


def padded(table: npt.NDArray[Any], rows: int) -> list[Any]:
    found = np.zeros((rows, table.shape[1]), np.int64)
    found[: len(table)] = table[:rows]
    return found.tolist()


def assert_same(found: Progress, expected: Progress) -> None:
    reports = [
        json.dumps(each.report(labels="abcdefghijkl").to_dict()) for each in (found, expected)
    ]
    assert reports[0] == reports[1]
    for name, array in expected.state()["arrays"].items():
        assert np.array_equal(found.state()["arrays"][name], array, equal_nan=True), name


def measures(report: Report, name: str) -> dict[str, float]:
    """The measures that are sums over rows."""
    found = dict(vars(getattr(report, name)))
    del found["macro_f1"]
    return found


@settings(max_examples=40)
@given(
    order=st.permutations(range(LABELS)),
    gone=st.integers(0, LABELS),
    rows=st.integers(0, 200),
    window=st.integers(1, 120),
    one_label=st.booleans(),
    confident=st.booleans(),
)
def test_same_figures_as_with_these_numbers_from_the_start(
    order: list[int], gone: int, rows: int, window: int, one_label: bool, confident: bool
) -> None:
    """In the twin, labels that are gone have the last numbers, whose counts are ignored."""
    kept = LABELS - gone
    rounds = some_rounds(3, rows, one_label, confident)
    twin = run(renamed(rounds, np.array(order)), Progress(3, window))
    numbers: Numbers = [number if number < kept else None for number in order]
    found = run(rounds, Progress(3, window))
    found.relabel(numbers)

    report, expected = (each.report(labels="abcdef") for each in (found, twin))
    for name in ("overall", "recent"):
        assert measures(report, name) == pytest.approx(measures(expected, name), nan_ok=True)
    assert report.coverage == expected.coverage or not rows
    assert padded(report.counts, kept) == padded(expected.counts, kept)
    assert not report.counts[kept:].any()

    now, then = (each.state()["arrays"] for each in (found, twin))
    for name in ("answers", "first_sure", "calibration", "recent"):
        assert np.array_equal(now[name], then[name]), name
    assert padded(now["label_answers"], kept) == padded(then["label_answers"], kept)
    pairs = then["confusion"][(then["confusion"][:, :2] < kept).all(axis=1)]
    assert now["confusion"].tolist() == pairs.tolist()
    labels = then["recent_answers"][:, -3:-1]
    labels[labels >= kept] = -1
    assert now["recent_answers"].tolist() == then["recent_answers"].tolist()
    assert report.answers.macro_recall == pytest.approx(
        naive_recall(rounds, numbers, 0), nan_ok=True
    )
    recent = naive_recall(rounds, numbers, rows - window, one_label_only=True)
    assert report.answers.recent_macro_recall == pytest.approx(recent, nan_ok=True)


def naive_recall(
    rounds: Rounds, numbers: Numbers, start: int, one_label_only: bool = False
) -> float:
    """The mean share of right first suggestions, over the labels that are left."""
    items: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for row in NaiveAnswers(rounds).rows[max(0, start) :]:
        if row.first is None or (one_label_only and len(row.relevant) != 1):
            continue
        for label in row.relevant:
            if (new := numbers[label]) is not None:
                items[new] += 1
                right[new] += row.first == label
    return float(np.mean([right[label] / items[label] for label in items])) if items else np.nan


def naive_f1(parts: list[tuple[Rounds, Numbers]], window: int) -> float:
    """The mean F1 over the labels, from the chosen and relevant labels of the last rows."""
    rows: list[list[tuple[int, bool, bool]]] = []
    for rounds, numbers in parts:
        for row in range(len(rounds.scores)):
            one = single(rounds, row)
            rows.append([])
            for label, score in enumerate(one.scores.tolist()):
                new = numbers[label]
                if new is not None and label not in one.unknown:
                    rows[-1].append((new, score >= one.cutoff, label in one.relevant))
    hits: Counter[int] = Counter()
    either: Counter[int] = Counter()
    for label, chosen, relevant in chain.from_iterable(rows[-window:]):
        if chosen or relevant:
            hits[label] += chosen and relevant
            either[label] += chosen + relevant
    shares = [2 * hits[label] / either[label] for label in either]
    return float(np.mean(shares)) if shares else np.nan


@settings(max_examples=25)
@given(
    numbers=st.lists(st.none() | st.integers(0, 3), min_size=LABELS, max_size=LABELS).filter(
        lambda numbers: any(number is not None for number in numbers)
    ),
    first=st.integers(30, 120),
    second=st.integers(0, 80),
    window=st.integers(1, 120),
    one_label=st.booleans(),
)
def test_run_that_goes_on(
    numbers: Numbers, first: int, second: int, window: int, one_label: bool
) -> None:
    """The recent figures stay right while rows from before leave the window."""
    before = some_rounds(1, first, one_label, True)
    after = confident_rounds(2, second + 1, 5, one_label, width=5)
    after = some_of(after, 1, second + 1)
    progress = run(before, Progress(3, window)).relabel(numbers)
    per_label = progress.state()["arrays"]["per_label"]
    expected = np.zeros((5, 3), np.int64)
    for label, counts in enumerate(run(before, Progress()).report().counts):
        if (new := numbers[label]) is not None:
            expected[new] += counts
    assert padded(per_label, 5) == expected.tolist()

    run(after, progress, (40, 1))
    report = progress.report(labels="abcde")
    both = [(before, numbers), (after, [*range(5)])]
    assert report.overall.macro_f1 == pytest.approx(naive_f1(both, first + second))
    assert report.recent.macro_f1 == pytest.approx(naive_f1(both, window), nan_ok=True)
    if second:
        expected += run(after, Progress()).report().counts
    assert report.counts.tolist() == expected.tolist()

    stopped = run(before, Progress(3, window)).relabel(numbers)
    again = run(after, Progress().restore(stopped.state()), (40, 1))
    assert_same(again, progress)


def test_counts_of_merged_labels_are_added() -> None:
    rounds = some_rounds(1, 150, True, True)
    before = run(rounds, Progress(3, 50))
    merged = run(rounds, Progress(3, 50)).relabel([0, 1, 0, 2, 3, 1])
    arrays, then = merged.state()["arrays"], before.state()["arrays"]
    for name in ("per_label", "label_answers"):
        assert arrays[name].tolist() == [
            (then[name][0] + then[name][2]).tolist(),
            (then[name][1] + then[name][5]).tolist(),
            then[name][3].tolist(),
            then[name][4].tolist(),
        ]
    confused: Counter[tuple[int, int]] = Counter()
    for (true, first), items in NaiveAnswers(rounds).confusion().items():
        pair = ([0, 1, 0, 2, 3, 1][true], [0, 1, 0, 2, 3, 1][first])
        if pair[0] != pair[1]:
            confused[pair] += items
    assert {(a, b): items for a, b, items in arrays["confusion"].tolist()} == confused
    same = ("answers", "calibration", "totals", "recent", "points", "first_sure")
    assert all(np.array_equal(arrays[name], then[name], equal_nan=True) for name in same)


def test_all_labels_may_be_gone() -> None:
    progress = run(some_rounds(1, 60, False, True), Progress(3, 20))
    accuracy = progress.report().coverage.overall.accuracy
    report = progress.relabel([None] * LABELS).report()
    assert (report.labels, report.items, report.answers.confusion) == ((), 60, ())
    assert report.coverage.overall.accuracy == accuracy
    assert np.isnan(report.overall.macro_f1)
    assert np.isnan(report.answers.macro_recall)
    assert report.text()
    again = run(some_rounds(2, 60, False, True), progress)
    assert again.report().items == 120


def test_new_numbers_need_not_be_contiguous() -> None:
    progress = run(some_rounds(1, 60, True, True), Progress(3, 20))
    before = progress.report().counts
    counts = progress.relabel([9, 2, 4, 6, 0, 7]).report().counts
    assert len(counts) == 10
    assert counts[[9, 2, 4, 6, 0, 7]].tolist() == before.tolist()


def test_same_numbers_change_nothing() -> None:
    rounds = some_rounds(1, 300, False, True)
    progress = run(rounds, Progress(3, 70))
    for numbers in ([*range(LABELS)], [*range(LABELS + 3)]):  # labels that were not counted yet
        assert_same(progress.relabel(numbers), run(rounds, Progress(3, 70)))


def test_labels_before_the_first_round() -> None:
    assert_same(Progress(3, 20).relabel([]), Progress(3, 20))
    assert_same(Progress(3, 20).relabel([None, 0, 0]), Progress(3, 20))


@pytest.mark.parametrize(
    "numbers, message",
    [
        ([0, 1, 2], "all 6 labels of the rounds, got 3 numbers"),
        ([0, 1, 2, 3, 4, -1], "numbers must be from 0 to 2147483646, got -1"),
        ([0, 1, 2, 3, 4, 2**31], "numbers must be from 0"),
        ([0, 1, 2, 3, 4, 2.5], "numbers must be an integer, got 2.5"),
        ([0, 1, 2, 3, 4, True], "numbers must be an integer, got True"),
        ("012345", "a number or None per label"),
        (None, "a number or None per label"),
    ],
)
def test_invalid_numbers_change_nothing(numbers: Any, message: str) -> None:
    rounds = some_rounds(1, 60, True, True)
    progress = run(rounds, Progress(3, 20))
    with pytest.raises(ValueError, match=message):
        progress.relabel(numbers)
    assert_same(progress, run(rounds, Progress(3, 20)))


def test_progress_of_a_tagger_whose_labels_change() -> None:
    rng = np.random.default_rng(5)
    tagger, progress = Tagger(), Progress(window=50)

    def learn(count: int, names: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for _ in range(count):
            name = names[int(rng.integers(len(names)))]
            text = " ".join(
                f"{name if rng.random() < 0.6 else 'x'}{rng.integers(9)}" for _ in "1234"
            )
            progress.add(tagger.watch(text, name))
            found[name] += 1
        return found

    def follow(before: list[str], became: dict[str, str | None]) -> None:
        number = tagger.learner.labels.number
        names = [became.get(name, name) for name in before]
        progress.relabel([None if name is None else number[name] for name in names])

    def relevant() -> dict[str, int]:
        report = progress.report(labels=tagger.labels)
        assert report.text()
        return dict(zip(report.labels, report.counts[:, 2].tolist(), strict=True))  # type: ignore[arg-type]

    items = learn(120, "abcde")
    before = tagger.labels
    tagger.merge_labels(["b", "d"], into="d")
    follow(before, {"b": "d"})
    items["d"] += items.pop("b")
    assert relevant() == items
    items += learn(60, "acdef")
    before = tagger.labels
    tagger.forget_label("a")
    follow(before, {"a": None})
    del items["a"]
    assert relevant() == items
    items += learn(60, "cdefg")
    assert relevant() == items


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))]
)
def test_copies_go_on_independently(copied: Any) -> None:
    rounds = some_rounds(4, 500, False, True)
    progress = run(some_of(rounds, 0, 123), Progress(2, 60))
    other = copied(progress)
    assert (other.k, other.window, other.items) == (2, 60, 123)
    run(some_of(rounds, 123, 300), other)
    assert progress.items == 123
    run(some_of(rounds, 123, 300), progress, (7,))
    assert_same(progress, other)
    assert_same(progress, run(some_of(rounds, 0, 300), Progress(2, 60)))
