"""With thousands of labels, a row of weights takes less memory than one number per label.

For updates of one pair, a row stores the labels that it has updated. For other updates, labels that
were never relevant share their weights.
"""

import pickle

import numpy as np
import pytest

import tagalong
from benchmarks.scaling import planted
from benchmarks.streams import Stream
from tagalong import LabelRanker

LABELS = 3000


@pytest.fixture(scope="module")
def stream():
    return planted(240, labels=LABELS, nnz=20, features=400)


def rankers(update, average):
    params = {"update": update, "geometry": "adaptive", "average": average, "race": None}
    return LabelRanker(**params), LabelRanker(**params)


def learn(ranker, stream, rows):
    classes = None if hasattr(ranker, "classes_") else stream.labels
    ranker.partial_fit(stream.X[rows], stream.Y[rows], classes=classes)


@pytest.mark.parametrize("update", ["fixed", "single", "optimal", "simproj", "smooth"])
@pytest.mark.parametrize("average", [False, "auto"])
def test_a_resumed_model_has_the_same_bits(stream, tmp_path, update, average):
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


def test_memory_grows_with_the_updated_entries(stream):
    sparse, _ = rankers("single", False)
    learn(sparse, stream, slice(0, 240))
    weights = sparse.weights_by_feature()["weights"]
    assert weights.shape[1] == LABELS
    assert sparse.bytes_of_weights < weights.nbytes / 4
    # Each stored entry takes at most a line of sixteen numbers; each row has its index lists.
    assert sparse.bytes_of_weights < 70 * np.count_nonzero(weights) + 100 * len(weights)


@pytest.mark.parametrize("update", ["single", "optimal", "smooth"])
def test_scores_are_products_with_the_weights(stream, update):
    ranker, _ = rankers(update, False)
    ranker.set_params(constant=0.0)
    learn(ranker, stream, slice(0, 240))
    X = stream.X[:20].toarray()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    expected = X @ np.asarray(ranker.coef_, dtype=np.float64).T
    assert np.allclose(ranker.decision_function(stream.X[:20]), expected, atol=1e-5)
    label, features = stream.labels[7], stream.X[3]
    _, parts, score = ranker.explain_one((features.indices, features.data), label)
    assert parts.sum() == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("update", ["optimal", "simperc", "conproj", "simproj", "simopt", "smooth"])
def test_labels_never_relevant_share_their_weights(stream, update):
    ranker, _ = rankers(update, "auto")
    learn(ranker, stream, slice(0, 240))
    found = ranker.weights_by_feature()
    met = stream.Y.getnnz(axis=0) > 0
    never = found["weights"][:, ~met]
    assert never.shape[1] > LABELS / 2
    assert never.any()
    assert np.array_equal(never, np.broadcast_to(never[:, :1], never.shape))
    # Both planes of the labels seen and of the shared column, with room for half as many again.
    columns = -(-(met.sum() + 1) // 16) * 16
    assert ranker.bytes_of_weights <= 2 * 4 * len(never) * 1.5 * columns


def test_unknown_labels_get_their_own_weights(stream):
    ranker, other = rankers("smooth", "auto")
    learn(ranker, stream, slice(0, 100))
    learn(other, stream, slice(0, 100))
    met = stream.Y.getnnz(axis=0) > 0
    first, second = (stream.labels[i] for i in np.flatnonzero(~met)[:2])
    x = (stream.X[100].indices, stream.X[100].data)
    y = [stream.labels[i] for i in stream.Y[100].indices]
    ranker.learn_one(x, y, unknown=[first])
    scores = dict(zip(stream.labels, ranker.decision_function(stream.X[100])[0], strict=True))
    assert scores[first] > scores[second]


def test_labels_of_mostly_unknown_relevance_keep_sharing(stream):
    """This is the case of feedback on a few shown labels."""
    ranker, _ = rankers("smooth", "auto")
    ranker.add_labels(stream.labels)
    shown: set[str] = set()
    for row in range(20):
        X, Y = stream.X[row], stream.Y[row]
        accepted = [stream.labels[i] for i in Y.indices]
        known = {*accepted, *stream.labels[10 * row : 10 * row + 10]}
        shown |= known
        unknown = [label for label in stream.labels if label not in known]
        ranker.learn_one((X.indices, X.data), accepted, unknown=unknown)
    weights = ranker.weights_by_feature()["weights"]
    assert ranker.bytes_of_weights <= 2 * 4 * len(weights) * 1.5 * (len(shown) + 16)
    never = [label not in shown for label in stream.labels]
    assert not weights[:, never].any()


@pytest.mark.parametrize("update", ["optimal", "smooth"])
def test_labels_with_shared_weights_can_be_merged_and_forgotten(stream, update):
    ranker, _ = rankers(update, "auto")
    learn(ranker, stream, slice(0, 240))
    before = ranker.decision_function(stream.X)
    ranker.forget_labels(stream.labels[:5])
    after = ranker.decision_function(stream.X)
    assert np.array_equal(after, before[:, 5:])
    learn(ranker, Stream(stream.name, stream.X, stream.Y[:, 5:], stream.labels[5:]), slice(0, 50))
    assert np.isfinite(ranker.certificate_.dual)


def test_a_state_without_columns_is_restored(stream):
    """Model files of earlier versions have no columns."""
    ranker, _ = rankers("smooth", "auto")
    learn(ranker, stream, slice(0, 120))
    state = ranker._native.state()
    columns = state["arrays"].pop("columns")
    for plane in ("theta", "means"):
        assert state["arrays"][plane].shape[1] == columns.max() + 1 < LABELS / 2
        state["arrays"][plane] = np.ascontiguousarray(state["arrays"][plane][:, columns])
    native = ranker._make_native(ranker._settings)
    native.restore(state)
    expected = ranker.weights_by_feature()["weights"]
    ranker._native = native
    assert np.array_equal(ranker.weights_by_feature()["weights"], expected)


def test_invalid_columns_raise(stream):
    ranker, _ = rankers("smooth", False)
    learn(ranker, stream, slice(0, 20))
    state = ranker._native.state()
    state["arrays"]["columns"] = np.ones(LABELS, dtype=np.int32)
    with pytest.raises(ValueError, match="columns"):
        ranker._make_native(ranker._settings).restore(state)


@pytest.mark.parametrize("update", ["single", "smooth"])
def test_labels_that_appear_later(stream, update):
    ranker, whole = rankers(update, False)
    learn(ranker, stream, slice(0, 120))
    before = ranker.decision_function(stream.X)
    ranker.add_labels([f"new {i}" for i in range(2000)])
    after = ranker.decision_function(stream.X)
    assert np.array_equal(after[:, :LABELS], before)
    assert not after[:, LABELS:].any()
    if update != "single":
        return  # scores of labels declared at the start would have decreased
    # Labels declared at the start, after the same rounds, have the same scores.
    names = [*stream.labels, *(f"new {i}" for i in range(2000))]
    rows = [[stream.labels[i] for i in stream.Y[row].indices] for row in range(120)]
    whole.partial_fit(stream.X[:120], rows, classes=names)
    assert np.array_equal(whole.decision_function(stream.X), after)
