"""With thousands of labels, updates of one pair keep only the labels that rows have touched."""

import pickle

import numpy as np
import pytest

import tagalong
from benchmarks.scaling import planted
from tagalong import LabelRanker

LABELS = 3000


@pytest.fixture(scope="module")
def stream():
    return planted(240, labels=LABELS, nnz=20, features=400)


def rankers(update, average):
    params = {"update": update, "geometry": "adaptive", "average": average}
    return LabelRanker(**params), LabelRanker(**params)


def learn(ranker, stream, rows):
    classes = None if hasattr(ranker, "classes_") else stream.labels
    ranker.partial_fit(stream.X[rows], stream.Y[rows], classes=classes)


@pytest.mark.parametrize("update", ["fixed", "single"])
@pytest.mark.parametrize("average", [False, "auto"])
def test_a_resumed_model_agrees_to_the_bit(stream, tmp_path, update, average):
    through, resumed = rankers(update, average)
    learn(through, stream, slice(0, 240))
    learn(resumed, stream, slice(0, 120))
    resumed.save(tmp_path / "half.tagalong")
    resumed = tagalong.load(tmp_path / "half.tagalong")
    size = resumed.bytes_of_weights
    copy = pickle.loads(pickle.dumps(resumed))
    assert copy.bytes_of_weights == size
    learn(resumed, stream, slice(120, 240))
    learn(copy, stream, slice(120, 240))
    expected = through.decision_function(stream.X)
    assert np.array_equal(resumed.decision_function(stream.X), expected)
    assert np.array_equal(copy.decision_function(stream.X), expected)
    assert resumed.certificate_.dual == through.certificate_.dual


def test_weights_take_what_was_touched(stream):
    sparse, _ = rankers("single", False)
    learn(sparse, stream, slice(0, 240))
    weights = sparse.weights_by_feature()["weights"]
    assert weights.shape[1] == LABELS
    assert sparse.bytes_of_weights < weights.nbytes / 4
    # Every number of the matrix has a line of sixteen at most, and a row its lists.
    assert sparse.bytes_of_weights < 70 * np.count_nonzero(weights) + 100 * len(weights)


def test_scores_are_those_of_the_weights(stream):
    ranker, _ = rankers("single", False)
    ranker.set_params(constant=0.0)
    learn(ranker, stream, slice(0, 240))
    X = stream.X[:20].toarray()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    expected = X @ np.asarray(ranker.coef_, dtype=np.float64).T
    assert np.allclose(ranker.decision_function(stream.X[:20]), expected, atol=1e-5)
    label, features = stream.labels[7], stream.X[3]
    _, parts, score = ranker.explain_one((features.indices, features.data), label)
    assert parts.sum() == pytest.approx(score, abs=1e-5)


def test_labels_that_appear_later(stream):
    ranker, whole = rankers("single", False)
    learn(ranker, stream, slice(0, 120))
    before = ranker.decision_function(stream.X)
    ranker.add_labels([f"new {i}" for i in range(2000)])
    after = ranker.decision_function(stream.X)
    assert np.array_equal(after[:, :LABELS], before)
    assert not after[:, LABELS:].any()
    # Declared from the start, with the same rounds: the same scores.
    names = [*stream.labels, *(f"new {i}" for i in range(2000))]
    rows = [[stream.labels[i] for i in stream.Y[row].indices] for row in range(120)]
    whole.partial_fit(stream.X[:120], rows, classes=names)
    assert np.array_equal(whole.decision_function(stream.X), after)
