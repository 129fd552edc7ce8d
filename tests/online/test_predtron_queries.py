"""Subset ranking: queries of documents, one weight vector."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from tagalong import Predtron
from tagalong.evaluate import mean_ndcg
from tagalong.online.predtron.queries import QueryNorms
from tagalong.problems import SubsetRanking
from tests.contract.bits import assert_same, native_of, whole
from tests.weights import dense_coef

Array = npt.NDArray[np.float64]
SIZES = [4, 7, 1, 5, 9, 6, 3, 8] * 3


def stream(grades: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(sum(SIZES), 6)) * (rng.random((sum(SIZES), 6)) < 0.8), 2)
    edges = np.linspace(-0.5, 2.0, grades - 1)
    return X, np.digitize(X @ rng.normal(size=6), edges).astype(float)


def naive(
    problem: Any, X: Array, y: Array, step: float, by_loss: bool = False
) -> tuple[Array, float]:
    """Algorithm 1 with line 9 as in Corollary 5."""
    w, total, start = np.zeros(X.shape[1]), 0.0, 0
    for size in SIZES:
        D, g = X[start : start + size], y[start : start + size]
        start += size
        t = D @ w
        predicted = problem.worst_decode(t, g)
        loss = problem.loss(predicted, g)
        total += loss
        if loss > 0:
            other = predicted if by_loss else problem.augmented_decode(t, g)
            gradient = problem.represent(other) - problem.represent(problem.correct(g, t))
            w -= step * (loss if by_loss else 1) * D.T @ gradient
    return w, total


@pytest.mark.parametrize("update", ["mistake", "loss"])
@pytest.mark.parametrize("grades", [2, 4])
@pytest.mark.parametrize(
    "settings",
    [{}, {"position": "1/i"}, {"k": 3}, {"loss": "precision", "k": 2}, {"ties": "index"}],
    ids=str,
)
def test_the_learner_matches_the_paper(settings: dict[str, Any], grades: int, update: str) -> None:
    """Two grades are sorted in the core; more grades need SciPy's linear assignment."""
    X, y = stream(grades)
    model = Predtron(SubsetRanking(**settings), update=update, step=0.4, dtype="float64")
    model.fit(X, y, group=SIZES)
    w, loss = naive(SubsetRanking(**settings), X, y, 0.4, update == "loss")
    np.testing.assert_allclose(dense_coef(model), w, rtol=1e-9, atol=1e-12)
    assert loss > 0
    assert model.certificate_.loss == pytest.approx(loss)
    assert model.certificate_.rounds == len(SIZES)


@pytest.mark.parametrize("grades", [2, 4])
@pytest.mark.parametrize(
    "parameters", [{}, {"step": 1.0}, {"norm": "l1"}, {"norm": "group"}, {"average": True}]
)
def test_the_same_queries_give_the_same_bits(parameters: dict[str, Any], grades: int) -> None:
    X, y = stream(grades)
    ends = np.cumsum([0, *SIZES])

    def make() -> Predtron:
        return Predtron("subset-ranking", n_features=6, **parameters)

    fitted = make().fit(X, y, group=SIZES)
    pieces, sparse, single = make(), make(), make()
    for size, start, end in zip(SIZES, ends[:-1], ends[1:], strict=True):
        pieces.partial_fit(X[start:end], y[start:end], group=[size])
        sparse.partial_fit(sp.csr_array(X[start:end]), y[start:end])
        rows = [(np.flatnonzero(row), row[row != 0]) for row in X[start:end]]
        single.watch_query(rows, y[start:end])
    assert_same(whole(pieces), whole(fitted))
    assert_same(whole(sparse), whole(fitted))
    native = native_of(single).state()
    assert native["arrays"]["theta"].tobytes() == (
        native_of(fitted).state()["arrays"]["theta"].tobytes()
    )
    assert native["numbers"] == native_of(fitted).state()["numbers"]


@pytest.mark.parametrize("average", [False, True])
def test_scores_before_learning_equal_decision_function(average: bool) -> None:
    X, y = stream(4)
    before = Predtron("subset-ranking", average=average).predict_then_learn(X, y, group=SIZES)
    model, start = Predtron("subset-ranking", average=average), SIZES[0]
    assert not before[:start].any()
    model.partial_fit(X[:start], y[:start])
    for size in SIZES[1:]:
        part = slice(start, start + size)
        assert model.decision_function(X[part]).tobytes() == before[part].tobytes()
        model.partial_fit(X[part], y[part])
        start += size


