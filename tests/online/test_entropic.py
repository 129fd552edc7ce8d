"""The entropic geometry: growing simplices, large values, drift."""

from typing import Any, get_args

import numpy as np
import pytest
from scipy import sparse

from tagalong import LabelRanker
from tests.online.steps import ranker_at
from tests.online.streams import UPDATES, Item, Kind, assert_sound, feed, random_stream
from tests.reference.convex import primal_minimum
from tests.reference.naive import Update
from tests.weights import dense_coef

KINDS: tuple[Kind, ...] = get_args(Kind)
OPTIMAL_ROUNDS = {"optimal": 24}
"""Rounds of a stream for the rule whose rounds take as long as hundreds of the others'."""
ENTROPIC_UPDATES = [update for update in UPDATES if update != "simopt"]


def make(update: Update = "optimal", **options: Any) -> LabelRanker:
    settings: dict[str, Any] = {"C": 1.0, "margin": 0.3, "temperature": 0.1, "constant": 0.0}
    others = {"normalize": False, "dtype": "float64"}
    return LabelRanker(update, "entropic", **(settings | others | options))


def learn_one_by_one(ranker: LabelRanker, items: list[Item]) -> None:
    """Learn single examples, so that features appear when an example first has them."""
    for item in items:
        present = np.flatnonzero(item.x)
        ranker.learn_one((present, item.x[present]), item.relevant, item.unknown)


def widening_stream(seed: int, rounds: int, n: int, n_labels: int) -> list[Item]:
    """A stream whose round t has features up to t only."""
    stream = random_stream(seed, rounds, n, n_labels)
    return [
        item._replace(x=np.where(np.arange(n) <= t, item.x + 0.1, 0.0))
        for t, item in enumerate(stream)
    ]


class TestGrowth:
    def test_each_new_feature_joins_the_simplex(self) -> None:
        ranker = make().add_labels(list("ab"))
        sizes = []
        for features in ([0, 3], [3], [3, 8, 9], [0, 9]):
            ranker.learn_one((features, np.ones(len(features))), "a")
            sizes.append(ranker._native.state()["numbers"]["dimension"])
        assert sizes == [2, 2, 4, 4]

    def test_a_new_feature_starts_where_the_others_did(self) -> None:
        """Theta is 0, so its weight equals that of features without updates."""
        ranker = make("single").add_labels(list("ab"))
        ranker.learn_one(([0, 1], [1.0, 0.0]), "a")
        ranker.learn_one(([0, 1, 2], [1.0, 0.0, 0.0]), "a")
        ranker.learn_one(([0, 1, 2], [1.0, 1e-12, 1e-12]), "a")
        weights = dense_coef(ranker)
        np.testing.assert_allclose(weights[:, 1], weights[:, 2], rtol=1e-9)

    @pytest.mark.parametrize("update", ENTROPIC_UPDATES)
    @pytest.mark.parametrize("seed", range(3))
    def test_dual_stays_below_the_minimum(self, update: Update, seed: int) -> None:
        """As n grows, the dual is that of the larger problem: still a lower bound."""
        pytest.importorskip("clarabel")
        n, n_labels = 5, 3
        items = widening_stream(seed, 8, n, n_labels)
        ranker = make(update).add_labels(range(n_labels))
        for t, item in enumerate(items):
            learn_one_by_one(ranker, [item])
            seen = min(t + 1, n)
            minimum = primal_minimum(
                [other.x[:seen] for other in items[: t + 1]],
                [other.relevant for other in items[: t + 1]],
                n_labels=n_labels,
                geometry="entropic",
                C=1.0,
                margin=0.3,
                smooth=update == "smooth",
                temperature=0.1,
                unknown=[other.unknown for other in items[: t + 1]],
            )
            certificate = ranker.certificate_
            assert certificate.dual <= minimum + 1e-7 * (1.0 + minimum)
            assert certificate.dual == pytest.approx(
                ranker._native.recompute_dual(), rel=1e-9, abs=1e-12
            )

    def test_features_that_never_appeared_have_no_weight(self) -> None:
        """Ids that no example had belong to no simplex: coef_ is 0 there."""
        ranker = make("single").add_labels(list("ab"))
        ranker.learn_one(([1, 5], [1.0, 0.5]), "a")
        scores = [ranker._native.score_one(np.array([j]), np.ones(1))[0] for j in range(6)]
        np.testing.assert_allclose(dense_coef(ranker), np.array(scores).T, rtol=1e-12)
        np.testing.assert_allclose(dense_coef(ranker).sum(axis=1), 1.0)


