"""Probabilities follow scikit-learn's conventions, and agree with what suggestions say."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from tagalong import LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker

DIGITS, DIGIT = load_digits(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(DIGIT))
X, y = DIGITS[ORDER], DIGIT[ORDER]
SETS = [[str(digit), "even" if digit % 2 == 0 else "odd"] for digit in y]


@pytest.mark.parametrize(
    "learner",
    [LabelRanker(), Predtron("multiclass"), SharedLabelRanker(), PartialFeedbackRanker()],
    ids=lambda learner: type(learner).__name__,
)
def test_rows_of_classifiers_sum_to_one_and_agree_with_predict(learner: Any) -> None:
    rows = 300 if isinstance(learner, PartialFeedbackRanker) else 1000
    learner.fit(X[:rows], y[:rows])
    found = learner.predict_proba(X[rows : rows + 100])
    assert found.shape == (100, 10)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    best = learner.classes_[found.argmax(axis=1)]
    assert best.tolist() == learner.predict(X[rows : rows + 100]).tolist()
    np.testing.assert_allclose(np.exp(learner.predict_log_proba(X[rows : rows + 100])), found)


def test_several_labels_have_independent_probabilities() -> None:
    ranker = LabelRanker().fit(X[:1200], SETS[:1200])
    found = ranker.predict_proba(X[1200:])
    assert found.shape == (len(X) - 1200, 12)
    right = np.array([[label in labels for label in ranker.classes_] for labels in SETS[1200:]])
    assert 1.5 < found.sum(axis=1).mean() < 2.5
    assert np.abs(found.mean(axis=0) - right.mean(axis=0)).max() < 0.1
    assert found[right].mean() > 0.6 > 0.2 > found[~right].mean()


def test_probabilities_are_those_of_the_first_places() -> None:
    ranker = LabelRanker().fit(X[:1000], y[:1000])
    matrix = ranker.predict_proba(X[1000:1020])
    for row, x in zip(matrix, X[1000:1020], strict=True):
        places = ranker.places_one((np.flatnonzero(x), x[x != 0]), k=3)
        assert row[places.labels[0]].tolist() == places.probabilities[0].tolist()


def test_without_probability_there_is_no_predict_proba() -> None:
    ranker = LabelRanker(probability=False).fit(X[:100], y[:100])
    assert not hasattr(ranker, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        ranker.predict_proba(X[:1])
    with_it = LabelRanker().fit(X[:100], y[:100])
    assert ranker.decision_function(X).tobytes() == with_it.decision_function(X).tobytes()


def test_it_works_in_cross_validation_and_stacking() -> None:
    found = cross_val_predict(LabelRanker(), X[:900], y[:900], cv=3, method="predict_proba")
    assert found.shape == (900, 10)
    assert (found.argmax(axis=1) == y[:900]).mean() > 0.8
    stack = StackingClassifier(
        [("ranker", LabelRanker()), ("bayes", GaussianNB())],
        LogisticRegression(max_iter=1000),
        stack_method="predict_proba",
        cv=3,
    )
    assert stack.fit(X[:900], y[:900]).score(X[900:], y[900:]) > 0.85


def test_two_classes_are_ordered_by_their_scores() -> None:
    two = y < 2
    ranker = LabelRanker().fit(X[two][:200], y[two][:200])
    rest = X[two][200:]
    chance = ranker.predict_proba(rest)[:, 1]
    order = np.argsort(ranker.decision_function(rest))
    assert (np.diff(chance[order]) >= 0).all()


def test_fit_warns_about_rows_sorted_by_label() -> None:
    order = np.argsort(y, kind="stable")
    with pytest.warns(UserWarning, match="sorted by label.*shuffle the rows"):
        LabelRanker().fit(X[order], y[order])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LabelRanker().fit(X, y)


def test_a_single_class_is_certain_only_as_a_class() -> None:
    ranker = LabelRanker().fit(X[:30], ["only"] * 30)
    assert ranker.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    growing = LabelRanker().learn_one(([1], [1.0]), ["first"])
    assert growing.places_one(([1], [1.0])).probabilities[0, 0] < 0.9
