"""The certificate: an ascending lower bound on the objective, and a bound on the mistakes."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tagalong.learning.certificates.mistake_bound import Certificate, NoBoundWarning
from tests.online.streams import (
    GEOMETRIES,
    MARGINS,
    UPDATES,
    Item,
    Kind,
    assert_sound,
    combinations,
    feed,
    minimum_for,
    random_stream,
    scales,
)
from tests.reference.geometries import FloatArray, Geometry
from tests.reference.naive import Update

BOUNDED: tuple[Update, ...] = ("fixed", "single", "optimal", "simperc", "conproj", "smooth")


def make(geometry: Geometry, update: Update, **options: Any) -> LabelRanker:
    settings: dict[str, Any] = {
        "C": 1.5,
        "margin": MARGINS[geometry],
        "temperature": 0.1,
        "constant": 0.5,
    }
    others = {"average": False, "dtype": "float64"}
    return LabelRanker(update, geometry, **(settings | others | options))


class TestDual:
    @pytest.mark.parametrize(
        ("geometry", "update"), combinations("single", "optimal", "smooth", "conproj", "simproj")
    )
    @pytest.mark.parametrize("C", [0.1, 10.0])
    def test_never_decreases(self, geometry: Geometry, update: Update, C: float) -> None:
        ranker = make(geometry, update, C=C)
        before = 0.0
        for item in random_stream(3, 150, 8, 6, weights=(0.5, 1.0, 2.0)):
            feed(ranker, [item], 6)
            after = ranker.certificate_.dual
            assert after >= before - 1e-12 * (1.0 + before)
            before = after
        assert before > 0.0

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_can_decrease_for_fixed_steps(self, geometry: Geometry) -> None:
        """A step of fixed length can overshoot."""
        ranker = make(geometry, "fixed", C=10.0)
        feed(ranker, random_stream(3, 1, 8, 6), 6)
        assert ranker.certificate_.dual < 0.0

    @pytest.mark.parametrize(("geometry", "update"), combinations(*UPDATES))
    @pytest.mark.parametrize(("seed", "C"), [(0, 0.1), (1, 1.0), (2, 8.0)])
    def test_is_at_most_the_objective_of_fixed_weights(
        self, geometry: Geometry, update: Update, seed: int, C: float
    ) -> None:
        pytest.importorskip("clarabel")
        items = random_stream(seed, 14, 4, 4, weights=(1.0, 0.0, 0.5, 2.0))
        ranker = make(geometry, update, C=C)
        feed(ranker, items, 4)
        minimum = minimum_for(ranker, items, 4)
        assert minimum > 0.0
        assert ranker.certificate_.dual <= minimum + 1e-7 * (1.0 + minimum)

    @pytest.mark.parametrize("geometry", ["euclidean", "entropic"])
    @pytest.mark.parametrize("update", ["optimal", "smooth"])
    def test_can_reach_the_minimum(self, geometry: Geometry, update: Update) -> None:
        """One exact step solves a stream of one round: the lower bound is tight."""
        pytest.importorskip("clarabel")
        items = [Item(np.array([0.5, -2.0, 0.0, 1.0]), [1, 3], [], 1.0)]
        ranker = make(geometry, update)
        feed(ranker, items, 4)
        assert ranker.certificate_.dual == pytest.approx(minimum_for(ranker, items, 4), rel=1e-6)

    @pytest.mark.parametrize(("geometry", "update"), combinations(*UPDATES))
    @pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
    def test_equals_its_recomputation(
        self, geometry: Geometry, update: Update, dtype: str, tolerance: float
    ) -> None:
        ranker = make(geometry, update, dtype=dtype)
        for start in range(4):
            feed(ranker, random_stream(start, 500, 12, 8), 8)
            found = ranker._native.recompute_dual()
            assert ranker.certificate_.dual == pytest.approx(found, rel=tolerance)


@pytest.mark.parametrize(("geometry", "update"), combinations(*UPDATES))
@pytest.mark.parametrize("seed", range(5))
def test_invariants_hold_on_any_stream(geometry: Geometry, update: Update, seed: int) -> None:
    """Invariants hold for parameters and rows over wide ranges."""
    rng = np.random.default_rng(seed)
    rows: Kind = "binary" if seed % 2 else "real"
    scale = 10 ** rng.uniform(-1, 1)
    items = [
        item._replace(x=scale * item.x)
        for item in random_stream(seed, 120, int(rng.integers(1, 15)), 6, rows, (1.0, 0.3, 2.0))
    ]
    ranker = make(
        geometry,
        update,
        C=10 ** rng.uniform(-2, 2),
        margin=10 ** rng.uniform(-1.5, 0.5),
        temperature=10 ** rng.uniform(-2, 0),
        constant=float(rng.choice([0.0, 0.5])),
        normalize=False,
    )
    largest = max(np.abs(item.x).max() for item in items)
    before = 0.0
    for start in range(0, len(items), 3):
        feed(ranker, items[start : start + 3], 6)
        assert_sound(ranker, before, largest)
        before = ranker.certificate_.dual


@cache
def separable_stream(seed: int, rounds: int) -> tuple[list[Item], FloatArray]:
    """A stream and weights (K, n) that rank it with a margin of one, and no constant feature.

    Label y has its own feature y, which is 1 in the rows where it is relevant and 0 elsewhere;
    further features are noise. Unit vectors as weights rank such rows, whatever the geometry.
    """
    rng = np.random.default_rng(seed)
    n_labels, noise = 3, 2
    items = []
    for _ in range(rounds):
        relevant = rng.permutation(n_labels)[: rng.integers(1, n_labels)].tolist()
        present = np.isin(np.arange(n_labels), relevant).astype(np.float64)
        others = rng.integers(0, 2, size=noise).astype(np.float64)
        items.append(Item(np.concatenate([present, others]), relevant, [], 1.0))
    return items, np.eye(n_labels, n_labels + noise)


def complexity(ranker: LabelRanker, W: FloatArray) -> float:
    """F(w) as in the docstring of `Certificate.bound`."""
    if ranker.geometry == "entropic":
        logs = np.log(W.shape[1] * W, out=np.zeros_like(W), where=W > 0)
        return float(np.sum(W * logs))
    adaptive = ranker.geometry == "adaptive"
    S = scales(ranker, W.shape[1], constant=False) if adaptive else np.ones(W.shape[1])
    return float(0.5 * np.sum(np.sqrt(S) * W**2))


def competitor_loss(ranker: LabelRanker, W: FloatArray, items: Sequence[Item]) -> float:
    """Loss of fixed weights on a stream: the ranker's own loss, hinge or smooth."""
    certificate = ranker.certificate_

    def loss_of(item: Item) -> float:
        scores = W @ item.x
        others = np.delete(scores, item.relevant)
        shortfalls = certificate.margin - (scores[item.relevant][:, None] - others)
        if ranker.update == "smooth":
            T = certificate.temperature
            return float(T * np.logaddexp.reduce([0.0, *(shortfalls / T).ravel()]))
        return max(0.0, float(shortfalls.max()))

    # The same rows repeat.
    known: dict[tuple[bytes, ...], float] = {}
    total = 0.0
    for item in items:
        key = item.x.tobytes(), bytes(item.relevant)
        if key not in known:
            known[key] = loss_of(item)
        total += item.weight * known[key]
    return total


