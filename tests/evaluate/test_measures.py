"""Tests of each measure against its definition and against scikit-learn."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import metrics

from tagalong import _native as core
from tagalong.evaluate.measures import MEASURES, SUMS, LabelMeasures, Measures
from tests.evaluate import naive
from tests.evaluate.naive import Row
from tests.evaluate.streams import as_rounds, from_arrays, report_of, some_rows

UNRANKED = Row((1.0, 0.0, 0.0), frozenset())
TIED = Row((0.5, 0.5, 0.5), frozenset({2}), cutoff=0.5)


@settings(max_examples=100)
@given(st.integers(1, 5).flatmap(lambda labels: some_rows(labels)), st.integers(1, 6))
@example([UNRANKED, TIED], 2)
@example([], 1)
@example([Row((1.0,), frozenset({0})), Row((1.0,), frozenset(), frozenset({0}))], 1)
def test_measures_agree_with_their_definitions(rows: list[Row], k: int) -> None:
    expected = naive.measures(rows, k)
    report = report_of(as_rounds(rows), k)
    for found in (report.overall, report.recent):
        assert found.rows == len(rows)
        assert found.ranked == sum(row.has_pair for row in rows)
        values = {name: getattr(found, name) for name in MEASURES}
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(1, 8), st.integers(1, 15))
def test_ranking_measures_agree_with_scikit_learn(
    seed: int, labels: int, levels: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((40, labels)) < rng.random()
    truth = truth[truth.any(axis=1) & ~truth.all(axis=1)]
    if len(truth) == 0:
        return
    scores = rng.integers(0, levels, size=truth.shape).astype(float)
    found = report_of(from_arrays(scores, truth, 0.0), k).overall
    assert found.ranked == len(truth)
    assert found.coverage == pytest.approx(metrics.coverage_error(truth, scores))
    average = metrics.label_ranking_average_precision_score(truth, scores)
    assert found.average_precision == pytest.approx(average)
    assert found.ndcg_at_k == pytest.approx(metrics.ndcg_score(truth, scores, k=k))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_ranking_loss_agrees_with_scikit_learn(seed: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((40, labels)) < 0.4
    truth = truth[truth.any(axis=1) & ~truth.all(axis=1)]
    if len(truth) == 0:
        return
    scores = rng.integers(0, 4, size=truth.shape).astype(float)
    found = report_of(from_arrays(scores, truth, 0.0)).overall
    assert found.ranking_loss == pytest.approx(metrics.label_ranking_loss(truth, scores))


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 10), st.floats(0, 1), st.floats(-0.2, 1.2))
def test_set_measures_agree_with_scikit_learn(
    seed: int, labels: int, share: float, cutoff: float
) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((25, labels)) < share
    scores = rng.integers(0, 5, size=truth.shape) / 4
    chosen = scores >= cutoff
    report = report_of(from_arrays(scores, truth, cutoff))
    found = report.overall
    assert found.hamming == pytest.approx(metrics.hamming_loss(truth, chosen))
    exact = metrics.accuracy_score(truth.astype(int), chosen.astype(int))
    assert found.subset_accuracy == pytest.approx(exact if labels > 1 else 1 - found.hamming)
    both = truth.astype(int).reshape(-1, 1), chosen.astype(int).reshape(-1, 1)
    micro = metrics.f1_score(*both, average="binary", zero_division=np.nan)
    assert found.micro_f1 == pytest.approx(micro, nan_ok=True)
    each = [
        metrics.precision_recall_fscore_support(
            truth[:, label], chosen[:, label], average="binary", zero_division=np.nan
        )
        for label in range(labels)
    ]
    by_label = {measured.label: measured for measured in report.per_label()}
    for label, (precision, recall, f1, _) in enumerate(each):
        measured = by_label[label]
        assert measured.support == truth[:, label].sum()
        assert measured.chosen == chosen[:, label].sum()
        assert (measured.precision, measured.recall, measured.f1) == pytest.approx(
            (precision, recall, f1), nan_ok=True
        )
    if labels > 1 and (truth | chosen).any():
        macro = metrics.f1_score(truth, chosen, average="macro", zero_division=np.nan)
        assert found.macro_f1 == pytest.approx(macro)


def test_label_of_unknown_relevance_is_ignored() -> None:
    with_unknown = Row((0.2, 9.0, 0.1), frozenset({0}), frozenset({1}), 0.15)
    without = Row((0.2, 0.1), frozenset({0}), cutoff=0.15)
    found, expected = report_of(as_rounds([with_unknown])), report_of(as_rounds([without]))
    assert found.overall == expected.overall
    assert found.counts[1].tolist() == [0, 0, 0]


def test_macro_f1_ignores_labels_that_are_never_relevant_nor_chosen() -> None:
    rows = {
        ((1.0, -1.0), frozenset({0})): 1.0,
        ((1.0, 1.0), frozenset({0})): 0.5,  # chosen, but never relevant
        ((1.0, -1.0), frozenset({0, 1})): 0.5,
        ((-1.0, -1.0), frozenset()): math.nan,
    }
    for (scores, relevant), expected in rows.items():
        found = report_of(as_rounds([Row(scores, relevant, cutoff=0.0)])).overall.macro_f1
        assert found == expected or (math.isnan(found) and math.isnan(expected))
    assert math.isnan(report_of(as_rounds([])).overall.macro_f1)


@pytest.mark.parametrize("cutoff", [0.1, 0.7, 1 / 3, 1e-46, 1e300, -1e300, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cutoff_is_compared_in_double_precision(dtype, cutoff) -> None:
    """0.7 in single precision is below 0.7, and 0.1 above 0.1."""
    with np.errstate(over="ignore"):
        near = dtype(cutoff)
    scores = np.array(
        [
            np.nextafter(near, dtype(-np.inf)),
            near,
            np.nextafter(near, dtype(np.inf)),
            0,
            -1e30,
            1e30,
        ],
        dtype=dtype,
    )
    measures = core.Measures(5, 10)
    measures.observe_one(scores, [0], [], cutoff)
    chosen = [float(score) >= cutoff for score in scores]
    # Trailing scores of -infinity mean labels that do not exist yet; here the last is finite.
    assert measures.per_label()[:, 1].tolist() == [int(each) for each in chosen]


def test_measures_of_nothing_are_nan() -> None:
    empty = Measures.from_sums(dict.fromkeys(SUMS, 0.0), math.nan)
    assert all(math.isnan(value) for name, value in asdict(empty).items() if name in MEASURES)
    never = LabelMeasures("x", 0, 0, 0)
    assert math.isnan(never.precision)
    assert math.isnan(never.recall)
    assert math.isnan(never.f1)


def test_rows_without_labels_count_in_set_measures_only() -> None:
    found = report_of(as_rounds([Row((1.0, -1.0), frozenset())] * 3)).overall
    assert (found.rows, found.ranked) == (3, 0)
    assert math.isnan(found.one_error)
    assert (found.hamming, found.subset_accuracy, found.micro_f1) == (0.5, 0.0, 0.0)
