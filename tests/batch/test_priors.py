"""Priors of M3L, and zero-shot classification by attributes."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagalong import M3LClassifier, ZeroShot, attribute_prior
from tagalong.batch.m3l.priors import checked_prior, cooccurrence_prior
from tests.batch.problems import data


def test_the_attribute_prior_is_the_sum_over_categories() -> None:
    rng = np.random.default_rng(0)
    A, p = rng.integers(0, 2, size=(4, 6)), np.array([1.0, 2.0, 0.0, 5.0])
    expected = np.zeros((6, 6))
    for c in range(4):
        y = 2 * A[c] - 1
        expected += p[c] / 8 * np.outer(y, y)
    np.testing.assert_allclose(attribute_prior(A, p), expected)
    np.testing.assert_allclose(attribute_prior(2 * A - 1, p), expected)
    assert np.linalg.matrix_rank(expected) <= 3  # a singular prior is valid
    assert checked_prior(expected, 6).shape == (6, 6)


@pytest.mark.parametrize(
    ("A", "p", "message"),
    [
        ([[0, 2]], None, "all entries of A must be 0 or 1, or all must be -1 or 1"),
        ([[0, -1, 1]], None, "all entries of A must be 0 or 1, or all must be -1 or 1"),
        ([1, 0], None, "A must have one row per category"),
        ([[1, 0]], [1, 2], r"p must have shape \(1,\)"),
        ([[1, 0]], [-1], "p must have no negative or infinite numbers and a positive sum"),
    ],
)
def test_invalid_attributes_are_named(A: Any, p: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attribute_prior(A, p)


def test_the_cooccurrence_prior_is_positive_semi_definite_with_unit_diagonal() -> None:
    _, Y = data(0, rows=50, labels=8)
    Y[:, 3] = 0
    R = cooccurrence_prior(Y.T @ Y)
    assert (R.diagonal() == 1).all()
    assert (R[3, :3] == 0).all()
    assert np.linalg.eigvalsh(R)[0] > -1e-12
    assert R[0, 1] == pytest.approx(
        (Y[:, 0] * Y[:, 1]).sum() / np.sqrt(Y[:, 0].sum() * Y[:, 1].sum())
    )


def test_zero_shot_uses_margins_where_signs_tie() -> None:
    animals = [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]
    names = ["whale", "leopard", "rat"]
    scores = [[0.9, 0.1, 0.2, -0.5]]  # its signs differ in one attribute from whale and leopard
    assert ZeroShot(animals, names).predict(scores).tolist() == ["leopard"]
    assert ZeroShot(animals, names, by="signs").predict(scores).tolist() == ["whale"]  # a tie
    every = ZeroShot(animals, names).decision_function(scores)
    signs = 2 * np.array(animals) - 1
    np.testing.assert_allclose(every, scores @ signs.T)


def test_zero_shot_reports_accuracy_by_category() -> None:
    shot = ZeroShot([[1, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    scores = [[1, -1], [1, 2], [-1, 3], [-2, 1]]
    assert shot.accuracy(scores, ["a", "a", "b", "b"]) == {"a": 0.5, "b": 1.0}
    with pytest.raises(ValueError, match="scores must have 2 columns, one per attribute"):
        shot.predict([[1, 2, 3]])
    with pytest.raises(ValueError, match="attributes has 2 rows, but there are 1"):
        ZeroShot([[1, 0], [0, 1]], ["a"])


def test_zero_shot_recognises_categories_without_examples() -> None:
    """The attributes are those of Animals with Attributes; the features are synthetic."""
    folder = Path(os.environ.get("TAGALONG_DATA", ""), "awa")
    if not folder.is_dir():
        pytest.skip("TAGALONG_DATA has no folder awa")
    A = np.loadtxt(folder / "predicate-matrix-binary.txt", dtype=int)
    rng = np.random.default_rng(0)
    new = np.arange(0, 50, 5)
    old = np.setdiff1d(np.arange(50), new)
    mix = rng.normal(size=(85, 60)) / np.sqrt(85)

    def rows(of: np.ndarray, each: int) -> tuple[np.ndarray, np.ndarray]:
        which = np.repeat(of, each)
        return (2 * A[which] - 1) @ mix + 0.8 * rng.normal(size=(len(which), 60)), which

    X, seen = rows(old, 10)
    test, truth = rows(new, 20)
    shot = ZeroShot(A[new], new)
    for R in (None, attribute_prior(A[new])):
        model = M3LClassifier(C=0.01, prior=R, tol=0.05, random_state=0).fit(X, A[seen])
        found = shot.accuracy(model.decision_function(test), truth)
        assert list(found) == new.tolist()
        assert np.mean(list(found.values())) > 0.7  # chance is 0.1
