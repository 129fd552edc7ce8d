"""Predtron as a scikit-learn estimator."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tagalong import Predtron
from tagalong.evaluate import coverage_curve
from tagalong.problems import REJECT, Binary, LabelRanking, Multiclass, Ordinal
from tests.weights import dense_coef

ONLINE = "learns row by row: a row of weight 2 is one step, not two rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
}
CHECKED = [
    Predtron(),
    Predtron("multiclass", passes=5, constant=1.0),
    Predtron(Binary((2.0, 1.0)), constant=1.0),
    Predtron(Ordinal(), passes=3, constant=1.0),
    Predtron("multiclass", norm="l1", passes=5, constant=1.0),
    Predtron("multiclass", kernel="rbf", average=True),
]
X, Y = load_digits(return_X_y=True)


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda learner: EXPECTED_FAILURES)
def test_scikit_learn_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_tags_depend_on_the_problem() -> None:
    assert is_classifier(Predtron())
    assert not Predtron().__sklearn_tags__().classifier_tags.poor_score
    assert Predtron("multilabel").__sklearn_tags__().classifier_tags.multi_label
    assert not Predtron("multiclass").__sklearn_tags__().classifier_tags.multi_label
    assert not Predtron("binary").__sklearn_tags__().classifier_tags.multi_class


def test_in_pipelines_and_searches() -> None:
    iris = load_iris()
    pipeline = make_pipeline(StandardScaler(), Predtron("multiclass", constant=1.0, passes=5))
    assert cross_val_score(pipeline, iris.data, iris.target, cv=3).mean() > 0.8
    grid = {"predtron__problem": ["multiclass", LabelRanking("1/i"), Ordinal()]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(iris.data, iris.target)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_parameters_are_stored_unchanged() -> None:
    problem = Multiclass(reject=0.2)
    model = Predtron(problem, "l2", "loss", step=0.5, average=True, dtype="float64")
    assert model.get_params()["problem"] is problem
    assert clone(model).get_params() == model.get_params()
    assert model.fit(X, Y).get_params()["problem"] is problem
    assert repr(Predtron(problem)) == "Predtron(problem=Multiclass(reject=0.2))"


def test_averages_predict_better() -> None:
    last = Predtron("multiclass").fit(X[:1000], Y[:1000]).score(X[1000:], Y[1000:])
    mean = Predtron("multiclass", average=True).fit(X[:1000], Y[:1000])
    assert mean.score(X[1000:], Y[1000:]) > last + 0.02


def test_decisions_agree_with_predictions() -> None:
    two = Y < 2
    for problem in (Binary(), Binary(reject=0.01), Multiclass(), Ordinal(), LabelRanking()):
        model = Predtron(problem).fit(X[two], Y[two])
        scores = model.decision_function(X[two])
        assert scores.shape == (two.sum(),)
        predicted = model.predict(X[two])
        sure = np.array([each is not REJECT for each in predicted])
        assert np.array_equal((scores > 0)[sure], predicted[sure] == 1)
    assert Predtron("binary").fit(X[two], Y[two]).coef_.shape == (1, 64)
    assert Predtron("multiclass").fit(X, Y).coef_.shape == (10, 64)


def test_rejecting_lowers_the_cost() -> None:
    """At every cost, predicting with REJECT costs no more than without, on test rows."""
    for reject in (0.02, 0.1, 0.3):
        model = Predtron(Multiclass(reject), passes=5, average=True).fit(X[:1000], Y[:1000])
        predicted = model.predict(X[1000:])
        rejected = np.array([each is REJECT for each in predicted])
        wrong = (predicted != Y[1000:]) & ~rejected
        plain = Predtron(Multiclass(), passes=5, average=True).fit(X[:1000], Y[:1000])
        without = float((plain.predict(X[1000:]) != Y[1000:]).mean())
        assert wrong.mean() + reject * rejected.mean() <= without + 0.005
        assert model.score(X[1000:], Y[1000:]) == pytest.approx(1 - (wrong | rejected).mean())
    assert rejected.sum() < 100
    cheap = Predtron(Multiclass(0.02), passes=5, average=True).fit(X[:1000], Y[:1000])
    assert sum(each is REJECT for each in cheap.predict(X[1000:])) > 100


def test_costs_of_two_classes_shift_the_rejected_rows() -> None:
    two = Y < 2
    rng = np.random.default_rng(0)
    y = np.where(rng.random(two.sum()) < 0.2, 1 - Y[two], Y[two])  # a fifth of the labels flipped
    shares = []
    for reject in (0.4, 0.15, 0.01):
        model = Predtron(Binary(reject=reject), average=True).fit(X[two], y)
        shares.append(float(np.mean([each is REJECT for each in model.predict(X[two])])))
    assert shares[0] < 0.5 < shares[1] <= shares[2] == 1.0


def test_the_decoding_of_the_paper_never_rejects() -> None:
    """Updates sum to zero over the classes: REJECT scores 0, and some class at least 0."""
    rng = np.random.default_rng(1)
    for update in ("mistake", "loss"):
        model = Predtron(Multiclass(0.1), update=update, dtype="float64")
        model.fit(rng.normal(size=(400, 5)), rng.integers(0, 4, 400))
        scores = model.decision_function(rng.normal(size=(400, 5)))
        assert np.abs(scores.sum(axis=1)).max() < 1e-9
        assert (scores.max(axis=1) >= 0).all()


def test_confidence_gives_a_coverage_curve() -> None:
    model = Predtron("multiclass", passes=5, average=True).fit(X[:1000], Y[:1000])
    right = model.predict(X[1000:]) == Y[1000:]
    curve = coverage_curve(model.confidence(X[1000:]), right)
    assert curve.coverage[-1] == 1.0
    assert curve.accuracy[-1] == right.mean()
    assert curve.accuracy[np.searchsorted(curve.coverage, 0.5)] > right.mean()
    with pytest.raises(ValueError, match="one class per row"):
        Predtron("multilabel").fit(X[:3], np.eye(3)).confidence(X[:3])


def test_indicators_with_one_class_per_row() -> None:
    names = np.eye(10, dtype=int)[Y[:300]]
    model = Predtron("multiclass").fit(X[:300], names)
    assert model.predict(X[:300]).sum(axis=1).tolist() == [1] * 300
    assert (
        dense_coef(model).tobytes()
        == dense_coef(Predtron("multiclass").fit(X[:300], Y[:300])).tobytes()
    )


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace"])
def test_sparse_rows_give_the_same_bits(kind: Any, norm: str) -> None:
    dense = Predtron("multiclass", norm).fit(X[:60], Y[:60])
    sparse = Predtron("multiclass", norm).fit(kind(X[:60]), Y[:60])
    assert dense_coef(sparse).tobytes() == dense_coef(dense).tobytes()


def test_predicting_before_fitting_raises() -> None:
    for name in ("classes_", "coef_", "certificate_", "cutoff_"):
        assert not hasattr(Predtron(), name)
    for call in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(Predtron("multiclass"), call)(X)
    kernel = Predtron("multiclass", kernel="rbf").fit(X[:20], Y[:20])
    assert not hasattr(kernel, "coef_")
