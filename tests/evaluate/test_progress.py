"""Tests of `Progress`: batches, windows, new labels, states, curves."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong import LabelRanker
from tagalong import _native as core
from tagalong.evaluate import Progress, Report
from tagalong.evaluate.curve import MAX_POINTS, Curve, point
from tagalong.evaluate.measures import SUMS
from tests.evaluate.streams import part, random_rounds, report_of, singles


def assert_same(found: Report, expected: Report) -> None:
    """Assert that two reports agree to the bit."""
    for report in (found, expected):
        assert not np.isnan(report.curve["items"]).any()
    assert json.dumps(found.to_dict()) == json.dumps(expected.to_dict())


def in_batches(rounds: Any, sizes: list[int], progress: Progress) -> Progress:
    start, turn = 0, 0
    while start < len(rounds.scores):
        size = sizes[turn % len(sizes)]
        if size == 1:
            progress.add(singles(part(rounds, start, start + 1))[0])
        else:
            progress.add_rounds(part(rounds, start, start + size))
        start, turn = start + size, turn + 1
    return progress


@settings(max_examples=15)
@given(
    st.integers(0, 99),
    st.lists(st.integers(1, 90), min_size=1, max_size=5),
    st.integers(1, 120),
    st.sampled_from([np.float32, np.float64]),
)
def test_batches_of_any_size_agree(seed: int, sizes: list[int], window: int, dtype: Any) -> None:
    rounds = random_rounds(seed, 450, 6, dtype)
    found = in_batches(rounds, sizes, Progress(3, window)).report()
    assert_same(found, report_of(rounds, 3, window))


def test_single_rows_agree_with_batches() -> None:
    rounds = random_rounds(1, 700, 5)
    assert_same(in_batches(rounds, [1], Progress(5, 50)).report(), report_of(rounds, 5, 50))


@settings(max_examples=40)
@given(st.integers(0, 99), st.integers(1, 200), st.integers(1, 60))
def test_recent_measures_cover_the_last_rows(seed: int, rows: int, window: int) -> None:
    rounds = random_rounds(seed, rows, 6)
    found = in_batches(rounds, [7, 1, 30], Progress(3, window)).report()
    expected = report_of(part(rounds, max(0, rows - window), rows), 3, window)
    for name, value in vars(expected.overall).items():
        assert getattr(found.recent, name) == pytest.approx(value, rel=1e-12, nan_ok=True), name


@pytest.mark.parametrize("sizes", [[1], [16], [5, 1, 40]])
def test_points_of_the_curve_equal_the_reports_at_that_time(sizes: list[int]) -> None:
    rounds = random_rounds(5, 230, 6)
    curve = in_batches(rounds, sizes, Progress(3, 20)).report().curve
    assert curve["items"].tolist() == [*range(2, 231, 2)]
    for i in (0, 1, 30, 114):
        then = report_of(part(rounds, 0, int(curve["items"][i])), 3, 20)
        for name in ("one_error", "macro_f1", "hamming", "coverage"):
            assert curve[name][i] == getattr(then.overall, name)
            assert curve[f"recent_{name}"][i] == getattr(then.recent, name)
        ranked = then.overall.any_mistake * then.overall.ranked
        assert curve["mistakes_so_far"][i] == pytest.approx(ranked)


@pytest.mark.parametrize("stop", [0, 1, 130, 449])
def test_run_continues_from_its_state(stop: int) -> None:
    rounds = random_rounds(3, 450, 6)
    first = in_batches(part(rounds, 0, stop), [1, 40], Progress(4, 60))
    state = first.state()
    assert all(isinstance(array, np.ndarray) for array in state["arrays"].values())
    numbers = json.loads(json.dumps(state["numbers"]))
    again = Progress().restore({"arrays": state["arrays"], "numbers": numbers})
    assert (again.k, again.window, again.items) == (4, 60, stop)
    assert_same(again.report(), first.report())
    found = in_batches(part(rounds, stop, 450), [33, 1], again)
    assert_same(found.report(), report_of(rounds, 4, 60))


def test_state_is_a_copy() -> None:
    rounds = random_rounds(3, 60, 6)
    progress = in_batches(rounds, [60], Progress(4, 30))
    before = progress.report()
    for array in progress.state()["arrays"].values():
        array[...] = 1
    assert_same(progress.report(), before)


def damaged(name: str, value: Any) -> dict[str, dict[str, Any]]:
    state = in_batches(random_rounds(3, 60, 6), [60], Progress(4, 30)).state()
    state["arrays" if name in state["arrays"] else "numbers"][name] = value
    return state


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("items", 59, "another number of rows"),
        ("items", -1, "items must be at least 0, got -1"),
        ("k", 0, "k must be at least 1, got 0"),
        ("window", 29, r"recent must have shape \(29, 14\), got \(30, 14\)"),
        ("totals", np.zeros(3), "totals must have shape"),
        ("per_label", np.zeros((6, 2), np.int64), "wrong shape"),
        ("recent_marks", np.array([99]), "marks a label that does not exist"),
        ("recent_marks", np.array([-1]), "marks a label that does not exist"),
        ("recent_mark_ends", np.array([1, 2]), "wrong shape"),
        ("points", np.zeros((2, 2)), "points must have"),
        ("spacing", 0, "spacing 0"),
    ],
)
def test_damaged_state_is_refused_and_changes_nothing(name: str, value: Any, message: str) -> None:
    progress = in_batches(random_rounds(9, 40, 4), [40], Progress(2, 7))
    before = progress.report()
    with pytest.raises(ValueError, match=message):
        progress.restore(damaged(name, value))
    assert_same(progress.report(), before)


def test_incomplete_state_is_refused() -> None:
    state = Progress().state()
    del state["arrays"]["points"]
    with pytest.raises(ValueError, match="invalid state of a run: KeyError"):
        Progress().restore(state)


@pytest.mark.parametrize("arguments", [{"k": 0}, {"window": 0}, {"k": 2.5}, {"window": "all"}])
def test_invalid_parameters_are_named(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(arguments))} must be"):
        Progress(**arguments)


def growing_stream(rows: int) -> list[tuple[dict[int, float], list[str], list[str]]]:
    """Examples with ever more labels, some of them first with unknown relevance."""
    rng = np.random.default_rng(4)
    stream = []
    for row in range(rows):
        x = {int(feature): 1.0 for feature in rng.integers(0, 20, size=4)}
        names = [f"label {i}" for i in rng.permutation(1 + row // 9)]
        cut = int(rng.integers(0, 4))
        stream.append((x, names[:cut], names[cut : cut + int(rng.integers(0, 2))]))
    return stream


def test_label_counts_from_its_first_row_on() -> None:
    """Also within a batch, whose score matrix has columns for all labels of the batch."""
    stream = [(x, y) for x, y, _ in growing_stream(300)]
    one_by_one, progress = LabelRanker(n_features=20), Progress(3, 100)
    for x, y in stream:
        progress.add_rounds(one_by_one.watch(as_matrix([x]), [y], "grow"))
    expected = progress.report()
    for sizes in ([300], [7], [64, 3]):
        ranker, again = LabelRanker(n_features=20), Progress(3, 100)
        start, turn = 0, 0
        while start < 300:
            chunk = stream[start : start + sizes[turn % len(sizes)]]
            X, Y = as_matrix([x for x, _ in chunk]), [y for _, y in chunk]
            again.add_rounds(ranker.watch(X, Y, "grow"))
            start, turn = start + len(chunk), turn + 1
        assert_same(again.report(), expected)


def as_matrix(examples: list[dict[int, float]]) -> Any:
    X = np.zeros((len(examples), 20))
    for row, example in zip(X, examples, strict=True):
        row[list(example)] = list(example.values())
    return X


def test_intermediate_reports_change_nothing() -> None:
    ranker, silent, reporting = LabelRanker(), Progress(3, 40), Progress(3, 40)
    for x, y, unknown in growing_stream(300):
        found = ranker.watch_one(x, y, unknown)
        silent.add(found)
        reporting.add(found)
        reporting.report()
    assert_same(silent.report(), reporting.report())


def test_size_of_the_state_is_bounded_by_the_window() -> None:
    progress = in_batches(random_rounds(0, 3000, 4), [100], Progress(5, 10))
    arrays = progress.state()["arrays"]
    assert len(arrays["recent"]) == len(arrays["recent_mark_ends"]) == 10
    assert len(arrays["recent_marks"]) <= 10 * 4


def test_cutoff_between_two_floats() -> None:
    score = np.float32(0.1)
    between = float(score) + 1e-12
    for cutoff, chosen in ((float(score), 1), (between, 0), (float(score) - 1e-12, 1)):
        measures = core.Measures(5, 5)
        measures.observe_one(np.array([score]), [], [], cutoff)
        assert measures.per_label().tolist() == [[0, chosen, 0]]
        assert measures.recent_per_label().tolist() == [[0, chosen, 0]]


def point_at(items: int) -> list[float]:
    sums = dict.fromkeys(SUMS, float(items))
    return point(items, (sums, 0.5), (sums, 0.5), None)


@settings(max_examples=30)
@given(st.integers(1, 5000))
def test_points_depend_on_the_number_of_items_only(items: int) -> None:
    default, expecting = Curve(), Curve()
    expecting.expect(items)
    for curve in (default, expecting):
        for now in range(1, items + 1):
            assert curve.is_due(now) == (curve.next_after(now - 1) == now)
            if curve.is_due(now):
                curve.add(point_at(now))
    found = default.columns(point_at(items))["items"].tolist()
    assert expecting.columns(point_at(items))["items"].tolist() == found
    assert len(found) <= MAX_POINTS
    assert len(found) >= min(items, MAX_POINTS // 2)
    assert found[-1] == items
    assert all(at % default.spacing == 0 for at in found[:-1])


def test_number_of_points_is_bounded() -> None:
    curve = Curve()
    items = 0
    while (items := curve.next_after(items)) <= 1_000_000:
        curve.add(point_at(items))
    assert MAX_POINTS / 2 <= len(curve) < MAX_POINTS


def test_curve_records_the_certificate() -> None:
    ranker, progress = LabelRanker(), Progress()
    duals = []
    for x, y, _ in growing_stream(150):
        progress.add(ranker.watch_one(x, y), ranker)
        duals.append(ranker.certificate_.dual)
    curve = progress.report(certificate=ranker.certificate_).curve
    assert curve["certified_dual"].tolist() == duals
    assert curve["certified_rounds"].tolist() == [*range(1, 151)]


def test_too_few_names_are_refused() -> None:
    progress = in_batches(random_rounds(0, 5, 4), [5], Progress())
    with pytest.raises(ValueError, match="must name all 4 labels of the rounds, got 2 names"):
        progress.report(labels=["a", "b"])
    more = progress.report(labels=["a", "b", "c", "d", "e"])
    assert more.counts[4].tolist() == [0, 0, 0]
