"""The naive learners of words and their mixture: what makes them good after few texts."""

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong import LabelRanker
from tests.reference import beginnings
from tests.reference.beginnings import (
    ComplementBayes,
    Frequencies,
    Mixture,
    OneVsRest,
    average_precision,
    reciprocal_rank,
)
from tests.reference.geometries import FloatArray

WORDS, LABELS, RARE = 400, 8, 30


def texts(seed: int, count: int) -> list[tuple[beginnings.Words, FloatArray, int]]:
    """Texts of frequent words that say nothing and of a few rare words of their label."""
    rng = np.random.default_rng(seed)
    frequent = WORDS - LABELS * RARE
    out = []
    for _ in range(count):
        label = int(rng.integers(LABELS))
        noise = rng.integers(frequent, size=20)
        own = frequent + label * RARE + rng.integers(RARE, size=3)
        words, counts = np.unique(np.concatenate([noise, own]), return_counts=True)
        out.append((words.astype(np.int64), 1 + np.log(counts), label))
    return out


def share_right(learner: OneVsRest | ComplementBayes, learnt: int, tested: int = 200) -> float:
    frequencies = Frequencies(WORDS)
    learner.add_labels(LABELS)
    stream = texts(1, learnt + tested)
    for words, values, label in stream[:learnt]:
        learner.learn(words, frequencies.scaled(words, values, included=True), [label])
        frequencies.add(words)
    right = 0
    for words, values, label in stream[learnt:]:
        x = frequencies.scaled(words, values, included=True)
        right += int(learner.score(words, x).argmax()) == label
    return right / tested


def share_right_of_ranker(learnt: int, tested: int = 200) -> float:
    stream = texts(1, learnt + tested)
    rows = sp.lil_array((learnt + tested, WORDS))
    for row, (words, values, _) in enumerate(stream):
        rows[row, words] = values
    X, Y = rows.tocsr(), [[label] for _, _, label in stream]
    ranker = LabelRanker(race=None).partial_fit(X[:learnt], Y[:learnt], classes=list(range(LABELS)))
    first = ranker.decision_function(X[learnt:]).argmax(axis=1)
    return float(np.mean(first == np.ravel(Y[learnt:])))


@pytest.mark.parametrize("kind", [OneVsRest, ComplementBayes])
def test_after_few_texts_the_learners_of_words_are_better_than_the_ranker(
    kind: type[OneVsRest] | type[ComplementBayes],
) -> None:
    assert share_right(kind(WORDS, LABELS), 120) > 0.2 + share_right_of_ranker(120)


def test_a_new_label_starts_as_if_it_had_been_irrelevant_from_the_start() -> None:
    early, late = OneVsRest(WORDS, 3), OneVsRest(WORDS, 3)
    early.add_labels(3)
    late.add_labels(2)
    for words, values, label in texts(2, 50):
        x = beginnings.unit(values)
        early.learn(words, x, [label % 2])
        late.learn(words, x, [label % 2])
    late.add_labels(1)
    words, values, _ = texts(3, 1)[0]
    x = beginnings.unit(values)
    np.testing.assert_array_equal(late.score(words, x), early.score(words, x))
    assert late.score(words, x)[2] < -0.5


def test_a_step_minimises_distance_plus_squared_hinge_loss() -> None:
    learner = OneVsRest(WORDS, 2)
    learner.add_labels(2)
    for words, values, label in texts(4, 30):
        learner.learn(words, beginnings.unit(values), [label % 2])
    words, values, _ = texts(5, 1)[0]
    x, weight = beginnings.unit(values), 0.7
    before, S = learner.theta.copy(), learner.S.copy()
    learner.learn(words, x, [1], weight=weight)
    full = np.zeros(WORDS + 1)
    full[words], full[-1] = x, beginnings.CONSTANT

    def objective(theta: FloatArray, label: int) -> float:
        y = 1 if label == 1 else -1
        distance = float(((theta - before[:, 1 + label]) ** 2 / np.sqrt(S)).sum())
        loss = max(0.0, 1 - y * float((full / np.sqrt(S)) @ theta))
        return 0.5 * distance + beginnings.C * weight * loss**2

    rng = np.random.default_rng(0)
    for label in range(2):
        best = objective(learner.theta[:, 1 + label], label)
        for scale in (1e-3, 1e-2, 1e-1):
            moved = learner.theta[:, 1 + label] + scale * rng.normal(size=WORDS + 1)
            assert objective(moved, label) > best


def test_the_mixture_follows_the_better_learner_at_any_scale_and_offset() -> None:
    rng = np.random.default_rng(6)
    mixture = Mixture(2)
    right = 0
    for round_number in range(400):
        label = int(rng.integers(LABELS))
        good = rng.normal(size=LABELS)
        good[label] += 2
        poor = 1e6 * rng.normal(size=LABELS) - 1e9
        right += round_number >= 200 and int(mixture.mix([good, poor]).argmax()) == label
        mixture.observe([good, poor], [label])
    assert mixture.weights[0] > 0.9
    np.testing.assert_allclose(mixture.deviations[1] / mixture.deviations[0], 1e6, rtol=0.5)
    assert right > 100


def test_new_labels_and_the_first_round_count_nothing() -> None:
    mixture = Mixture(3)
    mixture.observe([np.zeros(0)] * 3, [0])
    mixture.observe([np.array([0.1])] * 3, [1])
    np.testing.assert_allclose(mixture.weights, 1 / 3)
    assert mixture.mix([np.array([0.1, 0.2])] * 3).tolist() == [0, 0]


def test_ties_count_against_the_relevant_label() -> None:
    scores = np.array([1.0, 1.0, 0.0])
    assert reciprocal_rank(scores, [0]) == average_precision(scores, [0]) == 0.5
    assert reciprocal_rank(scores, []) == average_precision(scores, []) == 0
    assert average_precision(scores, [1, 2]) == pytest.approx((1 / 2 + 2 / 3) / 2)
