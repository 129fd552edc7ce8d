"""LabelRanker as a scikit-learn estimator: estimator checks, tools, input containers."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris, make_blobs, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, label_ranking_average_precision_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from tagalong import LabelRanker

ONLINE = "learns row by row: a row of weight 2 is one step, not two rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
}
# The entropic geometry is not among them: on a simplex over the two features of
# check_classifiers_train, only two of its three classes can ever score best.
CHECKED = [
    LabelRanker(),
    LabelRanker(update="optimal", geometry="euclidean"),
    LabelRanker(update="simproj", average=False, dtype="float64"),
]


IRIS = load_iris(as_frame=True)
ORDER = np.random.default_rng(0).permutation(150)
X, FRAME = IRIS.data.to_numpy()[ORDER], IRIS.data.iloc[ORDER]
NAMES = IRIS.target_names[IRIS.target.to_numpy()[ORDER]]
MULTI_X, MULTI_Y = make_multilabel_classification(
    200, 30, n_classes=6, random_state=0, return_indicator="dense"
)


@parametrize_with_checks(CHECKED, expected_failed_checks=lambda ranker: EXPECTED_FAILURES)
def test_scikit_learn_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_entropic_geometry_learns_from_features_of_both_signs() -> None:
    """The blobs of check_classifiers_train, which it cannot separate by their two features.

    Weights p and 1 - p make the scores x2 + p (x1 - x2): only the labels with the largest and
    the smallest p ever win, two of three. With x and -x as features all three can.
    """
    blobs, labels = make_blobs(n_samples=300, random_state=0)
    rows = StandardScaler().fit_transform(blobs)
    for update in ("single", "optimal", "smooth"):
        ranker = LabelRanker(update=update, geometry="entropic", margin=1.0, C=0.1)
        assert ranker.fit(rows, labels).score(rows, labels) <= 2 / 3
        both = np.hstack([rows, -rows])
        assert ranker.fit(both, labels).score(both, labels) > 0.83


def test_no_tag_disables_checks() -> None:
    tags = LabelRanker().__sklearn_tags__()
    assert not tags.no_validation
    assert not tags.non_deterministic
    assert not tags.classifier_tags.poor_score
    assert tags.classifier_tags.multi_label
    assert tags.input_tags.sparse
    assert is_classifier(LabelRanker())


def test_one_label_per_row_makes_a_classifier() -> None:
    ranker = LabelRanker(passes=3).fit(X, NAMES)
    assert ranker.classes_.tolist() == sorted(IRIS.target_names)
    predicted = ranker.predict(X)
    assert predicted.shape == (150,)
    assert set(predicted) <= set(IRIS.target_names)
    assert np.array_equal(predicted, ranker.rank(X, 1)[:, 0])
    assert ranker.score(X, NAMES) == accuracy_score(NAMES, predicted)
    assert ranker.score(X, NAMES) > 0.8


def test_two_classes_have_one_score() -> None:
    some = NAMES != "setosa"
    ranker = LabelRanker().fit(X[some], NAMES[some])
    scores = ranker.decision_function(X[some])
    assert scores.shape == (100,)
    assert np.array_equal(ranker.predict(X[some]), ranker.classes_[(scores > 0).astype(int)])


def test_several_labels_per_row_make_an_indicator() -> None:
    ranker = LabelRanker().fit(MULTI_X, MULTI_Y)
    scores, predicted = ranker.decision_function(MULTI_X), ranker.predict(MULTI_X)
    assert ranker.classes_.tolist() == [0, 1, 2, 3, 4, 5]
    assert predicted.shape == MULTI_Y.shape
    assert set(np.unique(predicted)) <= {0, 1}
    assert np.array_equal(predicted, scores >= ranker.cutoff_)
    expected = label_ranking_average_precision_score(MULTI_Y, scores)
    assert ranker.score(MULTI_X, MULTI_Y) == pytest.approx(expected, rel=1e-12)
    assert expected > 0.8


def test_score_accepts_all_forms_of_targets_and_weights() -> None:
    ranker = LabelRanker().fit(MULTI_X, MULTI_Y)
    expected = ranker.score(MULTI_X, MULTI_Y)
    assert ranker.score(MULTI_X, sp.csr_array(MULTI_Y)) == expected
    assert ranker.score(MULTI_X, [np.flatnonzero(row).tolist() for row in MULTI_Y]) == expected
    weights = np.random.default_rng(0).random(len(MULTI_Y))
    scores = ranker.decision_function(MULTI_X)
    assert ranker.score(MULTI_X, MULTI_Y, weights) == pytest.approx(
        label_ranking_average_precision_score(MULTI_Y, scores, sample_weight=weights), rel=1e-12
    )


def test_an_unknown_label_cannot_be_scored() -> None:
    ranker = LabelRanker().partial_fit(np.eye(2), [["a"], ["b"]], "grow")
    with pytest.raises(ValueError, match="'never seen'"):
        ranker.score(np.eye(2), [["a"], ["never seen"]])


def test_in_a_pipeline_of_text() -> None:
    texts = ["the invoice is due", "flight to rome", "pay the invoice", "rome by train"] * 10
    labels = ["money", "travel", "money", "travel"] * 10
    pipeline = make_pipeline(CountVectorizer(), LabelRanker()).fit(texts, labels)
    assert pipeline.predict(["an invoice", "a train"]).tolist() == ["money", "travel"]
    assert pipeline.score(texts, labels) == 1.0


def test_in_a_pipeline_of_numbers() -> None:
    pipeline = make_pipeline(StandardScaler(), LabelRanker(normalize=False)).fit(FRAME, NAMES)
    assert pipeline.score(FRAME, NAMES) > 0.85


@pytest.mark.parametrize(("data", "targets"), [(X, NAMES), (MULTI_X, MULTI_Y)])
def test_in_a_grid_search(data: Any, targets: Any) -> None:
    grid = {"C": [1.0, 10.0], "update": ["single", "smooth"], "average": ["auto", False]}
    search = GridSearchCV(LabelRanker(), grid, cv=KFold(3)).fit(data, targets)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.6
    assert search.predict(data).shape == targets.shape


@pytest.mark.parametrize(("data", "targets"), [(X, NAMES), (MULTI_X, MULTI_Y)])
def test_in_cross_validation(data: Any, targets: Any) -> None:
    scores = cross_val_score(LabelRanker(), data, targets, cv=KFold(4))
    assert scores.shape == (4,)
    assert scores.mean() > 0.6


def test_inside_another_estimator() -> None:
    several = OneVsRestClassifier(LabelRanker()).fit(X, NAMES)
    assert several.score(X, NAMES) > 0.6


def test_frames_set_names_of_features_and_labels() -> None:
    labels = [f"tag-{i}" for i in range(6)]
    columns = [f"word-{i}" for i in range(30)]
    frame, targets = pd.DataFrame(MULTI_X, columns=columns), pd.DataFrame(MULTI_Y, columns=labels)
    ranker = LabelRanker().fit(frame, targets)
    assert ranker.feature_names_in_.tolist() == columns
    assert ranker.n_features_in_ == 30
    assert ranker.classes_.tolist() == labels
    plain = LabelRanker().fit(MULTI_X, MULTI_Y)
    assert ranker.decision_function(frame).tobytes() == plain.decision_function(MULTI_X).tobytes()
    assert ranker.rank_one(frame.iloc[0].to_dict()) == ranker.rank(frame.iloc[:1])[0].tolist()


def test_frames_with_other_columns_raise() -> None:
    ranker = LabelRanker().fit(FRAME, NAMES)
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(FRAME.rename(columns={FRAME.columns[0]: "other"}))
    with pytest.raises(ValueError, match="feature names"):
        ranker.partial_fit(FRAME[FRAME.columns[::-1]], NAMES)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        ranker.predict(X)


def test_a_series_of_labels() -> None:
    series = pd.Series(NAMES, index=FRAME.index)
    assert LabelRanker().fit(FRAME, series).score(FRAME, series) > 0.6


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_arrays_and_matrices(kind: Any) -> None:
    dense = LabelRanker().fit(MULTI_X, MULTI_Y)
    sparse = LabelRanker().fit(kind(MULTI_X), kind(MULTI_Y))
    expected = dense.decision_function(MULTI_X).tobytes()
    assert sparse.decision_function(kind(MULTI_X)).tobytes() == expected
    assert sparse.score(kind(MULTI_X), kind(MULTI_Y)) == dense.score(MULTI_X, MULTI_Y)


def test_parameters_are_stored_unchanged() -> None:
    parameters = LabelRanker().get_params()
    changed = {**parameters, "C": 3, "update": "optimal", "solver": "interior-point", "margin": 2.0}
    ranker = LabelRanker(**changed)
    assert ranker.get_params() == changed
    assert clone(ranker).get_params() == changed
    ranker.fit(MULTI_X, MULTI_Y)
    assert ranker.get_params() == changed
    assert LabelRanker().set_params(**changed).get_params() == changed


def test_repr_shows_the_parameters_that_differ_from_the_defaults() -> None:
    assert repr(LabelRanker()) == "LabelRanker()"
    assert repr(LabelRanker(C=3, update="single")) == "LabelRanker(C=3, update='single')"


@pytest.mark.parametrize("call", ["decision_function", "predict", "rank"])
def test_predicting_before_fitting_raises(call: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(LabelRanker(), call)(MULTI_X)
    with pytest.raises(NotFittedError, match="rank_one"):
        getattr(LabelRanker().learn_one(([0], [1.0]), "a"), call)(MULTI_X)
    for name in ("classes_", "coef_", "certificate_", "cutoff_", "n_features_in_"):
        assert not hasattr(LabelRanker(), name)


def test_scores_are_products_with_the_weights() -> None:
    ranker = LabelRanker(constant=0, dtype="float64").fit(MULTI_X, MULTI_Y)
    rows = MULTI_X / np.linalg.norm(MULTI_X, axis=1, keepdims=True)
    assert ranker.coef_.shape == (6, 30)
    np.testing.assert_allclose(rows @ ranker.coef_.T, ranker.decision_function(MULTI_X), rtol=1e-9)


def test_large_weights_are_sparse() -> None:
    ranker = LabelRanker(constant=0).add_labels(["a", "b"]).learn_one(([2**31 - 1], [1.0]), "a")
    coef = ranker.coef_
    assert sp.issparse(coef)
    assert coef.shape == (2, 2**31)
    assert coef.nnz == 2


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.parametrize("values", [[5, 5, 5], [1, 1, 1], [0, 1, 1], ["a", "a", "b"]])
def test_a_column_of_labels_is_one_label_per_row(values: list[Any]) -> None:
    column, flat = np.array(values)[:, None], np.array(values)
    found, expected = LabelRanker().fit(np.eye(3), column), LabelRanker().fit(np.eye(3), flat)
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert found.predict(np.eye(3)).tolist() == expected.predict(np.eye(3)).tolist()
