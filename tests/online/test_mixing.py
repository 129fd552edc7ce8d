"""Mixtures of rankers: the certificate against a convex solver, alignment, and going on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tagalong
from tagalong import LabelRanker, mix
from tagalong.online.label_ranker.contestant import CONTESTANTS
from tagalong.online.label_ranker.mixing import _Union
from tests.online.streams import (
    UPDATES,
    Item,
    arrays,
    feed,
    minimum_for,
    random_stream,
)
from tests.weights import dense_coef

N, K = 4, 3


def learnt(items: list[Item], start: LabelRanker | None = None, **params: Any) -> LabelRanker:
    settings_of = {"dtype": "float64", "race": None, "constant": 0.5, "temperature": 0.2, "C": 0.7}
    if start is None:
        ranker = LabelRanker(**{**settings_of, **params})
    else:
        header, state = start.to_parts()
        ranker = LabelRanker.from_parts(header, state)
    feed(ranker, items, K)
    return ranker


def shards_of(items: list[Item], count: int) -> list[list[Item]]:
    return [items[k::count] for k in range(count)]


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("geometry", ["euclidean", "adaptive"])
@pytest.mark.parametrize("count", [2, 5, 16])
def test_dual_value_is_a_lower_bound(update, geometry, count):
    seed = 100 * count + len(update)
    items = random_stream(seed, 32, N, K, weights=(1.0, 0.5, 2.0))
    rankers = [learnt(shard, update=update, geometry=geometry) for shard in shards_of(items, count)]
    random = np.random.default_rng(seed).random(count)
    some = (random < 0.5).astype(float)
    for how in ("average", "sum", random.tolist(), some.tolist()):
        mixed = mix(rankers, how)
        certificate = mixed.certificate_
        minimum = minimum_for(mixed, items, K)
        assert certificate.dual <= minimum + 1e-5 * (1 + abs(minimum))
        assert certificate.dual == pytest.approx(mixed._native.recompute_dual(), rel=1e-9)
        if how == "average":
            mean = np.mean([ranker.certificate_.dual for ranker in rankers])
            assert certificate.dual >= mean - 1e-9 * (1 + abs(mean))


@pytest.mark.parametrize("geometry", ["euclidean", "adaptive"])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("how", ["average", "sum"])
def test_certificate_over_epochs_and_while_it_goes_on_learning(geometry, update, how):
    """Each epoch starts from the mixture of the last one; its rounds count as new ones."""
    items = random_stream(7 + len(update), 12, N, K)
    shards = shards_of(items, 3)
    base = mix([learnt(shard, update=update, geometry=geometry) for shard in shards], how)
    rankers = [learnt(shard, base) for shard in shards]
    mixed = mix(rankers, how, base=base)
    seen = items * 2
    for _ in range(2):
        certificate = mixed.certificate_
        minimum = minimum_for(mixed, seen, K)
        assert certificate.rounds == len(seen)
        assert certificate.dual <= minimum + 1e-5 * (1 + abs(minimum))
        if certificate.gain_per_mistake > 0:
            assert certificate.mistakes <= certificate.bound(0.0, minimum / certificate.C) + 1e-4
            sure = (certificate.dual + certificate.penalty) / certificate.gain_per_mistake
            assert certificate.mistakes <= sure + 1e-6
        mixed = learnt(items[:5], mixed)
        seen = seen + items[:5]


def test_one_epoch_after_another_is_at_least_the_mean():
    items = random_stream(3, 60, N, K)
    shards = shards_of(items, 4)
    base = mix([learnt(shard) for shard in shards])
    rankers = [learnt(shard, base) for shard in shards]
    mean = np.mean([ranker.certificate_.dual for ranker in rankers])
    assert mix(rankers, base=base).certificate_.dual >= mean - 1e-9


def test_mistakes_are_bounded_by_all_rankers_together():
    """The bound of one learner fails: with shards that repeat each other, mistakes multiply."""
    item = Item(np.array([1.0, 0.0, 0.0, 0.0]), [0], [], 1.0)
    rankers = [learnt([item], update="single", constant=0.0, C=10.0) for _ in range(16)]
    certificate = mix(rankers).certificate_
    # w = 1 for label 0 and -1 for label 1 of the feature: no loss, F = sqrt(S) with S = 1 + 16 * 3.
    complexity, gain = 7.0 * (0.25 + 2 * 0.0625) * 4, certificate.gain_per_mistake
    assert certificate.mistakes == certificate.rounds == certificate.rankers == 16
    assert certificate.bound(complexity, 0.0) >= 16
    assert certificate.bound(complexity, 0.0) <= 16 * complexity / gain + 1e-9
    euclidean = [
        learnt([item], update="single", geometry="euclidean", constant=0.0, C=10.0)
        for _ in range(16)
    ]
    certificate = mix(euclidean).certificate_
    gain = certificate.gain_per_mistake
    # The best competitor is (1/2, -1/2) in the two labels that differ: F = 1/4 per label.
    assert 0.5 / gain < 16 <= certificate.bound(0.5, 0.0)
    assert certificate.bound(0.5, 0.0) == pytest.approx(
        min(16 * 0.5, 0.5 + certificate.penalty) / gain
    )


def test_bound_of_all_rankers_ends_when_the_mixture_learns():
    items = random_stream(5, 40, N, K)
    mixed = mix([learnt(shard) for shard in shards_of(items, 4)])
    assert mixed.certificate_.rankers == 4
    assert mix([mixed, learnt(items[:3])]).certificate_.rankers == 5
    feed(mixed, items[:1], K)
    assert mixed.certificate_.rankers == 0
    assert mix([mixed, learnt(items[:3])]).certificate_.rankers == 0


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    geometry=st.sampled_from(["euclidean", "adaptive"]),
    dtype=st.sampled_from(["float32", "float64"]),
    update=st.sampled_from(UPDATES),
)
def test_one_ranker_is_its_own_mixture(seed, geometry, dtype, update):
    items = random_stream(seed, 20, N, K)
    ranker = learnt(items, geometry=geometry, dtype=dtype, update=update)
    same = mix([ranker])
    assert np.array_equal(dense_coef(same), dense_coef(ranker))
    for name in ("theta", "means", "S", "features", "blend"):
        assert np.array_equal(arrays(same)[name], arrays(ranker)[name])
    assert same.certificate_.dual == pytest.approx(ranker.certificate_.dual, rel=1e-4, abs=1e-5)
    assert same.certificate_.mistakes == ranker.certificate_.mistakes


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**20), order=st.permutations(range(4)))
def test_order_of_rankers_matters_by_rounding_only(seed, order):
    items = random_stream(seed, 24, N, K)
    rankers = [learnt(shard) for shard in shards_of(items, 4)]
    X = np.array([item.x for item in items])
    one, other = mix(rankers), mix([rankers[k] for k in order])
    np.testing.assert_allclose(
        one.decision_function(X), other.decision_function(X), rtol=1e-9, atol=1e-12
    )
    assert one.certificate_.dual == pytest.approx(other.certificate_.dual, rel=1e-9, abs=1e-12)
    assert tagalong.model_hash(mix(rankers)) == tagalong.model_hash(one)


def naive_mixture(rankers, base, factors, label, name):
    """Mixed theta, mean and S of a label and a named feature, by the formulas of the docstring."""

    def numbers(ranker):
        header, _ = ranker.to_parts()
        state, rounds = arrays(ranker), ranker.certificate_.rounds
        feature = header["names"].index(name) if name in header["names"] else None
        where = np.flatnonzero(state["features"] == feature)
        if not len(where):
            return 0.0, 0.0, 1.0, rounds
        row = where[0]
        if label not in header["labels"]:
            return 0.0, 0.0, state["S"][row], rounds
        y = header["labels"].index(label)
        theta = state["theta"][row, y]
        return theta, theta - state["means"][row, y] / rounds, state["S"][row], rounds

    theta_b, mean_b, S_b, T_b = numbers(base) if base else (0.0, 0.0, 1.0, 0)
    theta, mean, S, new = theta_b, theta_b, S_b, 0
    for ranker, factor in zip(rankers, factors, strict=True):
        theta_k, mean_k, S_k, T_k = numbers(ranker)
        of_rounds = (T_k * mean_k - T_b * mean_b) / (T_k - T_b)  # mean over its own rounds
        theta += factor * (theta_k - theta_b)
        mean += factor * (of_rounds - theta_b)
        S += S_k - S_b
        new += T_k - T_b
    return theta, (T_b * mean_b + new * mean) / (T_b + new), S


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**20), with_base=st.booleans())
def test_named_features_and_labels_are_aligned(seed, with_base):
    rng = np.random.default_rng(seed)
    words, labels = list("abcdef"), ["x", "y", "z", "u"]

    def learn(ranker, rounds):
        for _ in range(rounds):
            chosen = rng.permutation(words)[: rng.integers(1, 4)]
            ranker.learn_one(
                {str(word): float(rng.normal()) for word in chosen}, [str(rng.choice(labels))]
            )
        return ranker

    def fresh():
        return LabelRanker(race=None, dtype="float64", normalize=False)

    base = learn(fresh(), 5) if with_base else None
    rankers = []
    for _ in range(3):
        start = LabelRanker.from_parts(*base.to_parts()) if base else fresh()
        rankers.append(learn(start, int(rng.integers(1, 9))))
    factors = rng.random(3).tolist()
    mixed = mix(rankers, factors, base=base)
    header, state = mixed.to_parts()[0], arrays(mixed)
    assert set(header["labels"]) == {y for ranker in rankers for y in ranker.classes_}
    rounds = mixed.certificate_.rounds
    for row, feature in enumerate(state["features"]):
        if feature < 0:
            continue
        for y, label in enumerate(header["labels"]):
            theta, mean, S = naive_mixture(rankers, base, factors, label, header["names"][feature])
            assert state["theta"][row, y] == pytest.approx(theta, abs=1e-9)
            found = state["theta"][row, y] - state["means"][row, y] / rounds
            assert found == pytest.approx(mean, abs=1e-9)
            assert state["S"][row] == pytest.approx(S, rel=1e-9)


def test_labels_that_a_ranker_does_not_know_keep_the_bound():
    """A shard without label 2 has no pairs with it; the problem of all rounds has."""
    items = random_stream(11, 30, N, K, unknown=0.0)
    few = [item for item in items if 2 not in item.relevant][:8]
    many = items[10:]
    one = LabelRanker(race=None, dtype="float64", constant=0.5).add_labels([0, 1])
    for item in few:
        one.learn_one((range(N), item.x), item.relevant)
    other = LabelRanker(race=None, dtype="float64", constant=0.5).add_labels([0, 1, 2])
    for item in many:
        other.learn_one((range(N), item.x), item.relevant)
    mixed = mix([one, other], "sum")
    assert list(mixed.classes_) == [0, 1, 2]
    assert mixed.certificate_.dual <= minimum_for(mixed, few + many, K) + 1e-5


def test_mixture_is_saved_explained_and_learns_on(tmp_path: Path):
    items = random_stream(2, 80, N, K, unknown=0.0)
    mixed = mix([learnt(shard, dtype="float32") for shard in shards_of(items, 4)])
    mixed.save(tmp_path / "mixed.tagalong")
    loaded = tagalong.load(tmp_path / "mixed.tagalong")
    assert tagalong.model_hash(loaded) == tagalong.model_hash(mixed)
    assert loaded.certificate_ == mixed.certificate_
    for ranker in (mixed, loaded):
        before = ranker.certificate_.dual
        assert np.isinf(ranker.cutoff_)
        feed(ranker, items[:40], K)
        assert np.isfinite(ranker.cutoff_)
        assert ranker.certificate_.dual >= before
    assert tagalong.model_hash(loaded) == tagalong.model_hash(mixed)
    assert mixed.certificate_.rounds == 120


def test_dual_value_is_exact_after_learning_on():
    items = random_stream(9, 120, N, K)
    mixed = mix([learnt(shard, update="optimal") for shard in shards_of(items[:60], 4)])
    before = mixed.certificate_.dual
    feed(mixed, items[60:], K)
    state = mixed._native.recompute_dual()
    assert mixed.certificate_.dual == pytest.approx(state, rel=1e-9)
    assert mixed.certificate_.dual >= before


@pytest.mark.parametrize(
    "params", [{"update": "single"}, {"update": "smooth"}, {"working_set": True}]
)
def test_rows_of_many_labels_are_mixed_in_every_storage(params):
    """With thousands of labels rows are sparse, or labels share columns."""
    rng = np.random.default_rng(0)
    rankers = []
    for _ in range(2):
        ranker = LabelRanker(race=None, average=False, dtype="float64", **params)
        ranker.add_labels(range(2500))
        for _ in range(20):
            ranker.learn_one((rng.permutation(30)[:5], np.ones(5)), [int(rng.integers(2500))])
        rankers.append(ranker)
    mixed = mix(rankers, "sum")
    theta = []
    for ranker in (*rankers, mixed):
        found = ranker.weights_by_feature()
        theta.append(np.zeros((31, 2500)))
        theta[-1][found["features"]] = found["weights"] * np.sqrt(arrays(ranker)["S"])[:, None]
    np.testing.assert_allclose(theta[2], theta[0] + theta[1], rtol=1e-9, atol=1e-12)
    assert np.abs(theta[2]).max() > 0
    assert mixed.certificate_.dual == pytest.approx(mixed._native.recompute_dual(), rel=1e-9)


def test_restarted_certificates_start_anew():
    items = random_stream(4, 40, N, K)
    rankers = [learnt(shard) for shard in shards_of(items, 2)]
    rankers[1].rename_label(2, "two")
    rankers[1].forget_labels(["two"])
    certificate = mix(rankers).certificate_
    assert certificate.rounds == 0
    assert certificate.dual == 0
    assert certificate.restarted.startswith("2 rankers were mixed")
    assert "'two' was forgotten" in str(certificate)


def test_a_restart_after_the_base_is_noticed():
    """A ranker forgets a label that its base had forgotten, too."""
    items = random_stream(8, 30, N, K)
    base = learnt(items[:10]).add_labels(["late"])
    base.forget_labels(["late"])
    ranker = learnt(items[10:20], base).add_labels(["late"])
    ranker.forget_labels(["late"])
    mixed = mix([learnt(items[20:], ranker)], base=base)
    assert mixed.certificate_.restarted.startswith("1 rankers were mixed")


def test_labels_are_compared_in_one_pass_per_ranker():
    class Counted(list[Any]):
        passes = 0

        def __iter__(self) -> Any:
            self.passes += 1
            return super().__iter__()

    labels = [Counted(range(50)), Counted(range(50))]
    _Union(labels, ["ranker 0", "base"])
    assert all(each.passes < 10 for each in labels)


def test_restarted_base_keeps_its_reason():
    items = random_stream(4, 40, N, K)
    base = learnt(items)
    base.merge_labels([0, 1], 0)
    starts = [LabelRanker.from_parts(*base.to_parts()) for _ in range(2)]
    for ranker, shard in zip(starts, shards_of(items, 2), strict=True):
        for item in shard:
            ranker.learn_one((range(N), item.x), [y for y in item.relevant if y != 1])
    certificate = mix(starts, base=base).certificate_
    assert certificate.restarted == base.certificate_.restarted
    assert certificate.rounds == len(items)
    assert np.isfinite(certificate.dual)


def test_nothing_is_sure_until_it_is_judged_again():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 6))
    y = X[:, :3].argmax(axis=1)
    rankers = [LabelRanker(race=None).fit(X[k::2], y[k::2]) for k in range(2)]
    mixed = mix(rankers)
    assert list(mixed.classes_) == [0, 1, 2]
    assert mixed.score(X, y) > 0.9

    def answers(ranker):
        return ranker._native.covered([0.9])[0][2]

    assert answers(rankers[0]) > 0
    assert answers(mixed) == 0
    mixed.partial_fit(X[:1000], y[:1000])
    assert answers(mixed) > 0


def rankers_with(first: dict[str, Any], second: dict[str, Any]) -> list[LabelRanker]:
    items = random_stream(1, 10, N, K)
    return [learnt(items[:5], **first), learnt(items[5:], **second)]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"C": 1.0}, {"C": 2.0}, "C is 1.0 in ranker 0 and 2.0 in ranker 1"),
        ({}, {"dtype": "float32"}, "dtype is 'float64' in ranker 0 and 'float32' in ranker 1"),
        ({}, {"update": "single"}, "update is 'smooth' in ranker 0 and 'single' in ranker 1"),
        (
            {"race": list(CONTESTANTS), "C": None, "temperature": None},
            {},
            "ranker 0 is a race of learners",
        ),
        (
            {"geometry": "entropic", "constant": 0.0},
            {"geometry": "entropic", "constant": 0.0},
            "geometry='entropic' cannot be mixed",
        ),
        ({"relevance": True}, {"relevance": True}, "relevance=True cannot be mixed"),
    ],
)
def test_rankers_that_do_not_fit_are_refused(first, second, message):
    rankers = rankers_with(first, second)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        mix(rankers)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("mean", "how must be"),
        ([0.5], "one factor per model, 2, got 1"),
        ([0.5, 1.5], "factors from 0 to 1, got 1.5"),
        ([0.5, float("nan")], "how"),
        (3, "how must be 'average', 'sum' or a sequence of factors, got 3"),
    ],
)
def test_invalid_factors_are_refused(how, message):
    with pytest.raises(ValueError, match=message):
        mix(rankers_with({}, {}), how)


def test_what_cannot_be_mixed_is_refused():
    items = random_stream(1, 20, N, K)
    ranker, other = learnt(items[:10]), learnt(items[10:])
    with pytest.raises(ValueError, match="at least one model"):
        mix([])
    with pytest.raises(ValueError, match="model 1 was given twice"):
        mix([ranker, ranker])
    with pytest.raises(ValueError, match="ranker 1 has learnt nothing"):
        mix([ranker, LabelRanker(race=None)])
    with pytest.raises(ValueError, match="must be LabelRankers or Taggers, got str"):
        mix([ranker, "model"])  # type: ignore[type-var]
    with pytest.raises(ValueError, match="ranker 0 has not started from base"):
        mix([ranker], base=learnt(items))
    wide = LabelRanker(race=None, dtype="float64", constant=0.5, temperature=0.2, C=0.7)
    wide.partial_fit(np.ones((1, 9)), np.array([[1, 0, 0]]))
    with pytest.raises(ValueError, match="matrices of 4 columns, but ranker 1 of 9"):
        mix([ranker, wide])
    named = LabelRanker(race=None, dtype="float64", constant=0.5, temperature=0.2, C=0.7)
    named.learn_one({"a": 1.0}, ["x"])
    with pytest.raises(ValueError, match="features by name"):
        mix([ranker, named])
    before = tagalong.model_hash(ranker)
    mix([ranker, other])
    assert tagalong.model_hash(ranker) == before