class TestDeclaredFeatures:
    @pytest.mark.parametrize("n", [1, 4, 1000])
    def test_start_is_uniform(self, n: int) -> None:
        ranker = make(n_features=n).add_labels(list("abc"))
        scores, _ = ranker._native.score_one(np.array([0]), np.ones(1))
        np.testing.assert_allclose(scores, 1 / n)

    def test_new_features_do_not_change_n(self) -> None:
        ranker = make(n_features=6).add_labels(list("ab"))
        ranker.learn_one(([0, 4], [1.0, 1.0]), "a")
        assert ranker._native.state()["numbers"]["dimension"] == 6
        # Features without updates have equal weights.
        scores = [ranker._native.score_one(np.array([j]), np.ones(1))[0] for j in (1, 2, 3, 5)]
        assert np.ptp(scores, axis=0).max() < 1e-15

    def test_coef_has_all_declared_features(self) -> None:
        ranker = make(n_features=6).add_labels(list("ab"))
        ranker.learn_one(([0, 2], [1.0, 1.0]), "a")
        assert dense_coef(ranker).shape == (2, 6)
        np.testing.assert_allclose(dense_coef(ranker).sum(axis=1), 1.0)

    def test_features_beyond_n_features_raise(self) -> None:
        ranker = make(n_features=6).add_labels(list("ab"))
        with pytest.raises(ValueError, match="n_features=6"):
            ranker.learn_one(([0, 6], [1.0, 1.0]), "a")
        assert ranker.certificate_.rounds == 0

    def test_a_matrix_declares_its_columns(self) -> None:
        items = random_stream(0, 30, 7, 4)
        by_matrix, declared = make(), make(n_features=7).add_labels(range(4))
        feed(by_matrix, items, 4)
        learn_one_by_one(declared, items)
        assert declared.certificate_ == by_matrix.certificate_


class TestNewLabels:
    def test_start_uniform(self) -> None:
        ranker = make()
        feed(ranker, random_stream(1, 40, 6, 3), 3)
        before = dense_coef(ranker)
        ranker.add_labels(["new"])
        np.testing.assert_array_equal(dense_coef(ranker)[:3], before)
        np.testing.assert_allclose(dense_coef(ranker)[3], 1 / 6)

    def test_do_not_change_the_dual(self) -> None:
        """F of uniform weights is 0, and earlier rounds had no pair with the label."""
        ranker = make()
        feed(ranker, random_stream(1, 40, 6, 3), 3)
        before = ranker.certificate_.dual
        ranker.add_labels(["new"])
        assert ranker.certificate_.dual == pytest.approx(before, rel=1e-14)
        assert ranker._native.recompute_dual() == pytest.approx(before, rel=1e-12)

    def test_join_the_pairs(self) -> None:
        """One exact step puts a new label above the others, by the margin."""
        ranker = make(C=10.0, n_features=3).add_labels(list("ab"))
        for label in "abab":
            ranker.learn_one(([0, 1], [1.0, 0.5]), label)
        ranker.add_labels(list("c")).learn_one(([0, 1], [1.0, 0.5]), "c")
        scores, _ = ranker._native.score_one(np.array([0, 1]), np.array([1.0, 0.5]))
        assert scores[2] - max(scores[:2]) == pytest.approx(0.3)


