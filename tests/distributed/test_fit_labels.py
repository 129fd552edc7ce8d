"""`distributed.fit` by labels: the bits of one machine."""

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tagalong import M3LClassifier
from tagalong.distributed import fit
from tagalong.distributed.label_parts import cut
from tests.batch.problems import data, many

SETTINGS: dict[str, dict[str, Any]] = {
    "sparse": {},
    "tight": {"tol": 1e-5, "max_iter": 20000},
    "constant": {"constant": 0.5},
    "balanced": {"class_weight": "balanced", "loss": {"miss": 2.0}},
    "rbf": {"kernel": "rbf", "C": 5.0},
    "poly": {"kernel": "poly"},
}


def assert_same_bits(found, expected, X):
    assert np.array_equal(found.decision_function(X), expected.decision_function(X))
    assert np.array_equal(found.dual_coef_, expected.dual_coef_)
    assert found.n_iter_ == expected.n_iter_
    if expected.kernel == "linear":
        assert found.dual_objective_ == expected.dual_objective_
        assert found.duality_gap_ == expected.duality_gap_
        assert np.array_equal(found.coef_, expected.coef_)
        assert np.array_equal(found.intercept_, expected.intercept_)
    else:  # the sums over labels are in another order
        assert found.dual_objective_ == pytest.approx(expected.dual_objective_, rel=1e-12)
        assert found.duality_gap_ == pytest.approx(expected.duality_gap_, rel=1e-9)


@pytest.mark.parametrize("name", SETTINGS)
def test_labels_in_parts_give_the_bits_of_one_machine(threads, name):
    X, Y = many(1, 300, 120, 40, 8)
    settings: dict[str, Any] = {"random_state": 5, **SETTINGS[name]}
    expected = M3LClassifier(**settings).fit(X, Y)
    found = fit(M3LClassifier(**settings), X, Y, threads)
    assert found.fit_report_.parts > 1
    assert_same_bits(found, expected, X)


def test_on_every_kind_of_worker(client):
    X, Y = many(2, 200, 80, 40, 8)
    weights = np.linspace(0.5, 2, len(Y))
    model = M3LClassifier(random_state=1)
    found = fit(model, X, Y, client, sample_weight=weights)
    assert found is model
    assert found.fit_report_.by == "labels"
    assert found.fit_report_.converged
    expected = M3LClassifier(random_state=1).fit(X, Y, weights)
    assert_same_bits(found, expected, X)


def test_dense_rows_unknown_relevance_and_a_warm_start(threads):
    X, Y = data(3, rows=80, labels=40, density=1.0)
    Y[::7, 3] = np.nan
    settings: dict[str, Any] = {"warm_start": True, "random_state": 2, "max_iter": 5000}
    expected = M3LClassifier(**settings).fit(X, Y).set_params(C=0.5).fit(X, Y)
    found = fit(M3LClassifier(**settings), X, Y, threads).set_params(C=0.5)
    assert_same_bits(fit(found, X, Y, threads), expected, X)


def test_a_random_state_object_advances_as_on_one_machine(threads):
    X, Y = many(4, 100, 60, 20, 6)
    ours, theirs = np.random.RandomState(3), np.random.RandomState(3)
    expected = M3LClassifier(random_state=theirs).fit(X, Y).fit(X, Y)
    model = M3LClassifier(random_state=ours)
    assert_same_bits(fit(fit(model, X, Y, threads), X, Y, threads), expected, X)


def test_one_label_per_row(threads):
    X, _ = data(5, rows=60)
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    settings: dict[str, Any] = {"random_state": 0, "class_weight": {"a": 3.0}, "max_iter": 5000}
    for kernel in ("linear", "rbf"):
        expected = M3LClassifier(kernel=kernel, **settings).fit(X, y)
        found = fit(M3LClassifier(kernel=kernel, **settings), X, y, threads)
        assert found.predict(X).tolist() == expected.predict(X).tolist()
        assert_same_bits(found, expected, X)


def test_the_warning_of_one_machine(threads):
    X, Y = data(6)
    model = M3LClassifier(max_iter=1, tol=1e-6, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        fit(model, X, Y, threads)
    assert not model.fit_report_.converged


def test_a_prior_is_refused_and_the_model_stays(threads):
    X, Y = data(7)
    model = fit(M3LClassifier(random_state=0), X, Y, threads)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match=r"prior couples the labels.*by='rows', or .*one machine"):
        fit(model.set_params(prior="cooccurrence"), X, Y, threads)
    with pytest.raises(ValueError, match="class_weight must be"):
        fit(model.set_params(prior=None, class_weight="heavy"), X, Y, threads)
    assert np.array_equal(model.decision_function(X), before)


def test_a_later_fit_drops_the_report(threads):
    X, Y = data(8)
    model = fit(M3LClassifier(random_state=0), X, Y, threads).fit(X, Y)
    assert not hasattr(model, "fit_report_")


def test_wrong_arguments(threads):
    X, Y = data(9)
    with pytest.raises(TypeError, match="must be an M3LClassifier, got str"):
        fit("m3l", X, Y, threads)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by must be"):
        fit(M3LClassifier(), X, Y, threads, by="columns")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"dask\.distributed\.Client"):
        fit(M3LClassifier(), X, Y, None)
    with pytest.raises(ValueError, match="use by='rows' for files"):
        fit(M3LClassifier(), ["a.npz"], None, threads)


@pytest.mark.parametrize(("units", "parts"), [(1, 4), (7, 3), (16, 16), (5, 1)])
def test_parts_cover_everything_once(units, parts):
    found = cut(units, parts)
    assert [each for first, last in found for each in range(first, last)] == list(range(units))
    assert len(found) == min(units, parts)
    assert all(first < last for first, last in found)
