"""Tests of the reference implementations: by hand, by optimality conditions, by duality."""

from typing import NamedTuple, get_args

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.reference import exact, rules
from tests.reference.convex import primal_minimum, round_optimum, surrogate_optimum
from tests.reference.geometries import EntropicLine, FloatArray, Geometry, QuadraticLine
from tests.reference.naive import RULES, NaiveLabelRanker, Update
from tests.reference.rules import Round

GEOMETRIES: tuple[Geometry, ...] = get_args(Geometry)
MARGINS: dict[Geometry, float] = {"euclidean": 1.0, "adaptive": 1.0, "entropic": 0.3}


def learners_with(*updates: Update) -> pytest.MarkDecorator:
    """Run a test for every geometry that has these updates."""
    combinations = [
        (geometry, update)
        for geometry in GEOMETRIES
        for update in updates
        if (geometry, update) != ("entropic", "simopt")
    ]
    return pytest.mark.parametrize(("geometry", "update"), combinations)


all_learners = learners_with(*RULES)


class Item(NamedTuple):
    x: FloatArray
    relevant: list[int]
    unknown: list[int]
    weight: float


def random_stream(seed: int, rounds: int = 12, n: int = 4, n_labels: int = 4) -> list[Item]:
    """Random items: rows with zeros, label sets from empty to full, unknown labels, weights."""
    rng = np.random.default_rng(seed)
    stream = []
    for _ in range(rounds):
        x = rng.normal(size=n) * (rng.random(n) < 0.8)
        unknown = [y for y in range(n_labels) if rng.random() < 0.1]
        relevant = [y for y in range(n_labels) if rng.random() < 0.45 and y not in unknown]
        stream.append(Item(x, relevant, unknown, float(rng.choice([0.0, 0.5, 1.0, 2.0]))))
    return stream


