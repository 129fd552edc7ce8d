"""M3LClassifier as a scikit-learn estimator."""

import pickle
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_classifiers_train,
    parametrize_with_checks,
)

from tagalong import M3LClassifier, load
from tagalong.batch.m3l import training
from tagalong.batch.m3l.models import LinearModel
from tests.batch.problems import data

INEXACT = "solved to a tolerance, not to the last bit"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": INEXACT,
    "check_sample_weight_equivalence_on_sparse_data": INEXACT,
}
X, Y = data(0, rows=80, labels=6)
NEW = np.random.default_rng(1).normal(size=(15, X.shape[1]))


@parametrize_with_checks(
    [
        M3LClassifier(max_iter=5000),
        M3LClassifier(kernel="rbf"),
        M3LClassifier(prior="cooccurrence"),
        M3LClassifier(constant=1.0, max_iter=5000),
        M3LClassifier(solver="smo", max_iter=5000),
        M3LClassifier(solver="smo", kernel="rbf", prior="cooccurrence"),
    ],
    expected_failed_checks=lambda model: EXPECTED_FAILURES,
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_works_in_a_pipeline_and_a_grid_search() -> None:
    pipeline = make_pipeline(StandardScaler(), M3LClassifier(max_iter=5000))
    search = GridSearchCV(pipeline, {"m3lclassifier__C": [0.01, 0.1]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.7
    assert search.predict(X).shape == Y.shape


def test_all_forms_of_targets_give_the_same_bits() -> None:
    names = np.array(list("abcdef"))
    sets = [list(names[row == 1]) for row in Y]
    first = M3LClassifier(random_state=0, tol=0.1).fit(X, Y)
    for targets in (sp.csr_matrix(Y), pd.DataFrame(Y, columns=list(names)), sets):
        other = M3LClassifier(random_state=0, tol=0.1).fit(X, targets)
        assert other.dual_coef_.tobytes() == first.dual_coef_.tobytes()
    assert list(other.classes_) == list(names)
    best = first.decision_function(NEW).argmax(axis=1)
    assert other.rank(NEW, k=2)[:, 0].tolist() == names[best].tolist()


def test_one_label_per_row() -> None:
    y = np.where(X[:, 0] > 0.3, "high", np.where(X[:, 0] < -0.3, "low", "middle"))
    constant = np.column_stack([X, np.ones(len(X))])
    model = M3LClassifier(C=10, max_iter=10000).fit(constant, y)
    assert model.score(constant, y) > 0.8
    assert model.decision_function(constant).shape == (80, 3)
    two = M3LClassifier(max_iter=10000).fit(X, y == "high")
    assert two.decision_function(X).shape == (80,)
    assert ((two.decision_function(X) > 0) == two.predict(X)).all()


def test_the_prior_alone_scores_a_label_without_examples() -> None:
    """The column of label 3 is unknown; R couples it to label 0 and, negatively, to label 1."""
    unseen = np.column_stack([Y[:, :3], np.full(len(Y), np.nan)])
    R = np.eye(4)
    R[3, 0] = R[0, 3] = 0.6
    R[3, 1] = R[1, 3] = -0.5
    model = M3LClassifier(prior=R, max_iter=5000).fit(X, unseen)
    assert (model.dual_coef_[:, 3] == 0).all()
    v = X.T @ model.dual_coef_
    np.testing.assert_allclose(
        model.decision_function(NEW)[:, 3],
        2 * NEW @ (0.6 * v[:, 0] - 0.5 * v[:, 1]),
        atol=1e-4,
    )
    assert np.abs(model.decision_function(NEW)[:, 3]).min() > 0


def test_balanced_weights_bound_relevant_and_irrelevant_rows() -> None:
    y = np.column_stack([Y[:, 0] * (np.arange(80) < 20), Y[:, 1]])
    yes = y.sum(axis=0)
    model = M3LClassifier(class_weight="balanced", C=0.3, max_iter=5000).fit(X, y)
    b = model.dual_coef_
    assert (b.max(axis=0) <= 0.3 * 80 / (2 * yes) * (1 + 1e-6)).all()
    assert (-b.min(axis=0) <= 0.3 * 80 / (2 * (80 - yes)) * (1 + 1e-6)).all()
    assert b[:, 0].max() > 0.3
    heavy = M3LClassifier(class_weight={0: 5.0}, C=0.3, max_iter=5000).fit(X, y)
    assert 0.3 < heavy.dual_coef_[:, 0].max() <= 1.5 * (1 + 1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_warm_start_needs_few_passes(kernel: str) -> None:
    model = M3LClassifier(kernel=kernel, warm_start=True, random_state=0, max_iter=5000).fit(X, Y)
    first = model.n_iter_
    again = clone(model).set_params(warm_start=False).fit(X, Y)
    assert again.n_iter_ == first
    model.fit(X, Y)
    assert model.n_iter_ <= first / 5
    assert model.dual_objective_ == pytest.approx(again.dual_objective_, rel=1e-5)
    # With a smaller C, variables beyond the new bound are clipped; the optimum is the new one.
    model.set_params(C=0.2).fit(X, Y)
    other = clone(model).set_params(warm_start=False).fit(X, Y)
    assert np.abs(model.dual_coef_).max() <= 0.2 * (1 + 1e-6)
    assert model.dual_objective_ == pytest.approx(other.dual_objective_, rel=1e-4)
    model.fit(X[:50], Y[:50])  # a different number of rows: no warm start
    assert model.dual_objective_ > 0


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"prior": np.eye(6) + 0.1, "loss": {"miss": {2: 2.0}, "false_alarm": [1, 1, 2, 2, 1, 1]}},
        {"kernel": "rbf", "class_weight": {1: 2.0}},
        {"kernel": "rbf", "prior": "cooccurrence"},
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_files_and_pickles_restore_the_model(settings: Any, sparse: bool, tmp_path: Path) -> None:
    rows = sp.csr_matrix(X) if sparse else X
    model = M3LClassifier(max_iter=5000, random_state=1, **settings).fit(rows, Y)
    model.save(tmp_path / "m.tagalong")
    for other in (load(tmp_path / "m.tagalong"), pickle.loads(pickle.dumps(model))):
        assert other.decision_function(NEW).tobytes() == model.decision_function(NEW).tobytes()
        assert other.classes_.tolist() == model.classes_.tolist()
        assert other.duality_gap_ == model.duality_gap_
        np.testing.assert_equal(other.get_params(), model.get_params())
        assert other.fit(rows, Y).dual_objective_ == model.dual_objective_


def test_features_that_never_occur_have_no_weights(tmp_path: Path) -> None:
    """Of 2**20 columns 12 are used, so the weights have 12 rows."""
    wide = sp.csr_matrix((80, 2**20))
    wide[:, 5::90000] = X
    model = M3LClassifier(tol=0.1, random_state=0).fit(wide, Y)
    assert isinstance(model._fit.model, LinearModel)
    assert model._fit.model.weights.shape == (12, 6)
    narrow = M3LClassifier(tol=0.1, random_state=0).fit(sp.csr_matrix(X), Y)
    other = sp.csr_matrix((15, 2**20))
    other[:, 5::90000] = NEW
    other[:, 3] = 7.0
    found = model.decision_function(other)
    np.testing.assert_allclose(found, narrow.decision_function(NEW), atol=1e-5)
    assert model.coef_.shape == (6, 2**20)


def test_reaching_max_iter_warns_with_the_violation() -> None:
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2: the largest projected derivative is"):
        M3LClassifier(max_iter=2).fit(X, Y)


def test_an_unfitted_model_neither_predicts_nor_has_fitted_attributes() -> None:
    with pytest.raises(NotFittedError):
        M3LClassifier().predict(X)
    for name in ("coef_", "dual_coef_", "support_", "classes_"):
        assert not hasattr(M3LClassifier(), name)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0}, "C must be positive, got 0"),
        ({"kernel": "cubic"}, "kernel must be one of 'linear'"),
        ({"prior": "guess"}, "prior must be one of 'cooccurrence', got 'guess'"),
        ({"prior": np.eye(3)}, r"prior must have shape \(6, 6\)"),
        ({"prior": np.triu(np.ones((6, 6)))}, "prior must be symmetric, but row"),
        ({"prior": 1 - 2 * np.eye(6)}, "prior must be positive semi-definite, but its smallest"),
        ({"prior": np.full((6, 6), np.nan)}, "prior: row 0, column 0 is nan"),
        ({"loss": "zero-one"}, "loss must be 'hamming', 'prior' or a mapping"),
        ({"loss": {"miss": [1, 2]}}, r"loss\['miss'\] must be a number, or 6 numbers"),
        ({"loss": {"false": 1}}, "loss must have costs for 'miss' or 'false_alarm'"),
        ({"class_weight": {"x": 1}}, "class_weight: 'x' is not a label of the data"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a mapping"),
        ({"tol": -1}, "tol must be positive, got -1"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0|max_iter must be from 1"),
        ({"kernel": "rbf", "gamma": 0}, "gamma must be positive, got 0"),
        ({"kernel": "precomputed"}, "a precomputed kernel must be square"),
        ({"kernel": lambda A, B: A}, "kernel must return shape"),
        ({"kernel": lambda A, B: -(A @ B.T)}, "the product of row .* with itself is -"),
    ],
)
def test_invalid_parameters_are_named_and_do_not_change_the_model(
    settings: Any, message: str
) -> None:
    model = M3LClassifier(tol=0.1, random_state=0).fit(X, Y)
    before = model.decision_function(NEW)
    with pytest.raises(ValueError, match=message):
        model.set_params(**settings).fit(X, Y)
    assert (model.decision_function(NEW) == before).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_located(bad: float) -> None:
    wrong = X.copy()
    wrong[3, 2] = bad
    with pytest.raises(ValueError, match="row 3, column 2 is"):
        M3LClassifier().fit(wrong, Y)


def test_an_exception_in_a_kernel_is_raised_by_fit() -> None:
    calls = []

    def kernel(A: Any, B: Any) -> Any:
        calls.append(len(A))
        if len(A) > 1:
            raise RuntimeError("no such product")
        return A @ B.T

    with pytest.raises(RuntimeError, match="no such product"):
        M3LClassifier(kernel=kernel).fit(X, Y)


def test_progress_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(training, "SECONDS_BETWEEN_LINES", 0.0)
    training._progress_printer(16)(3, 40, 0.25)
    assert "3 of 16 labels done, 40 passes, largest projected" in capsys.readouterr().err
    monkeypatch.setattr(training, "SECONDS_BETWEEN_LINES", 1000.0)
    training._progress_printer(16)(3, 40, 0.25)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_the_progress_callback_can_stop_training(monkeypatch: Any, prior: Any) -> None:
    """Training would take hours. The callback stops it after a pass; the model keeps that pass."""
    seen = []

    def stop(done: int, passes: int, violation: float) -> None:
        seen.append(passes)
        if passes:
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "_progress_printer", lambda labels: stop)
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(500, 60)), rng.random((500, 20)) < 0.5
    model = M3LClassifier(verbose=1, tol=1e-300, max_iter=2**31 - 1, prior=prior)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    assert [passes > 0 for passes in seen] == [False] * (len(seen) - 1) + [True]
    assert model.dual_objective_ > 0
    assert model.n_iter_ > 0
    assert model.decision_function(rows).any()


