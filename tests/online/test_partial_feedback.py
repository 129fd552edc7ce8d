"""Suggestions and feedback: all calls give the same bits, and hidden labels are not used."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import tagalong
from tagalong import PartialFeedbackRanker
from tests.contract.bits import assert_same, learnt, whole
from tests.online.partial_streams import sparse_rows, true_stream
from tests.weights import dense_coef

KINDS: dict[str, dict[str, Any]] = {
    "full": {},
    "full, float32": {"dtype": "float32"},
    "diagonal": {"covariance": "diagonal"},
    "kernel": {"covariance": "kernel"},
    "rbf": {"covariance": "kernel", "kernel": "rbf"},
    "budget": {"max_explore": 1},
    "determinant": {"width": "determinant", "norm_bound": 1.0},
}
every_kind = pytest.mark.parametrize("kind", KINDS)
STREAM = sparse_rows(41, 80, 9, 7)


def make(kind: str, **more: Any) -> PartialFeedbackRanker:
    return PartialFeedbackRanker(**{"max_labels": 3, "exploration": 0.2, **KINDS[kind], **more})


def answered(ranker: PartialFeedbackRanker, x: Any, y: Any) -> list[Any]:
    (shown,) = ranker.suggest(x)
    ranker.feedback(x, [shown], [[label for label in shown if y[label]]])
    return shown.labels


@every_kind
def test_all_ways_to_play_give_the_same_bits(kind: str, tmp_path: Path) -> None:
    played = make(kind)
    lists = played.play(STREAM.X, STREAM.Y)
    asked = make(kind).add_labels(range(7))
    for i, y in enumerate(STREAM.Y):
        assert answered(asked, sp.csr_array(STREAM.X[[i]]), y) == lists.shown[i]
    fitted = make(kind)
    for start in (0, 1, 17):
        stop = {0: 1, 1: 17, 17: 80}[start]
        fitted.partial_fit(STREAM.X[start:stop], STREAM.Y[start:stop])
    single = make(kind, n_features=9).add_labels(range(7))
    for x, y in zip(STREAM.X, STREAM.Y, strict=True):
        single.learn_one((np.flatnonzero(x), x[x != 0]), np.flatnonzero(y))
    resumed = make(kind)
    resumed.play(STREAM.X[:33], STREAM.Y[:33])
    resumed.save(tmp_path / "half.tagalong")
    resumed = pickle.loads(pickle.dumps(tagalong.load(tmp_path / "half.tagalong")))
    resumed.play(STREAM.X[33:], STREAM.Y[33:])
    one = make(kind, n_features=9).add_labels(range(7))
    for x, y in zip(STREAM.X, STREAM.Y, strict=True):
        pair = (np.flatnonzero(x), x[x != 0])
        shown = one.suggest_one(pair)
        one.feedback_one(pair, shown, [label for label in shown if y[label]])
    for other in (asked, fitted, single, resumed, one):
        assert_same(learnt(other), learnt(played))


@every_kind
@pytest.mark.parametrize("update", ["partial", "full"])
def test_nothing_is_learnt_about_labels_that_were_not_shown(kind: str, update: str) -> None:
    """Two streams that differ only in labels not shown give the same bits."""
    first = make(kind, update=update)
    lists = first.play(STREAM.X, STREAM.Y)
    shown = np.zeros(STREAM.Y.shape, dtype=bool)
    for i, row in enumerate(lists.shown):
        shown[i, row] = True
    flips = np.random.default_rng(0).random(shown.shape) < 0.5
    other = np.where(shown, STREAM.Y, np.where(flips, 1 - STREAM.Y, STREAM.Y))
    assert (other != STREAM.Y).sum() > 50
    second = make(kind, update=update)
    again = second.play(STREAM.X, other)
    if update == "full":  # the baseline uses all labels
        assert learnt(first) != learnt(second)
        return
    assert again.shown == lists.shown
    assert_same(learnt(second), learnt(first))
    watched = make(kind)
    watched.watch(STREAM.X, other)
    assert_same(learnt(watched), learnt(first))


@every_kind
def test_suggestions_change_nothing(kind: str) -> None:
    ranker = make(kind).fit(STREAM.X, STREAM.Y)
    before = whole(ranker)
    first = ranker.suggest(STREAM.X)
    second = ranker.suggest(STREAM.X)
    ranker.suggest_one(([3, 100], [1.0, 2.0]))
    assert_same(whole(ranker), before)
    for a, b in zip(first, second, strict=True):
        assert a.labels == b.labels
        assert a.widths.tobytes() == b.widths.tobytes()


def test_feedback_uses_the_current_state() -> None:
    """Late feedback equals showing the lists in the order of the feedback."""
    ranker = make("full").fit(STREAM.X[:40], STREAM.Y[:40])
    rows = [41, 42, 43, 44]
    offers = {i: ranker.suggest(STREAM.X[[i]])[0] for i in rows}
    twin = pickle.loads(pickle.dumps(ranker))
    order = [43, 41, 44, 42]
    for i in order:
        accepted = [label for label in offers[i] if STREAM.Y[i][label]]
        ranker.feedback(STREAM.X[[i]], [offers[i]], [accepted])
    twin.feedback(
        STREAM.X[order],
        [offers[i].labels for i in order],
        [[label for label in offers[i] if STREAM.Y[i][label]] for i in order],
    )
    assert_same(whole(twin), whole(ranker))
    assert ranker.certificate_.rounds == 44


def test_a_new_label_is_shown_next() -> None:
    stream = true_stream(3, 400, 4, 3)
    ranker = PartialFeedbackRanker(max_labels=1, norm_bound=1.0, exploration=0.05)
    ranker.partial_fit(stream.X, [np.flatnonzero(y).tolist() for y in stream.Y], "grow")
    ranker.add_labels(["new"])
    (shown,) = ranker.suggest(stream.X[:1])
    assert shown.labels == ["new"]
    assert shown.explores.all()
    ranker.feedback(stream.X[:1], [shown], [[]])
    ranker.partial_fit(stream.X[1:2], [["newer"]], "grow")
    assert "newer" in ranker.classes_


def test_new_labels_may_appear_in_rows() -> None:
    ranker = PartialFeedbackRanker(max_labels=2)
    played = ranker.play(np.eye(3), [["a"], ["b", "a"], ["c"]], "grow")
    assert played.shown == [[], ["a"], ["a", "b"]]
    assert played.accepted == [[], ["a"], []]
    np.testing.assert_allclose(played.losses, [0.5, 0.5, 0.5 + 0.5 * 1.5])
    np.testing.assert_allclose(played.partial_rank_losses, [0.0, 1.0, 2.0])


def test_labels_of_unknown_relevance_are_not_learnt() -> None:
    Y = STREAM.Y.astype(float)
    Y[:, 2] = np.nan
    ranker = make("full").fit(STREAM.X, Y)
    state = ranker._native.state()["arrays"]
    assert state["updates"][2] == 0
    assert not dense_coef(ranker)[2].any()
    assert state["updates"][[0, 1, 3]].all()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"loss": "hinge"}, "loss must be one of 'square', 'logistic'"),
    ({"radius": 1.5}, "radius must be at most 1 for loss='square'"),
    ({"radius": 0}, "radius must be positive"),
    ({"miss_weight": 1.5}, "miss_weight must be from 0 to 1"),
    ({"delta": 0.4}, "delta must be below 1/e"),
    ({"norm_bound": -1}, "norm_bound must be positive"),
    ({"exploration": -0.1}, "exploration must not be negative"),
    ({"covariance": "banded"}, "covariance must be one of"),
    ({"update": "all"}, "update must be one of 'partial', 'full'"),
    ({"width": "volume"}, "width must be one of 'dimension', 'determinant'"),
    ({"ties": "random"}, "ties must be one of 'width', 'index'"),
    ({"kernel": "rbf"}, "kernel='rbf' is for covariance='kernel' only"),
    ({"covariance": "kernel", "gamma": 2.0}, "gamma=2.0 is for kernel='rbf' only"),
    ({"max_labels": 0}, "max_labels must be at least 1"),
    ({"max_explore": -1}, "max_explore must be at least 0"),
    ({"memory_limit": 0}, "memory_limit must be positive"),
    ({"dtype": "float16"}, "dtype must be one of"),
    ({"normalize": 1}, "normalize must be True or False"),
]


@pytest.mark.parametrize(("parameters", "words"), BAD)
def test_invalid_parameters_raise(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PartialFeedbackRanker(**parameters).fit(STREAM.X, STREAM.Y)


BAD_FEEDBACK: list[tuple[Any, Any, Any, str]] = [
    ([[0.0] * 9], [[0, 9]], [[0]], "row 0: shown label 9 is not in classes_"),
    ([[0.0] * 9], [[0, 1]], [[2]], "row 0: accepted label 2 was not shown"),
    ([[0.0] * 9] * 2, [[0], [1, 1]], [[], []], "row 1: shown has a label twice"),
    ([[0.0] * 9], [[0], [1]], [[0]], "X has 1 rows but shown has 2"),
    ([[0.0] * 9], [[0]], [], "X has 1 rows but accepted has 0"),
    ([[0.0] * 9], ["0"], [[0]], "row 0: shown must be a collection of labels"),
    ([[0.0] * 8], [[0]], [[0]], "8 features"),
    ([[0.0] * 8 + [np.nan]], [[0]], [[0]], "row 0, column 8 is NaN"),
]


@pytest.mark.parametrize(("X", "shown", "accepted", "words"), BAD_FEEDBACK)
def test_invalid_feedback_changes_nothing(X: Any, shown: Any, accepted: Any, words: str) -> None:
    ranker = make("full").fit(STREAM.X, STREAM.Y)
    before = whole(ranker)
    with pytest.raises(ValueError, match=words):
        ranker.feedback(X, shown, accepted)
    assert_same(whole(ranker), before)


def test_suggesting_without_labels_raises() -> None:
    for call in (
        lambda new: new.suggest(STREAM.X),
        lambda new: new.feedback(STREAM.X[:1], [[]], [[]]),
        lambda new: new.suggest_one(([0], [1.0])),
    ):
        with pytest.raises(NotFittedError, match="there are no labels yet: use add_labels"):
            call(PartialFeedbackRanker())


def test_matrices_beyond_the_memory_limit_raise_at_the_start() -> None:
    words = r"covariance='full' would take 6 MB for 7 labels and 320 features"
    small = PartialFeedbackRanker(memory_limit=5e6)
    with pytest.raises(ValueError, match=words):
        small.fit(np.ones((2, 320)), np.ones((2, 7)))
    assert not hasattr(small, "classes_")
    small.set_params(memory_limit=5e7).fit(np.ones((2, 320)), np.ones((2, 7)))
    diagonal = PartialFeedbackRanker(memory_limit=5e6, covariance="diagonal")
    diagonal.fit(np.ones((2, 320)), np.ones((2, 7)))
    with pytest.raises(ValueError, match="20 labels and 320 features"):
        PartialFeedbackRanker(memory_limit=1.5e7, n_features=320).add_labels(range(20))


@pytest.mark.parametrize("covariance", ["full", "kernel"])
def test_matrices_that_grow_beyond_the_memory_limit_raise(covariance: str) -> None:
    ranker = PartialFeedbackRanker(memory_limit=30_000, covariance=covariance)
    i = 0
    while ranker.learn_one(([i], [1.0]), "a")._native.bytes < 25_000:
        i += 1
    before = whole(ranker)
    crowd = (np.arange(i, i + 400), np.ones(400))
    with pytest.raises(ValueError, match=r"more than memory_limit = 0\.03 MB"):
        ranker.learn_one(crowd, "a")
    assert_same(whole(ranker), before)
    assert ranker._native.bytes <= 30_000


def test_the_text_of_the_bound() -> None:
    stream = true_stream(3, 60, 4, 5)
    ranker = PartialFeedbackRanker(norm_bound=1.0, max_labels=2).fit(stream.X, stream.Y)
    bound = ranker.certificate_
    assert bound.proven
    assert (bound.rounds, bound.shown, bound.probability) == (60, 120, 0.95)
    assert 0 < bound.regret <= 120
    assert "with probability 0.95" in str(bound)
    for more in ({"covariance": "diagonal"}, {"exploration": 0.5}, {"norm_bound": None}):
        settings: dict[str, Any] = {"norm_bound": 1.0, "max_labels": 2, **more}
        other = PartialFeedbackRanker(**settings).fit(stream.X, stream.Y).certificate_
        assert not other.proven
        assert "not proven for" in str(other)


def test_costs_given_as_a_function_survive_a_file(tmp_path: Path) -> None:
    ranker = PartialFeedbackRanker(slot_cost=lambda i, s: 1 / i, max_labels=3)
    ranker.fit(STREAM.X, STREAM.Y)
    ranker.save(tmp_path / "costs.tagalong")
    again = tagalong.load(tmp_path / "costs.tagalong")
    assert again.slot_cost == [[1.0], [1.0, 0.5], [1.0, 0.5, 1 / 3]]
    first, second = ranker.suggest(STREAM.X), again.suggest(STREAM.X)
    assert [row.labels for row in first] == [row.labels for row in second]
