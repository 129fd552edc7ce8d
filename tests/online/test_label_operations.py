"""Merging and forgetting labels, and pruning features, in the native core."""

import numpy as np
import pytest
from sklearn.base import clone

from tagalong import LabelRanker, PartialFeedbackRanker, Predtron, SharedLabelRanker
from tests.contract.bits import native_of
from tests.contract.stream import N_FEATURES, make_stream

STREAM = make_stream()
NAMES = [f"label-{y}" for y in range(STREAM.Y.shape[1])]
RANKERS = {
    "euclidean": LabelRanker("optimal", "euclidean", average=False, dtype="float64"),
    "adaptive": LabelRanker("smooth", "adaptive", average=True, dtype="float64"),
    "adaptive-float32": LabelRanker("smooth", "adaptive", race=None),
    "few labels": LabelRanker("single", "euclidean", average=False),
    "predtron": Predtron("label-ranking", step=0.5, average=True),
    "predtron-l1": Predtron("label-ranking", norm="l1", step=0.5, n_features=N_FEATURES),
    "predtron-group": Predtron("label-ranking", norm="group", step=0.5, n_features=N_FEATURES),
}
ENTROPIC = LabelRanker("optimal", "entropic", n_features=N_FEATURES, dtype="float64")


def trained(ranker):
    return clone(ranker).partial_fit(STREAM.X, STREAM.Y, classes=NAMES)


def theta(ranker):
    """The dual vectors, (features, labels); merging sums them."""
    state = native_of(ranker).state()["arrays"]
    return state["theta"][:, state["columns"]] if "columns" in state else state["theta"]


def dual_is_right(ranker):
    expected = native_of(ranker).recompute_dual()
    assert ranker.certificate_.dual == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("kind", RANKERS)
def test_forgetting_labels_keeps_the_others_unchanged(kind):
    ranker = trained(RANKERS[kind])
    before = theta(ranker)
    ranker.forget_labels(["label-3", "label-7"])
    kept = [y for y in range(len(NAMES)) if y not in (3, 7)]
    assert ranker.classes_.tolist() == [NAMES[y] for y in kept]
    assert theta(ranker).tobytes() == np.ascontiguousarray(before[:, kept]).tobytes()


@pytest.mark.parametrize("kind", RANKERS)
def test_a_merged_label_has_the_sum_of_the_dual_vectors(kind):
    ranker = trained(RANKERS[kind])
    before = theta(ranker).astype(np.float64)
    assert ranker.merge_labels(["label-5", "label-2"], "label-9") == [2, 5, 9]
    assert ranker.classes_.tolist() == [
        "label-9" if y == 2 else NAMES[y] for y in range(len(NAMES)) if y not in (5, 9)
    ]
    expected = before[:, 2] + before[:, 5] + before[:, 9]
    assert all(
        np.abs(before[:, y]).max() > 0.01 for y in (2, 5, 9)
    )  # so that a missing part changes the sum
    np.testing.assert_allclose(theta(ranker)[:, 2], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", RANKERS)
def test_pruning_removes_features_and_keeps_the_others(kind):
    ranker = trained(RANKERS[kind])
    features, lengths = ranker.feature_lengths()
    before, kept = theta(ranker), lengths >= np.median(lengths)
    ranker.keep_features(kept)
    assert ranker.feature_lengths()[0].tolist() == features[kept].tolist()
    assert theta(ranker).tobytes() == np.ascontiguousarray(before[kept]).tobytes()


@pytest.mark.parametrize("kind", ["euclidean", "adaptive", "adaptive-float32", "few labels"])
def test_the_certificate_restarts_and_stays_valid(kind):
    ranker = trained(RANKERS[kind])
    ranker.merge_labels(["label-5", "label-2"], "label-2")
    ranker.forget_labels(["label-11"])
    assert ranker.certificate_.rounds == 0
    assert ranker.certificate_.dual == pytest.approx(0, abs=1e-9)
    assert f"after {STREAM.X.shape[0]} rounds" in ranker.certificate_.restarted
    for x, labels in zip(STREAM.pairs(), STREAM.sets(), strict=True):
        ranker.learn_one(x, [label for label in labels if label in ranker.labels.number])
    dual_is_right(ranker)


def test_entropic_weights_are_distributions_after_an_edit():
    ranker = trained(ENTROPIC)
    ranker.merge_labels(["label-5", "label-2"], "label-2")
    ranker.forget_labels(["label-0"])
    np.testing.assert_allclose(ranker.coef_.sum(axis=1), 1.0, rtol=1e-12)
    for x, labels in zip(STREAM.pairs(), STREAM.sets(), strict=True):
        ranker.learn_one(x, [label for label in labels if label in ranker.labels.number])
    dual_is_right(ranker)


def test_a_merged_folder_counts_the_messages_of_its_parts():
    ranker = trained(SharedLabelRanker())
    before = native_of(ranker).state()["arrays"]
    ranker.merge_labels(["label-1", "label-4"], "label-1")
    after = native_of(ranker).state()["arrays"]
    assert after["messages"][1] == before["messages"][1] + before["messages"][4]
    expected = before["word_counts"][:, 1] + before["word_counts"][:, 4]
    assert after["word_counts"][:, 1].tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("ranker", "problem"),
    [
        (ENTROPIC, "geometry='entropic' gives every feature a positive weight: none can be pruned"),
        (PartialFeedbackRanker(n_features=N_FEATURES), "its confidence matrices cannot be edited"),
        (Predtron("label-ranking", kernel="rbf"), "can only be changed by learning"),
    ],
    ids=["entropic", "partial", "kernel"],
)
def test_an_unsupported_edit_changes_nothing(ranker, problem):
    ranker = trained(ranker)
    before = ranker.decision_function(STREAM.X)
    with pytest.raises(ValueError, match=problem):
        ranker.keep_features(np.zeros(len(ranker.feature_lengths()[0]), dtype=bool))
    assert ranker.decision_function(STREAM.X).tobytes() == before.tobytes()
    assert not getattr(ranker.certificate_, "restarted", "")


def test_classes_that_share_one_score_cannot_be_edited():
    X, y = STREAM.X.toarray(), STREAM.Y[:, 0] > 0
    classifier = Predtron("binary", step=0.5).fit(X, y)
    before = classifier.decision_function(X)
    with pytest.raises(ValueError, match="share one score"):
        classifier.forget_labels([True])
    assert classifier.decision_function(X).tobytes() == before.tobytes()


def test_subset_ranking_can_be_pruned():
    ranker = Predtron("subset-ranking", step=0.5)
    ranker.fit(STREAM.X.toarray(), STREAM.Y[:, :3].sum(axis=1), group=[10] * 9)
    features, lengths = ranker.feature_lengths()
    kept = lengths >= np.median(lengths)
    before = ranker.coef_
    ranker.keep_features(kept)
    assert ranker.feature_lengths()[0].tolist() == features[kept].tolist()
    assert ranker.coef_[features[kept]].tolist() == before[features[kept]].tolist()
    assert "features were pruned" in ranker.certificate_.restarted


def test_the_core_rejects_unknown_labels_and_rows():
    native = trained(RANKERS["euclidean"])._native
    with pytest.raises(ValueError, match="there is no label number 99"):
        native.select_labels([[0], [99]])
    with pytest.raises(ValueError, match="kept must have one entry per feature"):
        native.select_features([True])
    assert native.labels == len(NAMES)
