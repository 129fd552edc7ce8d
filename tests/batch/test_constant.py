"""The constant feature of M3L: the optimum with its column, intercepts, files, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong import M3LClassifier, Tagger, ZeroShot, load
from tagalong.features import TextFeatures
from tests.batch.problems import data, many, priors
from tests.batch.test_optimality import KINDS, is_optimal
from tests.reference.m3l import dual_of
from tests.weights import dense_coef

VALUE = 0.6
EXACT: dict[str, Any] = {"tol": 1e-6, "max_iter": 50_000, "random_state": 0}


def with_column(X: Any, value: float = VALUE) -> Any:
    """Return the rows with the constant feature as their last column."""
    return np.hstack([X, np.full((X.shape[0], 1), value)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precise", [False, True], ids=["single", "double"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_solution_is_optimal_for_the_rows_with_the_column(
    kind: str, precise: bool, sparse: bool
) -> None:
    X, Y = data(1, labels=5)
    R = priors(5)[kind]
    tol = 1e-6 if precise else 1e-3
    model = M3LClassifier(
        C=0.7, prior=R, tol=tol, max_iter=20000, random_state=0, constant=VALUE
    ).fit(sp.csr_matrix(X) if sparse else X, Y)
    rows = with_column(X)
    is_optimal(model, dual_of(rows @ rows.T, Y, R, 0.7), tol, 1e-8 if precise else 1e-4)
    # The weights are those of the dual variables, and the scores those of the weights.
    expected = 2 * rows @ (rows.T @ model.dual_coef_ @ (np.eye(5) if R is None else R))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)


def wide(rows: int, columns: int, dtype: Any) -> sp.csr_matrix:
    """Return rows that have a value in every column, with two columns per row or more."""
    rng = np.random.default_rng(0)
    index = np.sort(rng.permutation(columns).reshape(rows, -1), axis=1)
    start = np.arange(0, columns + 1, columns // rows)
    return sp.csr_matrix(
        (rng.normal(size=columns).astype(dtype), index.ravel(), start), (rows, columns)
    )


@pytest.mark.parametrize("layout", ["equal values", "in place", "32-bit numbers"])
@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_every_layout_of_sparse_rows_gives_the_solution_with_the_column(
    layout: str, prior: str | None
) -> None:
    X, Y = many(7, 200, 60, 20, 8)  # equal values in each row
    if layout != "equal values":
        # Rows in double precision are read in place by the solver in double precision only.
        X = wide(200, 70_000, np.float64 if layout == "in place" else np.float32)
    model = M3LClassifier(prior=prior, constant=VALUE, **EXACT).fit(X, Y)
    column = sp.csr_matrix(np.full((200, 1), VALUE, dtype=X.dtype))
    appended = sp.csr_matrix(sp.hstack([X, column]))
    expected = M3LClassifier(prior=prior, **EXACT).fit(appended, Y)
    assert model.dual_objective_ == pytest.approx(expected.dual_objective_, rel=1e-6)
    assert model.duality_gap_ < 1e-4 * model.dual_objective_
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(appended), atol=1e-4
    )
    np.testing.assert_allclose(
        model.intercept_, VALUE * dense_coef(expected)[:, -1], atol=1e-4, rtol=1e-3
    )
    assert np.abs(model.intercept_).max() > 0.01


@pytest.mark.parametrize("sparse", [False, True])
def test_scores_are_weights_plus_intercept_everywhere(sparse: bool) -> None:
    X, Y = data(3, labels=4)
    given = sp.csr_matrix(X) if sparse else X
    model = M3LClassifier(constant=1.0, **EXACT).fit(given, Y)
    assert dense_coef(model).shape == (4, X.shape[1])
    assert model.intercept_.shape == (4,)
    scores = model.decision_function(given)
    np.testing.assert_allclose(scores, X @ dense_coef(model).T + model.intercept_, atol=1e-6)
    indices = np.arange(X.shape[1], dtype=np.int32)
    np.testing.assert_allclose(model.score_one((indices, X[0]))[0], scores[0], atol=1e-6)
    _, parts, score = model.explain_one((indices, X[0]), 2)
    assert score == pytest.approx(scores[0, 2], abs=1e-6)
    assert parts.sum() == pytest.approx(scores[0, 2] - model.intercept_[2], abs=1e-6)
    empty = np.zeros((1, X.shape[1]))
    np.testing.assert_array_equal(model.decision_function(empty)[0], model.intercept_)


def test_a_label_of_every_row_is_learnt_by_its_intercept() -> None:
    """Without a constant feature, rows on both sides of the origin cannot all score above 0."""
    X = np.array([[1.0], [-1.0], [2.0], [-3.0]])
    Y = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    assert not (M3LClassifier(**EXACT).fit(X, Y).predict(X) == Y).all()
    assert (M3LClassifier(constant=1.0, **EXACT).fit(X, Y).predict(X) == Y).all()


def test_without_a_constant_feature_the_intercepts_are_0() -> None:
    X, Y = data(4, labels=3)
    model = M3LClassifier(random_state=0).fit(X, Y)
    assert model.intercept_.tolist() == [0, 0, 0]


@pytest.mark.parametrize("constant", [0.0, VALUE])
def test_a_file_keeps_the_intercepts(constant: float, tmp_path: Path) -> None:
    X, Y = data(5, labels=4)
    model = M3LClassifier(constant=constant, random_state=0).fit(X, Y)
    model.save(tmp_path / "model.tagalong")
    restored = load(tmp_path / "model.tagalong")
    assert isinstance(restored, M3LClassifier)
    assert restored.constant == constant
    assert restored.intercept_.tobytes() == model.intercept_.tobytes()
    assert restored.decision_function(X).tobytes() == model.decision_function(X).tobytes()


@pytest.mark.parametrize("damaged", [np.zeros(3), np.full(4, np.nan), np.zeros(4, int)])
def test_a_file_with_wrong_intercepts_is_refused(damaged: Any) -> None:
    X, Y = data(5, labels=4)
    header, arrays = M3LClassifier(constant=1.0, random_state=0).fit(X, Y).to_parts()
    with pytest.raises(ValueError, match="'intercept' must be finite numbers of shape"):
        M3LClassifier.from_parts(header, {**arrays, "intercept": damaged})


def test_a_header_without_the_parameter_has_no_constant_feature() -> None:
    X, Y = data(5, labels=4)
    model = M3LClassifier(random_state=0).fit(X, Y)
    header, arrays = model.to_parts()
    assert "constant" not in header["params"]  # so that earlier versions read the file
    restored = M3LClassifier.from_parts(header, arrays)
    assert restored.constant == 0
    assert restored.decision_function(X).tobytes() == model.decision_function(X).tobytes()


def test_a_warm_start_continues_with_the_constant_feature() -> None:
    X, Y = data(6, labels=4)
    model = M3LClassifier(constant=1.0, warm_start=True, **EXACT).fit(X, Y)
    first = model.dual_objective_
    assert model.fit(X, Y).n_iter_ <= 2
    assert model.dual_objective_ == pytest.approx(first, rel=1e-9)


@pytest.mark.parametrize("prior", [None, "cooccurrence"])
def test_threads_give_the_same_bits(prior: str | None) -> None:
    X, Y = many(12, 300, 80, 40, 9)
    one, three = (
        M3LClassifier(prior=prior, constant=1.0, random_state=0, n_jobs=jobs).fit(X, Y)
        for jobs in (1, 3)
    )
    assert one.intercept_.tobytes() == three.intercept_.tobytes()
    assert dense_coef(one).tobytes() == dense_coef(three).tobytes()


@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed", lambda A, B: A @ B.T])
def test_other_kernels_refuse_a_constant_feature(kernel: Any) -> None:
    X, Y = data(7)
    with pytest.raises(ValueError, match=r"constant must be 0 with kernel=.*, got 1\.0; coef0"):
        M3LClassifier(kernel=kernel, constant=1.0).fit(X @ X.T, Y)
    fitted = M3LClassifier(kernel="rbf").fit(X, Y)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = fitted.intercept_


@pytest.mark.parametrize("constant", [np.nan, np.inf, "1", None, True, 1e7, -1e7])
def test_a_wrong_constant_is_refused(constant: Any) -> None:
    X, Y = data(7)
    with pytest.raises(ValueError, match="constant must be"):
        M3LClassifier(constant=constant).fit(X, Y)


def test_attribute_scores_with_intercepts_classify_unseen_categories() -> None:
    rng = np.random.default_rng(8)
    seen = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 1]])
    new = np.array([[1, 1, 0], [0, 1, 1]])
    mix = rng.normal(size=(3, 8))

    def rows(categories: Any, each: int) -> tuple[Any, Any]:
        attributes = np.repeat(categories, each, axis=0)
        # The features are not centred.
        return 3 + attributes @ mix + 0.2 * rng.normal(size=(len(attributes), 8)), attributes

    X, Y = rows(seen, 30)
    model = M3LClassifier(constant=1.0, tol=0.01, max_iter=20_000, random_state=0).fit(X, Y)
    test, _ = rows(new, 40)
    found = ZeroShot(new, ["penguin", "bat"]).accuracy(
        model.decision_function(test), ["penguin"] * 40 + ["bat"] * 40
    )
    assert min(found.values()) > 0.9


def test_a_tagger_explains_the_intercept_as_base() -> None:
    texts = ["red round apple", "green pear", "red cherry", "green lime"]
    features = TextFeatures(unit=True)
    labels = [["fruit", "red"], ["fruit"], ["fruit", "red"], ["fruit"]]
    model = M3LClassifier(constant=1.0, random_state=0).fit(features.transform(texts), labels)
    tagger = Tagger(learner=model, features=features)
    found = tagger.explain("red plum", "fruit")
    assert found.base == pytest.approx(float(model.intercept_[0]), abs=1e-6)
    assert found.base > 0