def random_round(seed: int, entropic: bool, n_labels: int = 5) -> Round:
    """A round from a random state, with C and temperature from a wide range."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_labels).tolist()
    cut = int(rng.integers(1, n_labels))
    relevant, irrelevant = tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))
    budget, temperature = 10 ** rng.uniform(-1.5, 1.5), 10 ** rng.uniform(-2, 0)
    if entropic:
        x = rng.normal(size=6) if seed % 2 else (rng.random(6) < 0.5).astype(np.float64)
        line = EntropicLine(rng.normal(size=(n_labels, 6)), x)
        return Round(line, relevant, irrelevant, budget, 0.3, temperature)
    scores = np.round(rng.normal(size=n_labels), int(rng.integers(0, 3)))
    quadratic = QuadraticLine(scores, 10 ** rng.uniform(-1, 1))
    return Round(quadratic, relevant, irrelevant, budget, 1.0, temperature)


def slopes(round_: Round, alpha: FloatArray) -> FloatArray:
    return np.array([round_.line.slope(y, a) for y, a in enumerate(alpha)])


def hinge_gain(round_: Round, alpha: FloatArray) -> float:
    """The increase of the dual of the hinge loss by a step."""
    moved = sum(round_.line.value(y, a) for y, a in enumerate(alpha))
    return round_.margin * float(alpha[list(round_.relevant)].sum()) - moved


def smooth_gain(round_: Round, p: FloatArray) -> float:
    """The increase of the dual of the smooth loss by a distribution p over pairs and "none"."""
    step = rules.from_pairs(
        round_.line.n_labels, dict(zip(round_.pairs, round_.budget * p[:-1], strict=True))
    )
    entropy = -float(np.sum(p * np.log(p)))
    return hinge_gain(round_, step.alpha) + round_.budget * round_.temperature * entropy


def smooth_distribution(round_: Round, alpha: FloatArray) -> FloatArray:
    """The distribution over pairs and "none" that follows from the scores after a step."""
    after = slopes(round_, alpha)
    logits = [(round_.margin - after[r] + after[s]) / round_.temperature for r, s in round_.pairs]
    shifted = np.exp(np.array([*logits, 0.0]) - max(*logits, 0.0))
    return np.asarray(shifted / shifted.sum())


class TestByHand:
    """Three labels, one relevant, x = (1, 2) with squared norm 5, all scores zero."""

    x = (1.0, 2.0)

    def learner(self, update: Update, C: float = 10.0) -> NaiveLabelRanker:
        return NaiveLabelRanker(2, 3, update, "euclidean", C, margin=1.0)

    @pytest.mark.parametrize(
        ("update", "C", "expected", "dual"),
        [
            ("fixed", 0.3, [0.3, -0.3, 0.0], 0.3 - 5 * 0.3**2),
            ("single", 10.0, [0.1, -0.1, 0.0], 0.05),
            ("single", 0.04, [0.04, -0.04, 0.0], 0.04 - 5 * 0.04**2),
            # Scores 5m above and -5m/2 below differ by the margin at m = 2/15.
            ("optimal", 10.0, [2 / 15, -1 / 15, -1 / 15], 1 / 15),
            ("optimal", 0.1, [0.1, -0.05, -0.05], 0.1 - 2.5 * (0.1**2 + 2 * 0.05**2)),
            ("simperc", 0.3, [0.3, -0.15, -0.15], 0.3 - 2.5 * (0.3**2 + 2 * 0.15**2)),
            ("conproj", 10.0, [0.1, -0.05, -0.05], 0.1 - 2.5 * (0.1**2 + 2 * 0.05**2)),
            ("simproj", 10.0, [0.1, -0.05, -0.05], 0.1 - 2.5 * (0.1**2 + 2 * 0.05**2)),
            ("simopt", 10.0, [0.2, -0.1, -0.1], 0.2 - 2.5 * (0.2**2 + 2 * 0.1**2)),
            ("simopt", 0.1, [0.1, -0.05, -0.05], 0.1 - 2.5 * (0.1**2 + 2 * 0.05**2)),
        ],
    )
    def test_first_round(
        self, update: Update, C: float, expected: list[float], dual: float
    ) -> None:
        learner = self.learner(update, C)
        alpha = learner.learn(self.x, [0])
        np.testing.assert_allclose(alpha, expected, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(learner.theta, np.outer(expected, self.x), atol=1e-15)
        assert learner.dual == pytest.approx(dual, rel=1e-12)
        assert learner.tau_sum == pytest.approx(expected[0], rel=1e-12)
        assert (learner.rounds, learner.mistakes, learner.loss) == (1, 1, 1.0)
        assert learner.curvature == 5.0

    def test_fixed_learns_on_mistakes_only(self) -> None:
        learner = self.learner("fixed", C=0.02)
        learner.learn(self.x, [0])
        assert not learner.learn(self.x, [0], unknown=[2]).any()
        assert (learner.rounds, learner.mistakes) == (2, 1)
        assert learner.loss == pytest.approx(1.0 + (1.0 - 0.2))

    def test_pair_sets(self) -> None:
        """ConProj averages over mistaken pairs, SimProj over all pairs with a loss."""
        round_ = Round(QuadraticLine(np.array([0.0, 0.5, -0.5, -3.0]), 1.0), (0,), (1, 2, 3), 9, 1)
        np.testing.assert_allclose(rules.conproj(round_).alpha, [0.75, -0.75, 0, 0])
        np.testing.assert_allclose(rules.simproj(round_).alpha, [0.5, -0.375, -0.125, 0])
        np.testing.assert_allclose(rules.simopt(round_).alpha, [1.0, -0.75, -0.25, 0])

    def test_ties_go_to_the_lowest_index(self) -> None:
        round_ = Round(QuadraticLine(np.zeros(4), 1.0), (1, 3), (0, 2), 1.0, 1.0)
        assert round_.worst_pair == (1, 0)

    @pytest.mark.parametrize(("C", "temperature"), [(0.1, 0.1), (10.0, 0.1), (1.0, 2.0)])
    def test_smooth_with_one_pair(self, C: float, temperature: float) -> None:
        """Two labels: log(p / (1 - p)) = (1 - 2 · 5 · C p) / T."""
        learner = NaiveLabelRanker(2, 2, "smooth", "euclidean", C, 1.0, temperature)
        alpha = learner.learn(self.x, [0])
        p = brentq(lambda p: np.log(p / (1 - p)) - (1 - 10 * C * p) / temperature, 1e-12, 1 - 1e-12)
        np.testing.assert_allclose(alpha, [C * p, -C * p], rtol=1e-9)
        entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
        expected = C * p + C * temperature * entropy - 5 * (C * p) ** 2
        assert learner.dual == pytest.approx(expected, rel=1e-9)

    def test_adaptive(self) -> None:
        learner = NaiveLabelRanker(2, 2, "single", "adaptive", 10.0, 1.0, rate=3.0)
        np.testing.assert_allclose(learner.learn([1.0, 0.0], [0]), [0.5, -0.5])
        np.testing.assert_array_equal(learner.S, [4.0, 1.0])
        np.testing.assert_allclose(learner.scores([1.0, 0.0]), [0.25, -0.25])
        assert learner.dual == pytest.approx(0.5 - 0.5 * 2 * 0.25 / 2)
        # q = 4/2 + 1, the score difference is 1: no loss, no step, S stays.
        assert not learner.learn([2.0, 1.0], [0]).any()
        np.testing.assert_array_equal(learner.S, [4.0, 1.0])
        assert learner.curvature == 3.0
        # q = 1/2 and the difference is now -1/2: tau = (1 + 1/2) / (2 q).
        np.testing.assert_allclose(learner.learn([1.0, 0.0], [1]), [-1.5, 1.5])
        np.testing.assert_array_equal(learner.S, [7.0, 1.0])

    def test_entropic_pair_step_of_a_binary_row(self) -> None:
        """The closed form of Update II, for a C that is large enough not to matter."""
        rng = np.random.default_rng(0)
        x = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
        line = EntropicLine(rng.normal(size=(2, 5)), x)
        margin = 0.4
        q_r, q_s = line.slope(0, 0.0), line.slope(1, 0.0)
        a = q_r * (1 - q_s) * (1 - margin)
        b = margin * (q_r * q_s + (1 - q_r) * (1 - q_s))
        c = q_s * (1 - q_r) * (1 + margin)
        beta = (b + np.sqrt(b * b + 4 * a * c)) / (2 * a)
        alpha = rules.single(Round(line, (0,), (1,), 100.0, margin)).alpha
        np.testing.assert_allclose(alpha, [np.log(beta), -np.log(beta)], rtol=1e-12)
        for C, gamma in [(0.01, margin), (40.0, 1.0), (40.0, 1.5)]:
            alpha = rules.single(Round(line, (0,), (1,), C, gamma)).alpha
            np.testing.assert_array_equal(alpha, [C, -C])

    def test_entropic_curvature_counts_zeros(self) -> None:
        learner = NaiveLabelRanker(3, 2, "single", "entropic", 1.0, 0.3)
        learner.learn([0.0, 2.0, 1.0], [0])
        assert learner.curvature == 1.0
        np.testing.assert_allclose(learner.scores([1.0, 1.0, 1.0]), [1.0, 1.0])

    def test_rows(self) -> None:
        learner = NaiveLabelRanker(2, 2, "single", "adaptive", 1, 1, constant=0.5, normalize=True)
        np.testing.assert_allclose(learner.row([3.0, -4.0]), [0.6, -0.8, 0.5])
        np.testing.assert_allclose(learner.row([0.0, 0.0]), [0.0, 0.0, 0.5])
        assert learner.theta.shape == (2, 3)
        entropic = NaiveLabelRanker(2, 2, "single", "entropic", 1, 0.3, normalize=True)
        np.testing.assert_allclose(entropic.row([3.0, -4.0]), [0.75, -1.0])
        assert entropic.theta.shape == (2, 2)

    def test_averaging(self) -> None:
        learner = NaiveLabelRanker(1, 2, "fixed", "euclidean", 1.0, 1.0, average=True)
        for relevant in ([0], [0], [1], []):
            learner.learn([1.0], relevant)
        # theta_0 after the rounds: 1, 1, 0, 0.
        np.testing.assert_allclose(learner.averaged_scores([1.0], 1.0), [0.5, -0.5])
        np.testing.assert_allclose(learner.averaged_scores([1.0], 0.5), [0.25, -0.25])
        np.testing.assert_allclose(learner.averaged_scores([1.0], 0.0), learner.scores([1.0]))


def make(geometry: Geometry, update: Update, **options: float) -> NaiveLabelRanker:
    settings = {"C": 1.5, "margin": MARGINS[geometry], "constant": 0.5} | options
    return NaiveLabelRanker(4, 4, update, geometry, **settings)  # type: ignore[arg-type]


def minimum_of(learner: NaiveLabelRanker, stream: list[Item]) -> float:
    """Primal minimum over the stream that a learner has learnt."""
    return primal_minimum(
        [learner.row(item.x) for item in stream],
        [item.relevant for item in stream],
        n_labels=len(learner.theta),
        geometry=learner.geometry,
        C=learner.C,
        margin=learner.margin,
        smooth=learner.update == "smooth",
        temperature=learner.temperature,
        S=learner.S,
        unknown=[item.unknown for item in stream],
        weights=[item.weight for item in stream],
    )


@all_learners
@pytest.mark.parametrize(("seed", "C"), [(0, 0.1), (1, 1.0), (2, 8.0)])
def test_weak_duality(geometry: Geometry, update: Update, seed: int, C: float) -> None:
    pytest.importorskip("clarabel")
    learner = make(geometry, update, C=C)
    stream = random_stream(seed)
    for item in stream:
        learner.learn(*item)
    minimum = minimum_of(learner, stream)
    assert minimum > 0.0
    assert learner.dual <= minimum + 1e-7 * (1.0 + minimum)


@learners_with("optimal", "smooth")
@pytest.mark.parametrize(("seed", "C"), [(0, 0.1), (1, 1.0), (2, 20.0)])
def test_strong_duality_of_one_round(
    geometry: Geometry, update: Update, seed: int, C: float
) -> None:
    """After one exact step from zero weights the dual value equals the primal minimum."""
    pytest.importorskip("clarabel")
    learner = make(geometry, update, C=C, rate=0.0)
    item = Item(np.random.default_rng(seed).normal(size=4), [1, 3], [], 1.0)
    learner.learn(*item)
    assert learner.dual == pytest.approx(minimum_of(learner, [item]), rel=1e-6)


@learners_with("single", "optimal", "conproj", "simproj", "smooth")
def test_dual_ascends(geometry: Geometry, update: Update) -> None:
    learner = make(geometry, update)
    for item in random_stream(3, rounds=25):
        before = learner.dual
        learner.learn(*item)
        assert learner.dual >= before - 1e-12


@learners_with("fixed", "single", "optimal", "simperc", "conproj")
def test_mistake_bound(geometry: Geometry, update: Update) -> None:
    """Each mistake increases D by at least gamma c - B c²."""
    learner = make(geometry, update, C=0.02)
    for item in random_stream(4, rounds=40):
        learner.learn(item.x, item.relevant, item.unknown)
    margin, C, bound = learner.margin, learner.C, learner.curvature
    c = C if update in {"fixed", "simperc"} else min(C, margin / (2 * bound))
    assert margin * c > bound * c * c
    assert 0 < learner.mistakes * (margin * c - bound * c * c) <= learner.dual + 1e-12


@all_learners
def test_coefficients(geometry: Geometry, update: Update) -> None:
    """Coefficients sum to 0, have the right signs, respect C and are 0 for unknown labels."""
    learner = make(geometry, update)
    for item in random_stream(5):
        alpha = learner.learn(*item)
        inside = np.isin(np.arange(4), item.relevant)
        assert alpha.sum() == pytest.approx(0.0, abs=1e-12)
        assert (alpha[inside] >= 0).all()
        assert (alpha[~inside] <= 0).all()
        assert not alpha[item.unknown].any()
        assert alpha[inside].sum() <= learner.C * item.weight * (1 + 1e-12)


@all_learners
def test_rounds_without_an_update(geometry: Geometry, update: Update) -> None:
    learner = make(geometry, update, constant=0.0)
    assert not learner.learn(np.ones(4), []).any()
    assert not learner.learn(np.ones(4), [0, 1, 2, 3]).any()
    assert not learner.learn(np.ones(4), [1, 2], unknown=[0, 3]).any()
    assert (learner.rounds, learner.mistakes, learner.loss) == (3, 0, 0.0)
    assert not learner.learn(np.zeros(4), [1]).any()
    assert not learner.learn(np.ones(4), [1], weight=0.0).any()
    assert (learner.rounds, learner.mistakes) == (5, 2)
    assert learner.loss == learner.margin
    assert learner.dual == 0.0
    assert (learner.S == 1.0).all()


@all_learners
def test_weight_scales_the_budget(geometry: Geometry, update: Update) -> None:
    weighted, scaled = make(geometry, update), make(geometry, update, C=0.3)
    for item in random_stream(6):
        alpha = weighted.learn(item.x, item.relevant, item.unknown, weight=0.2)
        expected = scaled.learn(item.x, item.relevant, item.unknown)
        np.testing.assert_allclose(alpha, expected, atol=1e-12)
    assert weighted.loss == pytest.approx(0.2 * scaled.loss)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("entropic", [False, True], ids=["quadratic", "entropic"])
class TestExactSteps:
    def test_optimal_is_stationary(self, seed: int, entropic: bool) -> None:
        """The Karush-Kuhn-Tucker conditions: moved labels of a side have equal scores."""
        round_ = random_round(seed, entropic)
        step = exact.optimal(round_)
        after = slopes(round_, step.alpha)
        above, below = list(round_.relevant), list(round_.irrelevant)
        u, v = after[above].min(), after[below].max()
        moved = step.alpha != 0.0
        assert step.alpha.sum() == pytest.approx(0.0, abs=1e-12 * round_.budget)
        assert step.tau == pytest.approx(step.alpha[above].sum())
        assert step.tau <= round_.budget
        np.testing.assert_allclose(after[above][moved[above]], u, atol=1e-10)
        np.testing.assert_allclose(after[below][moved[below]], v, atol=1e-10)
        if step.tau == 0.0:
            assert u - v >= round_.margin
        elif step.tau < round_.budget:
            assert u - v == pytest.approx(round_.margin, abs=1e-10)
        else:
            assert u - v <= round_.margin + 1e-10

    def test_optimal_beats_its_neighbours(self, seed: int, entropic: bool) -> None:
        round_ = random_round(seed, entropic)
        best = exact.optimal(round_)
        rng = np.random.default_rng(seed)
        for reach in [1e-4, 1e-2, 1.0]:
            for _ in range(10):
                masses = round_.budget * rng.dirichlet(np.ones(len(round_.pairs) + 1))[:-1]
                other = rules.from_pairs(
                    round_.line.n_labels, dict(zip(round_.pairs, masses, strict=True))
                )
                alpha = best.alpha + reach * (other.alpha - best.alpha)
                assert hinge_gain(round_, alpha) <= hinge_gain(round_, best.alpha) + 1e-12

    def test_smooth_is_stationary(self, seed: int, entropic: bool) -> None:
        round_ = random_round(seed, entropic)
        step = exact.smooth(round_)
        p = smooth_distribution(round_, step.alpha)
        masses = dict(zip(round_.pairs, round_.budget * p[:-1], strict=True))
        expected = rules.from_pairs(round_.line.n_labels, masses)
        np.testing.assert_allclose(step.alpha, expected.alpha, atol=1e-9 * round_.budget)
        assert step.tau == pytest.approx(expected.tau, rel=1e-9)
        gain = hinge_gain(round_, step.alpha) + step.entropy
        assert gain == pytest.approx(smooth_gain(round_, p + 1e-300), rel=1e-9)

    def test_smooth_beats_its_neighbours(self, seed: int, entropic: bool) -> None:
        round_ = random_round(seed, entropic)
        step = exact.smooth(round_)
        best = hinge_gain(round_, step.alpha) + step.entropy
        p = smooth_distribution(round_, step.alpha)
        rng = np.random.default_rng(seed)
        for reach in [1e-4, 1e-2, 1.0]:
            for _ in range(10):
                other = p + reach * (rng.dirichlet(np.ones(len(p))) - p)
                assert smooth_gain(round_, other) <= best + 1e-11 * (1.0 + best)

    def test_smooth_tends_to_optimal(self, seed: int, entropic: bool) -> None:
        """The gains differ by at most the largest entropy term, C T log(pairs + 1)."""
        round_ = random_round(seed, entropic)
        sharp = Round(
            round_.line, round_.relevant, round_.irrelevant, round_.budget, round_.margin, 1e-4
        )
        step = exact.smooth(sharp)
        gain = hinge_gain(sharp, step.alpha) + step.entropy
        best = hinge_gain(sharp, exact.optimal(sharp).alpha)
        assert best <= gain + 1e-12
        assert gain <= best + sharp.budget * 1e-4 * np.log(len(sharp.pairs) + 1)


@pytest.mark.parametrize("seed", range(10))
class TestAgainstTheSolver:
    def test_optimal(self, seed: int) -> None:
        pytest.importorskip("clarabel")
        round_ = random_round(seed, entropic=False)
        assert isinstance(round_.line, QuadraticLine)
        expected = round_optimum(
            round_.scores, round_.relevant, round_.line.q, round_.budget, round_.margin
        )
        alpha = exact.optimal(round_).alpha
        np.testing.assert_allclose(alpha, expected, atol=1e-5 * max(1.0, round_.budget))

    def test_simopt(self, seed: int) -> None:
        pytest.importorskip("clarabel")
        round_ = random_round(seed, entropic=False)
        assert isinstance(round_.line, QuadraticLine)
        losses = [max(0.0, round_.shortfall(pair)) for pair in round_.pairs]
        masses = surrogate_optimum(losses, 2.0 * round_.line.q, round_.budget)
        expected = rules.from_pairs(
            round_.line.n_labels, dict(zip(round_.pairs, masses, strict=True))
        )
        alpha = rules.simopt(round_).alpha
        np.testing.assert_allclose(alpha, expected.alpha, atol=1e-5 * max(1.0, round_.budget))


def test_optimal_when_saturated() -> None:
    """With a huge C the entropic scores saturate, and the coefficients still sum to 0."""
    rng = np.random.default_rng(0)
    line = EntropicLine(10.0 * rng.normal(size=(5, 6)), rng.normal(size=6))
    for margin in [0.1, 0.9 * line.reach, line.reach, 2.0 * line.reach]:
        step = exact.optimal(Round(line, (0, 2), (1, 3, 4), 400.0, margin))
        assert step.alpha.sum() == pytest.approx(0.0, abs=1e-9)
        assert (step.tau == 400.0) == (margin >= line.reach)


def test_optimal_on_a_constant_row() -> None:
    """No step changes a score, so the step is C, split in equal parts."""
    round_ = Round(EntropicLine(np.zeros((3, 4)), np.ones(4)), (0,), (1, 2), 2.0, 0.3)
    np.testing.assert_array_equal(exact.optimal(round_).alpha, [2.0, -1.0, -1.0])


def test_unsupported_combinations() -> None:
    with pytest.raises(ValueError, match="simopt"):
        NaiveLabelRanker(2, 2, "simopt", "entropic", 1.0, 0.3)
    with pytest.raises(ValueError, match="average"):
        NaiveLabelRanker(2, 2, "single", "entropic", 1.0, 0.3, average=True)
    learner = NaiveLabelRanker(2, 2, "single", "euclidean", 1.0, 1.0)
    with pytest.raises(ValueError, match="average"):
        learner.averaged_scores([1.0, 1.0], 0.5)
    with pytest.raises(ValueError, match="unknown"):
        learner.learn([1.0, 1.0], [0], unknown=[0])