def test_interrupting_the_first_kernel_products_leaves_a_zero_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first products wait for the interrupt; later ones wait until the core has received it."""
    interrupted = threading.Event()
    calls = []

    def is_in_callback() -> bool:
        main = threading.main_thread().ident
        assert main is not None
        frame: FrameType | None = sys._current_frames()[main]
        while frame is not None and frame.f_code is not interrupt.__code__:
            frame = frame.f_back
        return frame is not None

    def products(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        if len(A) > 1 and len(B) > 1:  # not a product for the diagonal
            calls.append(len(A))
            interrupted.wait()
            while len(calls) > 1 and is_in_callback():
                time.sleep(1e-3)
        return np.asarray(A @ B.T)

    def interrupt(*state: Any) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "_progress_printer", lambda labels: interrupt)
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(1500, 3)), rng.random((1500, 2)) < 0.5
    model = M3LClassifier(kernel=products, verbose=1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, labels)
    assert sum(calls) < 1500
    assert len(model.support_) == 0
    assert model.dual_objective_ == 0
    assert model.duality_gap_ == 2 * labels.size
    assert not model.decision_function(rows[:5]).any()


def test_without_a_bias_a_scikit_learn_check_cannot_be_met() -> None:
    """check_class_weight_classifiers requires 0.87 of these rows in one class: tag poor_score."""
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    _, rows, _, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    normals = np.column_stack([-rows[:, 1], rows[:, 0]])
    # A half-plane with the most rows can be rotated until a row lies on its boundary, so it is
    # enough to try the half-planes with a row on the boundary.
    inside = np.vstack([normals, -normals]) @ rows.T >= -1e-9
    assert inside.mean(axis=1).max() < 0.87
    assert get_tags(M3LClassifier()).classifier_tags.poor_score


@pytest.mark.parametrize("check", [check_classifiers_train, check_class_weight_classifiers])
def test_a_constant_term_of_the_kernel_replaces_a_bias(check: Any) -> None:
    model = M3LClassifier(kernel="poly", coef0=1.0)
    assert not get_tags(model).classifier_tags.poor_score
    check("M3LClassifier", model)
