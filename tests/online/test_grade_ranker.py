"""GradeRanker: ordinal regression on a stream, its scaling, its scores and what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from tagalong import GradeRanker, OrdinalRanker, Tagger, load
from tagalong.evaluate import frozen, progressive
from tests.contract.bits import native_of
from tests.reference.grades import NaiveGrades, scaled_rows

GRADES = ["low", "mid", "high", "top"]


def rated_rows(seed: int = 0, rows: int = 300) -> tuple[Any, Any]:
    """Columns of several scales with an offset, columns of mostly zeros, and grades."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(rows, 3)) * [1, 100, 0.01] + [5, 1000, 0]
    rare = (rng.random((rows, 4)) < 0.1) * rng.normal(size=(rows, 4))
    latent = columns @ [1, -0.01, 100] + 2 * rare[:, 0] + 0.3 * rng.normal(size=rows)
    return np.hstack([columns, rare]), np.digitize(latent, np.quantile(latent, [0.3, 0.6, 0.8]))


@pytest.mark.parametrize("scaled", [True, False])
def test_the_formulas_give_the_same(scaled: bool) -> None:
    X, y = rated_rows()
    if not scaled:
        X = X / [10, 1000, 0.01, 1, 1, 1, 1]
    rows = scaled_rows(X) if scaled else X
    naive = NaiveGrades(7, 4)
    wanted = np.empty((len(X), 4))
    for t, (x, grade) in enumerate(zip(rows, y, strict=True)):
        wanted[t] = naive.scores(x)
        naive.learn(x, grade)
    ranker = GradeRanker(GRADES, scaled=scaled, dtype="float64")
    found = ranker.predict_then_learn(X, np.array(GRADES)[y])
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ranker.coef_, naive.w, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ranker.raw_thresholds_, naive.thresholds, rtol=1e-6, atol=1e-9)
    assert native_of(ranker).recompute_dual() == pytest.approx(ranker.certificate_.dual)


def test_unscaled_it_is_the_ordinal_ranker() -> None:
    X, y = rated_rows()
    X = X / [10, 1000, 0.01, 1, 1, 1, 1]
    twin = OrdinalRanker(C=0.1, dtype="float64").partial_fit(X, y, range(4))
    ranker = GradeRanker(range(4), scaled=False, dtype="float64").partial_fit(X, y)
    np.testing.assert_allclose(ranker.coef_, twin.coef_)
    np.testing.assert_allclose(ranker.thresholds_, twin.thresholds_)
    np.testing.assert_allclose(ranker.decision_function(X), twin.decision_function(X), atol=1e-12)
    assert ranker.certificate_.mistakes == twin.certificate_.mistakes
    assert ranker.certificate_.dual == pytest.approx(twin.certificate_.dual)


def test_scaling_helps_with_columns_of_several_scales() -> None:
    X, y = rated_rows(rows=600)
    errors = [
        progressive(GradeRanker(range(4), scaled=scaled), (X, y)).mean_absolute_error
        for scaled in (True, False)
    ]
    assert errors[0] < 0.35 < 0.7 < errors[1]


def test_matrices_examples_and_items_give_the_same() -> None:
    X, y = rated_rows(1, 120)
    names = [GRADES[grade] for grade in y]
    by_matrix = GradeRanker(GRADES).partial_fit(X, names)
    sparse = GradeRanker(GRADES).partial_fit(sp.csr_array(X), names)
    by_one = GradeRanker(GRADES)
    for x, name in zip(X, names, strict=True):
        by_one.learn_one(dict(enumerate(x.tolist())), name)
    assert by_matrix.coef_.tobytes() == sparse.coef_.tobytes() == by_one.coef_.tobytes()
    assert by_matrix.rank(X[:5]).tolist() == [
        by_one.rank_one(dict(enumerate(x.tolist()))) for x in X[:5]
    ]


@pytest.mark.parametrize("grade", GRADES)
def test_contributions_sum_to_the_score(grade: str) -> None:
    X, y = rated_rows(2, 200)
    ranker = GradeRanker(GRADES, dtype="float64").partial_fit(X, np.array(GRADES)[y])
    for x in X[:20]:
        pairs = np.flatnonzero(x), x[np.flatnonzero(x)]
        features, parts, score = ranker.explain_one(pairs, grade)
        assert features[0] == -1
        assert features[1:].tolist() == pairs[0].tolist()
        assert parts.sum() == pytest.approx(score)
        assert score == pytest.approx(ranker.score_one(pairs)[0][GRADES.index(grade)])


def test_file_and_copy_go_on_with_the_same_bits(tmp_path: Path) -> None:
    X, y = rated_rows(3)
    whole = GradeRanker(range(4)).partial_fit(X, y)
    half = GradeRanker(range(4)).partial_fit(X[:150], y[:150])
    half.save(tmp_path / "half.tagalong")
    loaded = load(tmp_path / "half.tagalong").partial_fit(X[150:], y[150:])
    assert loaded.coef_.tobytes() == whole.coef_.tobytes()
    assert loaded.get_params() == {**whole.get_params(), "grades": (0, 1, 2, 3)}
    assert loaded.certificate_ == whole.certificate_
    assert clone(loaded).get_params() == loaded.get_params()


