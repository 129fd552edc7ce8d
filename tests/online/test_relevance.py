"""Learnt relevances of features: the naive twin, the certificate, and what the relevances do."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from tagalong import LabelRanker, ModelFileError
from tagalong.online.label_model import Settings
from tagalong.online.label_ranker.learner import ADAPTIVE_RATE
from tests.model_files import forge, parts
from tests.online.streams import UPDATES, Item, arrays, feed, indicator, random_stream, scales
from tests.reference.convex import primal_minimum
from tests.reference.geometries import FloatArray
from tests.reference.naive import NaiveLabelRanker, Relevance, Update
from tests.weights import dense_coef

RELEVANCES: tuple[Relevance, ...] = ("rare", "all")
TEMPERATURE = 0.1
FACTS = ("rounds", "mistakes", "loss", "dual", "curvature", "penalty")
ASCENDING = {"single", "optimal", "smooth", "conproj", "simproj"}


class OfAllFeatures(LabelRanker):
    """A LabelRanker that learns the relevance of frequent features, too, as in a race."""

    def _checked_settings(self) -> Settings:
        return {**super()._checked_settings(), "relevance": "all"}


def make(relevance: Relevance, update: Update, **options: Any) -> LabelRanker:
    kind = {"none": LabelRanker, "rare": LabelRanker, "all": OfAllFeatures}[relevance]
    settings = {"average": False, "dtype": "float64", "temperature": TEMPERATURE, **options}
    return kind(update, "adaptive", relevance=relevance != "none", **settings)


def sparse_stream(seed: int, rounds: int, n: int, n_labels: int, **options: Any) -> list[Item]:
    """Return a random stream whose features are present in under half of the rows."""
    rng = np.random.default_rng(seed)
    return [
        item._replace(x=item.x * (rng.permutation(n) < n // 2) + (item.x == item.x.max()))
        for item in random_stream(seed, rounds, n, n_labels, **options)
    ]


def relevances(ranker: LabelRanker, n: int) -> FloatArray:
    """Return beta of each feature; that of the constant feature is last."""
    state = arrays(ranker)
    beta = np.zeros(n + 1)
    beta[state["features"]] = state["beta"]
    return beta


class TestTwin:
    @staticmethod
    def twin(update: Update, relevance: Relevance, C: float, normalize: bool) -> NaiveLabelRanker:
        return NaiveLabelRanker(
            *(10, 6, update, "adaptive", C, 1.0, TEMPERATURE),
            constant=0.5,
            normalize=normalize,
            rate=ADAPTIVE_RATE,
            average=True,
            relevance=relevance,
        )

    @pytest.mark.parametrize("update", UPDATES)
    @pytest.mark.parametrize("relevance", RELEVANCES)
    @pytest.mark.parametrize(("C", "normalize"), [(0.3, False), (2.0, True)])
    def test_agrees_round_by_round(
        self, update: Update, relevance: Relevance, C: float, normalize: bool
    ) -> None:
        twin = self.twin(update, relevance, C, normalize)
        options = {"C": C, "constant": 0.5, "normalize": normalize}
        ranker = make(relevance, update, **options)
        averaged = make(relevance, update, average=True, **options)
        single = make(relevance, update, dtype="float32", **options)
        items = sparse_stream(5, 60, 10, 6, weights=(1.0, 0.5, 2.0))
        for item in items:
            expected = twin.scores(item.x)
            np.testing.assert_allclose(feed(ranker, [item], 6)[0], expected, rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(feed(single, [item], 6)[0], expected, rtol=1e-3, atol=1e-3)
            twin.learn(*item)
            found = [getattr(ranker.certificate_, name) for name in FACTS]
            np.testing.assert_allclose(found, [getattr(twin, name) for name in FACTS], rtol=1e-8)
            np.testing.assert_allclose(relevances(ranker, 10), twin.beta, rtol=1e-8, atol=1e-12)
        assert np.abs(twin.beta).max() > 0.05
        feed(averaged, items, 6)
        means = averaged.decision_function(np.array([item.x for item in items]))
        expected_means = [twin.averaged_scores(item.x, 1.0) for item in items]
        np.testing.assert_allclose(means, expected_means, rtol=1e-8, atol=1e-8)

    def test_many_labels_that_share_columns(self) -> None:
        """With thousands of labels, those without an update share a column."""
        rng = np.random.default_rng(3)
        K, n = 2100, 6
        twin = NaiveLabelRanker(
            n, K, "single", "adaptive", 1.0, 1.0, rate=ADAPTIVE_RATE, relevance="all"
        )
        rankers = [
            make("all", "single", C=1.0, constant=0.0, normalize=False, dtype=dtype)
            for dtype in ("float64", "float32")
        ]
        smooth = make("all", "smooth", C=1.0, constant=0.0, normalize=False)
        for _ in range(25):
            label = int(rng.integers(4))
            x = (rng.random(n) < 0.5) * rng.normal(size=n) + 2.0 * (np.arange(n) == label)
            item = Item(x, [label], [], 1.0)
            twin.learn(*item)
            for ranker in (*rankers, smooth):
                feed(ranker, [item], K)
        for ranker, tolerance in zip(rankers, (1e-9, 1e-4), strict=True):
            np.testing.assert_allclose(
                relevances(ranker, n)[:n], twin.beta, rtol=tolerance, atol=tolerance
            )
            assert ranker.certificate_.penalty == pytest.approx(twin.penalty, rel=tolerance)
        assert "columns" in arrays(smooth)
        found = smooth._native.recompute_dual()
        assert smooth.certificate_.dual == pytest.approx(found, rel=1e-9)


class Stream:
    """A stream with teeth, learnt by a ranker, perhaps with an edit of the labels in between.

    Blocks of rows that repeat drive relevances to their limits. Labels are flipped in some
    blocks. Features have very different scales, and rows have weights. In a steady stream the
    features are so small that S hardly grows, and no labels are flipped.
    """

    N, K = 4, 4

    def __init__(self, update: Update, relevance: Relevance, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.steady = seed % 8 == 7
        wild = 10 ** self.rng.uniform(-2.5, 2.5, size=self.N) if seed % 2 else np.ones(self.N)
        C = float(10 ** self.rng.uniform(-1.5, 1.5))
        if self.steady:
            wild, C = np.full(self.N, 1e-3), 3e3
        elif update in {"fixed", "simperc"} and seed % 3:
            C = 0.02
        self.ranker = make(
            relevance,
            update,
            C=C,
            constant=0.0 if self.steady else 0.5 * (seed % 3 > 0),
            normalize=seed % 2 == 0,
        ).add_labels(range(self.K))
        self.sums: list[float] = []  # the dual value plus the penalty after each round
        self.most_beta = 0.0
        self.items: list[Item] = []
        self.theta0: FloatArray | None = None
        blocks = 2 if self.steady else int(self.rng.integers(2, 5))
        for block in range(blocks):
            if seed % 8 == 3 and block == blocks // 2:
                self.edit()
            self.learn_block(wild, flip=block % 2 == 1 and not self.steady)

    def edit(self) -> None:
        """Merge two labels, add a new one in their place, and centre the problem here."""
        self.ranker.merge_labels([0, 1], 0)
        self.ranker.add_labels([9])
        self.items, self.sums = [], []
        state = arrays(self.ranker)
        self.theta0 = np.zeros((self.K, self.dimension))
        self.theta0[:, state["features"]] = state["theta"].T

    def learn_block(self, wild: FloatArray, flip: bool) -> None:
        rng = self.rng
        drawn = sparse_stream(int(rng.integers(1000)), 6, self.N, self.K, unknown=0.05)
        if self.steady:
            drawn = [Item(x, [y], [], 1.0) for y, x in enumerate(np.eye(2, self.N) + 0.1)]
        for i in range(90 if self.steady else int(rng.integers(8, 22))):
            item = drawn[i % len(drawn)]
            relevant = [(y + 1) % self.K for y in item.relevant] if flip else item.relevant
            unknown = [y for y in item.unknown if y not in relevant]
            weight = float(rng.choice([0.5, 1.0, 2.0]))
            self.learn(Item(wild * item.x, relevant, unknown, weight))

    def learn(self, item: Item) -> None:
        self.ranker.partial_fit([item.x], indicator([item], self.K), sample_weight=[item.weight])
        self.items.append(item)
        certificate = self.ranker.certificate_
        self.sums.append(certificate.dual + certificate.penalty)
        beta = arrays(self.ranker)["beta"]
        self.most_beta = max(self.most_beta, float(np.abs(beta).max(initial=0.0)))

    @property
    def constant(self) -> float:
        return float(self.ranker.constant or 0.0)

    @property
    def dimension(self) -> int:
        return self.N + (self.constant != 0.0)

    def minimum(self) -> float:
        """Return the minimum of the problem at the present S and beta.

        The substitution of S^(1/4) w for w makes it one of the Euclidean geometry, which the
        solver handles better if scales differ much.
        """
        certificate = self.ranker.certificate_
        root = scales(self.ranker, self.N, self.constant != 0.0) ** 0.25
        view = NaiveLabelRanker(
            *(self.N, self.K, "single", "euclidean", 1.0, 1.0),
            constant=self.constant,
            normalize=self.ranker.normalize,
        )
        return primal_minimum(
            [view.row(item.x) / root for item in self.items],
            [item.relevant for item in self.items],
            n_labels=self.K,
            geometry="euclidean",
            C=certificate.C,
            margin=certificate.margin,
            smooth=self.ranker.update == "smooth",
            temperature=certificate.temperature,
            unknown=[item.unknown for item in self.items],
            weights=[item.weight for item in self.items],
            theta0=None if self.theta0 is None else self.theta0 / root,
        )


class TestCertificate:
    @pytest.mark.parametrize("update", UPDATES)
    @pytest.mark.parametrize("seed", range(8))
    def test_holds_for_every_competitor(self, update: Update, seed: int) -> None:
        """The dual value is below the minimum, and mistakes times gain below it plus the penalty.

        The scales of the problem are those at the end.
        """
        pytest.importorskip("clarabel")
        stream = Stream(update, RELEVANCES[seed // 2 % 2], seed)
        certificate = stream.ranker.certificate_
        minimum = stream.minimum()
        slack = 1e-6 * (1.0 + abs(minimum))
        assert certificate.dual <= minimum + slack
        gained = certificate.gain_per_mistake * certificate.mistakes
        if gained > 0.0:
            assert gained <= certificate.dual + certificate.penalty + slack
            assert gained <= minimum + certificate.penalty + slack
            assert certificate.mistakes <= certificate.bound(minimum, 0.0) * (1 + 1e-6)
        if update in ASCENDING:
            assert np.diff([0.0, *stream.sums]).min() >= -1e-9 * max(np.abs(stream.sums))
        if stream.steady and update not in {"fixed", "simperc", "conproj"}:  # which stop early
            assert stream.most_beta == 0.7
            assert certificate.penalty > 0.0

    @pytest.mark.parametrize("update", ["single", "optimal"])
    def test_is_false_without_the_penalty(self, update: Update) -> None:
        """There is a competitor for whom the mistakes exceed the bound without the penalty.

        The only feature learns many pairs of labels, with a mistake each. Its values are so small
        that S does not grow. Then rounds of nearly no loss raise its relevance to the limit. That
        makes long weights cheap, and the competitor has long weights.
        """
        pairs, size = 60, 1e-3
        ranker = make("all", update, C=1e9, constant=0.0, normalize=False)
        ranker.add_labels(range(2 * pairs))

        def learn(value: float, pair: int) -> None:
            targets = np.full((1, 2 * pairs), np.nan)
            targets[0, 2 * pair : 2 * pair + 2] = 1.0, 0.0
            ranker.partial_fit([[value]], targets)

        for pair in range(pairs):
            learn(size, pair)
        for _ in range(400):
            scores = ranker.decision_function([[size]])[0]
            learn(0.999 * size / (scores[0] - scores[1]), 0)
        certificate = ranker.certificate_
        assert certificate.mistakes == pairs
        assert relevances(ranker, 1)[0] == 0.7
        w = np.tile([0.5, -0.5], pairs) / size
        w[:2] *= 5.0  # no loss: every score difference is at least 1
        complexity = 0.5 * float(np.sqrt(scales(ranker, 1, constant=False)[0])) * float(w @ w)
        assert complexity < certificate.gain_per_mistake * pairs
        assert certificate.dual <= complexity
        assert pairs <= certificate.bound(complexity, 0.0)

    @pytest.mark.parametrize("update", ["single", "optimal"])
    @pytest.mark.parametrize("relevance", ["none", *RELEVANCES])
    def test_counts_decreases_after_a_restart(self, update: Update, relevance: Relevance) -> None:
        """After a restart the dual value also falls if S grows while theta becomes shorter."""
        ranker = make(relevance, update, C=10.0, constant=0.0, normalize=False)
        fell = 0
        for seed in range(12):
            items = random_stream(seed, 40, 4, 4, unknown=0.0)
            ranker.fit([item.x for item in items], indicator(items, 4))
            ranker._native.restart_certificate()
            dual = total = 0.0
            for item in items:
                feed(ranker, [item._replace(relevant=[(y + 1) % 4 for y in item.relevant])], 4)
                certificate = ranker.certificate_
                fell += certificate.dual < dual - 1e-9
                dual = certificate.dual
                assert dual + certificate.penalty >= total - 1e-9 * (1.0 + abs(total))
                total = dual + certificate.penalty
        assert fell > 0

    @pytest.mark.parametrize("update", UPDATES)
    @pytest.mark.parametrize("relevance", RELEVANCES)
    @pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
    def test_dual_equals_its_recomputation(
        self, update: Update, relevance: Relevance, dtype: str, tolerance: float
    ) -> None:
        ranker = make(relevance, update, C=1.5, dtype=dtype)
        for start in range(3):
            feed(ranker, random_stream(start, 300, 12, 8), 8)
            found = ranker._native.recompute_dual()
            assert ranker.certificate_.dual == pytest.approx(found, rel=tolerance)


class TestRelevances:
    def test_informative_features_get_more_say(self) -> None:
        """Features that decide the labels get higher relevances than noise."""
        rng = np.random.default_rng(0)
        X = (rng.random((800, 12)) < 0.3).astype(float)
        Y = X[:, :4]
        Y[np.arange(800), rng.integers(4, size=800)] = 1.0
        X[:, 8:] = rng.random((800, 4)) < 0.9
        rare, every = make("rare", "smooth").fit(X, Y), make("all", "smooth").fit(X, Y)
        beta = relevances(rare, 12)
        assert beta[:4].min() > beta[4:8].max()
        # Frequent features keep 0, and so does the constant feature.
        assert np.abs(beta[8:12]).max() < 0.1
        assert np.abs(relevances(every, 12)[8:12]).max() > 0.1
        assert beta[-1] == relevances(every, 12)[-1] == 0.0

    def test_scores_follow_from_the_weights(self) -> None:
        items = sparse_stream(1, 200, 10, 5)
        X = np.array([item.x for item in items])
        ranker = make("rare", "smooth", average="auto", normalize=False)
        ranker.fit(X, indicator(items, 5))
        assert np.abs(relevances(ranker, 10)).max() > 0.05
        scores = ranker.decision_function(X)
        np.testing.assert_allclose(X @ dense_coef(ranker).T + ranker.intercept_, scores, rtol=1e-9)
        indices = np.flatnonzero(X[0])
        for label in range(5):
            _, parts, score = ranker._native.explain_one(indices, X[0, indices], label)
            assert score == pytest.approx(scores[0, label], rel=1e-9)
            assert parts.sum() == pytest.approx(score, rel=1e-9)

    def test_editing_labels_and_features_keeps_them(self) -> None:
        items = sparse_stream(1, 200, 6, 4)
        ranker = make("rare", "smooth")
        ranker.fit(np.array([item.x for item in items]), indicator(items, 4))
        before = arrays(ranker)
        ranker.merge_labels([0, 1], 0)
        after = arrays(ranker)
        for name in ("beta", "V", "updates", "S"):
            np.testing.assert_array_equal(after[name], before[name])
        assert ranker.certificate_.penalty == 0.0
        kept = (before["features"] != 2).tolist()
        ranker._native.select_features(kept)
        for name in ("beta", "V", "updates", "S"):
            np.testing.assert_array_equal(arrays(ranker)[name], before[name][kept])

    @pytest.mark.parametrize("geometry", ["euclidean", "entropic"])
    def test_needs_the_adaptive_geometry(self, geometry: str) -> None:
        with pytest.raises(ValueError, match=f"relevance=True needs.*'adaptive'.*'{geometry}'"):
            LabelRanker(geometry=geometry, relevance=True).fit(np.eye(3), [0, 1, 2])
        LabelRanker(geometry=geometry, relevance=False).fit(np.eye(3), [0, 1, 2])

    @pytest.mark.parametrize("value", ["all", None, 1])
    def test_other_values_raise(self, value: Any) -> None:
        with pytest.raises(ValueError, match="relevance must be 'auto', True or False, got"):
            LabelRanker(relevance=value).fit(np.eye(3), [0, 1, 2])

    def test_automatic_means_none_for_one_learner(self) -> None:
        items = random_stream(2, 50, 6, 4)
        X, Y = np.array([item.x for item in items]), indicator(items, 4)
        rankers = [LabelRanker(relevance=value, race=None).fit(X, Y) for value in ("auto", False)]
        first, second = (ranker.decision_function(X) for ranker in rankers)
        np.testing.assert_array_equal(first, second)
        assert all("beta" not in arrays(ranker) for ranker in rankers)

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize("size", [1e-150, 1e-30, 1e15])
    def test_extreme_values_stay_finite(self, dtype: str, size: float) -> None:
        """Squares of shares may underflow; the relevances stay finite and within the limits."""
        items = random_stream(2, 60, 6, 4)
        X, Y = size * np.array([item.x for item in items]), indicator(items, 4)
        ranker = make("all", "smooth", dtype=dtype, normalize=False, constant=0.0)
        ranker.fit(X, Y)
        state = ranker._native.state()
        for name in ("beta", "V", "theta"):
            assert np.isfinite(state["arrays"][name]).all()
        assert np.abs(state["arrays"]["beta"]).max() <= 0.7
        assert np.isfinite([state["numbers"]["share_squares"], ranker.certificate_.penalty]).all()


class TestFiles:
    @pytest.fixture
    def ranker(self) -> LabelRanker:
        items = sparse_stream(4, 120, 8, 5)
        ranker = LabelRanker(relevance=True, race=None)
        return ranker.fit(np.array([item.x for item in items]), indicator(items, 5))

    def test_learning_goes_on_with_the_same_bits(self, ranker: LabelRanker, tmp_path: Path) -> None:
        path = tmp_path / "model.tagalong"
        ranker.save(path)
        copy = tagalong.load(path)
        assert copy.get_params() == ranker.get_params()
        assert copy.certificate_ == ranker.certificate_
        assert ranker.certificate_.penalty > 0.0
        items = sparse_stream(5, 60, 8, 5)
        X, Y = np.array([item.x for item in items]), indicator(items, 5)
        for learner in (ranker, copy):
            learner.partial_fit(X, Y)
        np.testing.assert_array_equal(copy.decision_function(X), ranker.decision_function(X))
        assert copy.certificate_ == ranker.certificate_
        for name in ("beta", "V", "updates"):
            np.testing.assert_array_equal(arrays(copy)[name], arrays(ranker)[name])

    @pytest.mark.parametrize("relevance", ["auto", False])
    def test_without_relevances_there_are_no_new_arrays(
        self, relevance: Any, tmp_path: Path
    ) -> None:
        path = tmp_path / "model.tagalong"
        LabelRanker(relevance=relevance, race=None).fit(np.eye(3), [0, 1, 2]).save(path)
        header, found = parts(path)
        assert not {"beta", "V", "updates"} & found.keys()
        assert not {"penalty", "updates", "share_count"} & header["numbers"].keys()
        assert ("relevance" in header["settings"]) == (relevance is False)
        assert tagalong.load(path).relevance == relevance

    @pytest.mark.parametrize(
        ("array", "number"),
        [
            ("beta", 0.8),
            ("beta", np.nan),
            ("V", -1.0),
            ("V", 1e305),
            ("updates", -1),
            ("updates", 10**6),
        ],
    )
    def test_forged_arrays_are_refused(
        self, ranker: LabelRanker, tmp_path: Path, array: str, number: float
    ) -> None:
        def change(header: dict[str, Any], found: dict[str, Any]) -> None:
            found[array] = found[array].copy()
            found[array][1] = number

        self.assert_refused(ranker, tmp_path / "model.tagalong", change)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("penalty", -1.0),
            ("penalty", "much"),
            ("updates", -1),
            ("updates", 3),
            ("share_squares", -1.0),
            ("share_count", float("inf")),
        ],
    )
    def test_forged_numbers_are_refused(
        self, ranker: LabelRanker, tmp_path: Path, name: str, value: Any
    ) -> None:
        def change(header: dict[str, Any], _: dict[str, Any]) -> None:
            header["numbers"][name] = value

        self.assert_refused(ranker, tmp_path / "model.tagalong", change)

    def test_missing_or_inconsistent_relevances_are_refused(
        self, ranker: LabelRanker, tmp_path: Path
    ) -> None:
        path = tmp_path / "model.tagalong"
        constant = arrays(ranker)["features"].tolist().index(-1)

        def of_the_constant(_: dict[str, Any], found: dict[str, Any]) -> None:
            found["beta"] = np.where(np.arange(len(found["beta"])) == constant, 0.1, found["beta"])

        self.assert_refused(ranker, path, of_the_constant)
        self.assert_refused(ranker, path, lambda _, found: found.pop("beta"))
        self.assert_refused(ranker, path, lambda _, found: found.update(V=found["V"][:-1].copy()))

    @pytest.mark.parametrize("value", ["some", "all", True, 3])
    def test_forged_settings_are_refused(
        self, ranker: LabelRanker, tmp_path: Path, value: Any
    ) -> None:
        self.assert_refused(
            ranker,
            tmp_path / "model.tagalong",
            lambda header, _: header["settings"].update(relevance=value),
        )

    @staticmethod
    def assert_refused(ranker: LabelRanker, path: Path, change: Any) -> None:
        ranker.save(path)
        header, found = parts(path)
        forge(path, header, found)
        tagalong.load(path)
        change(header, found)
        forge(path, header, found)
        with pytest.raises(ModelFileError, match=str(path)):
            tagalong.load(path)
