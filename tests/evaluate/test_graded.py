"""Tests of NDCG, of `QueryProgress` and of coverage curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from tagalong.evaluate import QueryProgress, coverage_curve, mean_ndcg, ndcg
from tagalong.learning.rounds import QueryRound

documents = st.lists(
    st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=2, max_size=12
).filter(lambda rows: any(grade for _, grade in rows))


@given(documents, st.none() | st.integers(1, 12))
def test_ndcg_agrees_with_scikit_learn(rows: list[tuple[int, int]], k: int | None) -> None:
    """Includes ties. The gain of scikit-learn is the relevance itself."""
    scores, grades = np.array(rows, dtype=float).T
    expected = ndcg_score([2**grades - 1], [scores], k=k)
    assert ndcg(scores, grades, k) == pytest.approx(expected)


def test_ndcg_without_relevant_documents_and_with_wrong_shapes() -> None:
    assert np.isnan(ndcg([1.0, 2.0], [0, 0]))
    assert mean_ndcg([1.0, 2.0, 3.0, 1.0], [0, 0, 1, 0], [2, 2]) == 1.0
    assert np.isnan(mean_ndcg([1.0, 2.0], [0, 0], [2]))
    with pytest.raises(ValueError, match="scores and grades must be vectors of the same length"):
        ndcg([1.0], [1, 2])
    with pytest.raises(ValueError, match="add up to the 3 documents"):
        mean_ndcg([1.0, 2.0, 3.0], [0, 1, 0], [2])


def rounds(count: int) -> list[QueryRound]:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 9, count)
    return [QueryRound(rng.normal(size=n), rng.integers(0, 3, n).astype(float)) for n in sizes]


def test_progress_has_the_means_of_all_and_of_recent_queries() -> None:
    seen = rounds(40)
    progress = QueryProgress(k=3, window=10)
    for each in seen:
        progress.add(each)
    report = progress.report()
    values = np.array([ndcg(each.scores, each.grades, 3) for each in seen])
    assert report.overall.ndcg_at_k == pytest.approx(np.nanmean(values))
    assert report.recent.ndcg_at_k == pytest.approx(np.nanmean(values[-10:]))
    assert report.overall.queries == np.isfinite(values).sum() < 40
    assert report.items == 40
    assert report.documents == sum(len(each.scores) for each in seen)
    assert report.curve["items"][-1] == 40
    assert report.curve["ndcg_at_k"][-1] == report.overall.ndcg_at_k
    assert "NDCG@3" in str(report)
    assert report.to_dict()["overall"]["ndcg_at_k"] == report.overall.ndcg_at_k


def test_progress_continues_from_its_state() -> None:
    seen = rounds(500)
    uninterrupted, first = QueryProgress(k=2), QueryProgress(k=2)
    for each in seen:
        uninterrupted.add(each)
    for each in seen[:311]:
        first.add(each)
    second = QueryProgress().restore(first.state())
    for each in seen[311:]:
        second.add(each)
    for name, array in uninterrupted.state()["arrays"].items():
        assert second.state()["arrays"][name].tobytes() == array.tobytes()
    assert second.state()["numbers"] == uninterrupted.state()["numbers"]
    assert len(uninterrupted.report().curve["items"]) <= 201


rows = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30)


@given(rows)
def test_coverage_curve_agrees_with_its_definition(given_rows: list[tuple[int, bool]]) -> None:
    confidence, right = np.array([c for c, _ in given_rows]), np.array([r for _, r in given_rows])
    curve = coverage_curve(confidence, right)
    assert curve.threshold.tolist() == sorted(set(confidence.tolist()), reverse=True)
    for threshold, coverage, accuracy in zip(
        curve.threshold, curve.coverage, curve.accuracy, strict=True
    ):
        chosen = confidence >= threshold
        assert coverage == chosen.mean()
        assert accuracy == pytest.approx(right[chosen].mean())
    for reject in (0.01, 0.3, 0.9):
        costs = [
            reject if not chosen else 1.0 - hit
            for chosen, hit in zip(confidence >= curve.best(reject), right, strict=True)
        ]
        every = [*curve.cost(reject), reject]
        assert np.mean(costs) == pytest.approx(min(every))


def test_invalid_inputs_of_a_coverage_curve() -> None:
    for confidence, right in (([0.5], [True, False]), ([], []), ([np.nan, 1.0], [True, True])):
        with pytest.raises(ValueError, match="confidence"):
            coverage_curve(confidence, right)