def test_pruning_keeps_the_thresholds() -> None:
    X, y = rated_rows(4)
    ranker = GradeRanker(range(4)).partial_fit(X, y)
    before, thresholds = ranker.coef_, ranker.thresholds_
    features, lengths = ranker.feature_lengths()
    ranker.keep_features(lengths > np.median(lengths))
    kept = features[lengths > np.median(lengths)]
    assert ranker.thresholds_.tolist() == thresholds.tolist()
    assert np.flatnonzero(ranker.coef_).tolist() == sorted(kept.tolist())
    assert ranker.coef_[kept].tolist() == before[kept].tolist()
    ranker.partial_fit(X, y)


def test_report_has_the_mean_absolute_error() -> None:
    X, y = rated_rows(5)
    ranker = GradeRanker(range(4)).partial_fit(X[:200], y[:200])
    predicted = ranker.predict(X[200:])
    report = frozen(ranker, X[200:], y[200:], window=20)
    errors = np.abs(predicted - y[200:])
    assert report.mean_absolute_error == pytest.approx(errors.mean())
    assert report.recent_mean_absolute_error == pytest.approx(errors[-20:].mean())
    assert "mean absolute error" in str(report)


@pytest.mark.parametrize(
    ("grades", "message"),
    [
        ("low", "grades must be a collection of labels, got 'low'"),
        (["low"], "grades must be from 2 to 1000 grades, got 1"),
        (["a", "b", "a"], "grades must be distinct"),
    ],
)
def test_wrong_grades_are_refused(grades: Any, message: str) -> None:
    ranker = GradeRanker(grades)
    with pytest.raises(ValueError, match=message):
        ranker.check_parameters()
    with pytest.raises(ValueError, match=message):
        ranker.learn_one({0: 1.0}, "low")
    assert not ranker.is_started


def test_grades_of_the_data_or_of_the_first_call() -> None:
    X, y = rated_rows(6)
    fitted = GradeRanker().fit(X, y)
    assert fitted.classes_.tolist() == [0, 1, 2, 3]
    given = GradeRanker().partial_fit(X, np.array(GRADES)[y], classes=GRADES)
    assert given.classes_.tolist() == GRADES
    assert fitted.coef_.tobytes() == given.coef_.tobytes()
    single = GradeRanker()
    for start in (
        lambda: single.learn_one({0: 1.0}, "low"),
        lambda: single.partial_fit(X, y, classes="grow"),
        lambda: Tagger(GradeRanker()),
    ):
        with pytest.raises(ValueError, match=r"grades must be all grades .* got None"):
            start()
    assert not single.is_started


ONLINE = "learns row by row: a row of weight 2 is one step, not two rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
}


@parametrize_with_checks(
    [GradeRanker(), GradeRanker(update="max", scaled=False, dtype="float64")],
    expected_failed_checks=lambda ranker: EXPECTED_FAILURES,
)
def test_scikit_learn_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_labels_that_are_no_grade_are_refused() -> None:
    ranker = GradeRanker(GRADES).learn_one({0: 1.0}, "low")
    before = ranker.certificate_
    with pytest.raises(ValueError, match="label 'huge' is not in classes_"):
        ranker.learn_one({0: 1.0}, "huge")
    bad: list[tuple[list[list[str]], str]] = [
        ([["low", "mid"]], "row 0 has 2 grades; a row has exactly one"),
        ([[]], "row 0 has 0 grades"),
    ]
    for labels, message in bad:
        with pytest.raises(ValueError, match=message):
            ranker.partial_fit(np.ones((1, 2)), labels)
    with pytest.raises(ValueError, match="exactly one grade"):
        ranker.learn_one({0: 1.0}, ["low", "mid"])
    with pytest.raises(ValueError, match="exactly one grade"):
        ranker.learn_one({0: 1.0}, "low", unknown=["mid"])
    with pytest.raises(ValueError, match="classes is"):
        GradeRanker(GRADES).partial_fit(np.ones((1, 2)), ["low"], classes=["low", "mid"])
    for change in (
        lambda: ranker.forget_labels(["low"]),
        lambda: ranker.merge_labels(["low", "mid"], "low"),
        lambda: ranker.add_labels(["more"]),
    ):
        with pytest.raises(ValueError, match="grades"):
            change()
    assert ranker.certificate_ == before
    assert list(ranker.classes_) == GRADES


def test_a_tagger_suggests_and_renames_grades() -> None:
    tagger = Tagger(GradeRanker(["poor", "fair", "good"]))
    for text, grade in [("broken and late", "poor"), ("late", "fair"), ("lovely", "good")] * 20:
        tagger.learn(text, [grade])
    assert tagger.has_grades
    assert tagger.suggest("lovely")[0].label == "good"
    assert tagger.suggest("broken and late")[0].label == "poor"
    assert "broken" in [word for word, _ in tagger.explain("broken and late", "poor").speaks_for]
    tagger.rename_label("poor", "bad")
    assert tagger.labels == ["bad", "fair", "good"]