def test_ranks_and_scores() -> None:
    X, y = stream(4)
    model = Predtron("subset-ranking", passes=20).fit(X, y, group=SIZES)
    scores, places = model.decision_function(X), model.predict(X, group=SIZES)
    start = 0
    for size in SIZES:
        part = slice(start, start + size)
        assert sorted(places[part]) == list(range(1, size + 1))
        assert (np.diff(scores[part][np.argsort(places[part])]) <= 0).all()
        start += size
    ndcg = mean_ndcg(scores, y, SIZES)
    assert ndcg > 0.95
    without = [i for i, size in enumerate(SIZES) if y[sum(SIZES[:i]) :][:size].any()]
    shares = len(without) / len(SIZES)
    assert model.score(X, y, group=SIZES) == pytest.approx(shares * ndcg + 1 - shares)
    assert dense_coef(model).shape == (6,)


def test_weights_scale_the_step() -> None:
    X, y = stream()
    zero = np.ones(len(SIZES))
    zero[3:] = 0
    part = Predtron("subset-ranking").fit(X, y, zero, SIZES)
    alone = Predtron("subset-ranking").fit(X[:12], y[:12], group=SIZES[:3])
    assert dense_coef(part).tobytes() == dense_coef(alone).tobytes()
    twice = Predtron("subset-ranking", step=0.5, dtype="float64")
    twice.fit(X, y, np.full(len(SIZES), 2.0), SIZES)
    once = Predtron("subset-ranking", step=1.0, dtype="float64").fit(X, y, group=SIZES)
    assert dense_coef(twice).tobytes() == dense_coef(once).tobytes()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_norms_of_queries(form: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 9)) * (rng.random((40, 9)) < 0.6)
    settings = {"norm": "l2", "step": 0.0, "update": "mistake"}
    queries = QueryNorms(form(X), settings)
    columns = QueryNorms(form(X), {**settings, "norm": "l1"})
    above = QueryNorms(form(X), {**settings, "step": 1.0})
    longest = 0.0
    for start in range(0, 40, 8):
        part = X[start : start + 8]
        longest = max(longest, queries.norm(start, start + 8, longest))
        true = max(np.linalg.norm(X[at : at + 8], 2) for at in range(0, start + 1, 8))
        assert longest == pytest.approx(true)
        expected = np.linalg.norm(part, axis=0).max()
        assert columns.norm(start, start + 8, 0.0) == pytest.approx(expected)
        assert above.norm(start, start + 8, 0.0) == pytest.approx(np.linalg.norm(part))


def test_the_bound_of_corollary_5() -> None:
    """Two documents per query, separated by a direction of length 1."""
    rng = np.random.default_rng(3)
    w = np.array([0.6, -0.8, 0.0])
    problem = SubsetRanking(dimension=2)
    f, _ = problem.places(2)
    rows: list[Array] = []
    grades: list[float] = []
    while len(grades) < 160:
        D = rng.uniform(-1, 1, (2, 3))
        t = D @ w
        if abs(t[0] - t[1]) >= 0.8:
            rows.append(D)
            grades.extend((t == t.max()).astype(float))
    X, y = np.vstack(rows), np.array(grades)
    margin = 0.8 * (f[0] - f[1])
    radius = max(float(np.linalg.norm(D)) for D in rows)
    step = problem.least_loss / (4 * radius**2)
    model = Predtron("subset-ranking", step=step, passes=20).fit(X, y, group=[2] * 80)
    bound = 4 * radius**2 / (problem.least_loss * margin**2)
    assert model.certificate_.bound(margin) == pytest.approx(bound, rel=1e-6)
    assert 0 < model.certificate_.loss <= bound


def test_grades_up_to_the_largest() -> None:
    X, y = stream()
    grades = 26 * y
    assert grades.max() == 52
    problem = SubsetRanking("-i^1.1")
    model = Predtron(problem, step=1.0, dtype="float64").fit(X, grades, group=SIZES)
    w, total = naive(problem, X, grades, 1.0)
    np.testing.assert_allclose(dense_coef(model), w, rtol=1e-9, atol=1e-12)
    assert model.certificate_.loss == pytest.approx(total, rel=1e-9)
    # Gains are exact up to here: the best order has no loss, and the next best has a positive one.
    best = problem.correct([52, 1, 0], np.zeros(3))
    assert problem.loss(best, [52, 1, 0]) == 0 < problem.loss([0, 2, 1], [52, 51, 0])