@pytest.mark.parametrize("update", ENTROPIC_UPDATES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
class TestStability:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize(("scale", "C"), [(1e3, 1.0), (1.0, 1e3), (1e3, 1e3)])
    def test_large_values(
        self, update: Update, dtype: str, kind: Kind, scale: float, C: float
    ) -> None:
        """Numbers stay finite, the certificate valid and the weights on their simplices."""
        stream = random_stream(2, OPTIMAL_ROUNDS.get(update, 80), 8, 5, kind)
        items = [item._replace(x=scale * item.x) for item in stream]
        ranker = make(update, C=C, dtype=dtype)
        scores = feed(ranker, items, 5)
        assert np.isfinite(scores).all()
        largest = np.abs([item.x for item in items]).max(axis=1, keepdims=True)
        assert (np.abs(scores) <= largest * (1 + 1e-5)).all()
        weights, certificate = dense_coef(ranker), ranker.certificate_
        assert (weights >= 0.0).all()
        precision = 1e-9 if dtype == "float64" else 1e-4
        np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=precision)
        assert np.isfinite(certificate.loss)
        recomputed = ranker._native.recompute_dual()
        assert np.isfinite(recomputed)
        # The complexity may be huge and the dual a small difference of large numbers.
        size = abs(recomputed) + 0.3 * C * len(items)
        assert certificate.dual == pytest.approx(recomputed, abs=precision * size)

    def test_features_that_appear_after_large_steps(self, update: Update, dtype: str) -> None:
        """A new feature has theta = 0 while all others are far below or above."""
        ranker = make(update, C=1e3, margin=2.0, dtype=dtype).add_labels(list("ab"))
        for feature in (0, 0, 1, 2):
            ranker.learn_one(([feature], [1.0]), "a")
            assert np.isfinite(dense_coef(ranker)).all()
            np.testing.assert_allclose(dense_coef(ranker).sum(axis=1), 1.0, rtol=1e-5)
        certificate = ranker.certificate_
        assert certificate.dual == pytest.approx(ranker._native.recompute_dual(), rel=1e-4)

    def test_weights_are_distributions(self, update: Update, dtype: str) -> None:
        ranker = make(update, dtype=dtype, C=5.0)
        for start in range(5):
            feed(ranker, random_stream(start, 40, 9, 5), 5)
            weights = dense_coef(ranker)
            assert (weights >= 0.0).all()
            np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("update", ENTROPIC_UPDATES)
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("density", [0.2, 0.6, 0.95])
@pytest.mark.parametrize("kind", KINDS)
def test_invariants_hold_on_coarse_rows(
    update: Update, C: float, density: float, kind: Kind
) -> None:
    """Values far above 1 saturate the scores."""
    n, n_labels, rows = 15, 6, 2 * OPTIMAL_ROUNDS.get(update, 75)
    for seed, margin in enumerate([0.05, 0.3] * 2):
        rng = np.random.default_rng(seed)
        values = np.ones((rows, n)) if kind == "binary" else rng.normal(size=(rows, n))
        X = 10.0 * values * (rng.random((rows, n)) < density)
        X[:, 0] += 10.0 * ~X.any(axis=1)
        scores = X @ rng.normal(size=(n, n_labels))
        Y = (scores >= np.sort(scores, axis=1)[:, -2:-1]).astype(int)
        ranker, before = make(update, C=C, margin=margin), 0.0
        for start in range(0, len(X), 10):
            ranker.partial_fit(X[start : start + 10], Y[start : start + 10])
            assert_sound(ranker, before, np.abs(X).max())
            before = ranker.certificate_.dual


@pytest.mark.parametrize("update", ["single", "optimal", "smooth"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("distance", [50.0, 150.0, 600.0])
def test_small_weights_can_recover(update: Update, dtype: str, distance: float) -> None:
    """A weight of exp(-distance) is no obstacle: the best step is distance / 3, far below C."""
    theta = np.array([[0.0, 0.0], [0.0, distance]])
    ranker = ranker_at(
        theta, "entropic", update=update, C=1e3, margin=1.0, temperature=0.1, dtype=dtype
    )
    before = ranker.certificate_.dual
    ranker.learn_one(([0, 1], [1.0, -2.0]), [1])
    assert ranker.certificate_.dual > before + 0.1 * distance


def test_smooth_step_between_saturated_labels() -> None:
    """A state after long learning with a large C and a low temperature: the gain is finite."""
    theta = [[-860, -60], [330, -70], [280, -740], [190, 190], [-270, 760], [320, -80]]
    ranker = ranker_at(
        np.array(theta),
        "entropic",
        update="smooth",
        C=530.6935650030808,
        margin=3.983633048355461,
        temperature=0.0013371502554265179,
    )
    before = ranker.certificate_.dual
    ranker.learn_one(([1], [-2.0]), [1, 4])
    assert ranker.certificate_.dual >= before


@pytest.mark.parametrize("update", ["single", "optimal", "smooth"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
def test_drift(update: Update, dtype: str, tolerance: float) -> None:
    """The running normalisers after 20,000 rounds, many times the refresh interval."""
    rng = np.random.default_rng(4)
    n, n_labels, rows = 60, 8, 2000
    X = sparse.csr_array(sparse.random_array((rows, n), density=0.1, rng=rng))
    Y = (X @ rng.normal(size=(n, n_labels)) + rng.normal(size=(rows, n_labels)) > 1.0).astype(int)
    ranker = make(update, dtype=dtype, C=0.5)
    for _ in range(10):
        ranker.partial_fit(X, Y)
    certificate = ranker.certificate_
    assert certificate.rounds == 20_000
    assert certificate.dual == pytest.approx(ranker._native.recompute_dual(), rel=tolerance)
    np.testing.assert_allclose(dense_coef(ranker).sum(axis=1), 1.0, rtol=10 * tolerance)