class TestBound:
    @pytest.mark.parametrize(("geometry", "update"), combinations(*BOUNDED))
    @pytest.mark.parametrize("seed", range(2))
    def test_holds_if_a_learner_without_updates_exceeds_it(
        self, seed: int, geometry: Geometry, update: Update
    ) -> None:
        """Without updates every round is a tie, hence a mistake, and the bound is exceeded."""
        items, W = separable_stream(seed, 4000)
        W = W if geometry == "entropic" else 1.25 * W
        C = 0.05 if update in {"fixed", "simperc"} else 1.0
        ranker = make(geometry, update, C=C, constant=0.0, normalize=False, temperature=0.02)
        feed(ranker, items, 3)
        certificate = ranker.certificate_
        loss = competitor_loss(ranker, W, items)
        bound = certificate.bound(complexity(ranker, W), loss)
        assert 0 < certificate.mistakes <= bound
        assert bound < certificate.rounds == len(items)
        assert certificate.mistakes * certificate.gain_per_mistake <= certificate.dual
        assert certificate.dual <= complexity(ranker, W) + C * loss

    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_initial_weights_tie(self, geometry: Geometry) -> None:
        """The initial weights tie in every round, as the test above assumes."""
        items, _ = separable_stream(0, 20)
        ranker = make(geometry, "single", constant=0.0, n_features=5).add_labels(range(3))
        for item in items:
            scores, _ = ranker._native.score_one(np.arange(5), item.x)
            assert len(set(scores.tolist())) == 1

    @pytest.mark.parametrize(("geometry", "update"), combinations(*BOUNDED))
    def test_holds_on_noisy_weighted_streams(self, geometry: Geometry, update: Update) -> None:
        """Weights scale the competitor's losses; the smallest one limits the gain."""
        items, W = separable_stream(7, 300)
        rng = np.random.default_rng(7)
        noisy = [
            item._replace(
                relevant=[int(rng.integers(3))] if rng.random() < 0.1 else item.relevant,
                weight=float(rng.choice([0.5, 1.0, 2.0])),
            )
            for item in items
        ]
        C = 0.05 if update in {"fixed", "simperc"} else 1.0
        ranker = make(geometry, update, C=C, constant=0.0, normalize=False)
        feed(ranker, noisy, 3)
        certificate = ranker.certificate_
        assert (certificate.least_weight, certificate.most_weight) == (0.5, 2.0)
        loss = competitor_loss(ranker, W, noisy)
        assert certificate.mistakes <= certificate.bound(complexity(ranker, W), loss)
        assert certificate.dual <= complexity(ranker, W) + C * loss

    def test_smooth_needs_the_smooth_loss(self) -> None:
        """The dual of the smooth loss exceeds the minimum of the hinge objective."""
        items, W = separable_stream(1, 400)
        ranker = make("euclidean", "smooth", C=1.0, constant=0.0, normalize=False, temperature=0.5)
        feed(ranker, items, 3)
        F, dual = complexity(ranker, W), ranker.certificate_.dual
        hinge = sum(
            max(0.0, 1.0 - (np.min((W @ x)[y]) - np.max(np.delete(W @ x, y))))
            for x, y, _, _ in items
        )
        assert hinge == 0.0
        assert F + hinge < dual <= F + competitor_loss(ranker, W, items)

    @pytest.mark.parametrize("update", BOUNDED)
    def test_gain_per_mistake(self, update: Update) -> None:
        """It is gamma c - B c² at the worst weight; c is C, or the best step min(C, gamma/2B)."""
        facts: dict[str, Any] = {
            "rounds": 9,
            "mistakes": 4,
            "loss": 3.0,
            "dual": 0.1,
            "curvature": 2.0,
        }
        kind: dict[str, Any] = {
            "update": update,
            "geometry": "euclidean",
            "margin": 1.0,
            "temperature": 0.1,
        }
        plain = Certificate(**facts, **kind, C=0.1)
        assert plain.gain_per_mistake == pytest.approx(0.1 - 2 * 0.1**2)
        assert plain.bound(2.0, 3.0) == pytest.approx((2.0 + 0.1 * 3.0) / 0.08)
        weighted = Certificate(**facts, **kind, C=0.1, least_weight=0.5, most_weight=4.0)
        assert weighted.gain_per_mistake == pytest.approx(0.05 - 2 * 0.05**2)
        large = Certificate(**facts, **kind, C=50.0)
        chosen = update not in {"fixed", "simperc"}
        assert large.gain_per_mistake == pytest.approx(1 / 8 if chosen else 50 - 2 * 50**2)

    @pytest.mark.parametrize("update", ["simproj", "simopt"])
    def test_no_bound(self, update: Update) -> None:
        ranker = make("euclidean", update)
        feed(ranker, random_stream(0, 5, 4, 4), 4)
        with pytest.warns(NoBoundWarning, match=f"{update}.*has no mistake bound"):
            assert ranker.certificate_.bound(1.0, 0.0) == math.inf

    @pytest.mark.parametrize("update", ["fixed", "simperc"])
    @pytest.mark.parametrize("geometry", GEOMETRIES)
    def test_no_bound_for_too_large_a_step(self, geometry: Geometry, update: Update) -> None:
        """The limit is margin / curvature; sample weights count."""
        items = random_stream(0, 20, 4, 4)
        probe = make(geometry, update)
        feed(probe, items, 4)
        # The adaptive geometry's curvature depends on the updates, and is largest at the start.
        limit = MARGINS[geometry] / probe.certificate_.curvature
        too_large, small_enough = (make(geometry, update, C=f * limit) for f in (1.01, 0.99))
        feed(too_large, items, 4)
        feed(small_enough, items, 4)
        with pytest.warns(NoBoundWarning, match="only while C"):
            assert too_large.certificate_.bound(1.0, 0.0) == math.inf
        assert small_enough.certificate_.bound(1.0, 0.0) < math.inf
        feed(small_enough, [items[0]._replace(weight=1.1)], 4)
        with pytest.warns(NoBoundWarning, match="largest sample weight"):
            assert small_enough.certificate_.bound(1.0, 0.0) == math.inf

    def test_negative_arguments(self) -> None:
        certificate = make("euclidean", "single").add_labels(list("ab")).certificate_
        for arguments in [(-1.0, 0.0), (1.0, -0.5)]:
            with pytest.raises(ValueError, match="must not be negative"):
                certificate.bound(*arguments)


class TestText:
    def test_before_the_first_round(self) -> None:
        assert (
            str(make("euclidean", "single").add_labels(list("ab")).certificate_) == "no rounds yet"
        )

    def test_after_some_rounds(self) -> None:
        ranker = make("euclidean", "single", constant=0.0, C=10.0).add_labels(list("ab"))
        for label in "aab":
            ranker.learn_one(([0], [1.0]), label)
        text = str(ranker.certificate_)
        assert text.startswith("2 mistakes in 3 rounds (66.7%), loss 3; ")
        assert text.endswith("complexity + C * loss below 1.25")
