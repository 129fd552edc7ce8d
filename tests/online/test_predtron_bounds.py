"""The bounds of P5 hold on separable streams, and a wrong learner exceeds them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tagalong import NoBoundWarning, Predtron
from tagalong.problems import REJECT, Binary, LabelRanking, Multiclass, Multilabel, Ordinal
from tests.problems.kinds import orders, sets
from tests.reference.predtron import NaivePredtron, exponents, margin_of, separable_stream
from tests.weights import dense_coef

Array = npt.NDArray[np.float64]
FEATURES = 4
ROWS = 60


def relevant_above_zero(scores: Array) -> Any:
    return (scores > 0).astype(int)


CASES: dict[str, tuple[Any, list[Any], Callable[[Array], Any] | None]] = {
    "binary": (Binary(), [0, 1], None),
    "binary, costs": (Binary((2.0, 1.0)), [0, 1], None),
    "binary, reject": (Binary(reject=0.5), [0, 1, REJECT], lambda t: int(t.argmax())),
    "multiclass": (Multiclass(dimension=3), [0, 1, 2], None),
    "ordinal": (Ordinal(3), [0, 1, 2], None),
    "hamming": (Multilabel(dimension=3), sets(3), None),
    "subset": (Multilabel("subset", 3), sets(3), None),
    "ndcg": (LabelRanking(dimension=2), orders(2), relevant_above_zero),
    "precision": (
        LabelRanking(loss="precision", k=1, dimension=3),
        orders(3),
        lambda t: (t == t.max()).astype(int),
    ),
}
every_case = pytest.mark.parametrize("case", CASES)


def competitor(case: str, norm: str) -> Array:
    """Weights of norm 1 that separate predictions well; only a few features matter."""
    rng = np.random.default_rng(5)
    W = np.zeros((CASES[case][0].dimension, FEATURES))
    W[:, :2] = rng.normal(size=W[:, :2].shape)
    W[:, :2] -= W[:, :2].mean(axis=0) if len(W) > 1 and "reject" in case else 0
    size = {
        "l2": np.linalg.norm(W),
        "l1": np.abs(W).sum(),
        "group": np.linalg.norm(W, axis=0).sum(),
        "trace": np.linalg.svd(W, compute_uv=False).sum(),
    }[norm]
    return W / size


def made(case: str, norm: str) -> tuple[Array, list[Any], float]:
    """A stream, its targets, and the margin by which the competitor separates it."""
    problem, predictions, answer = CASES[case]
    W = competitor(case, norm)
    rng = np.random.default_rng(0)
    draws = rng.uniform(-1, 1, (200, FEATURES))
    answers = [(answer or problem.decode)(W @ x) for x in draws]
    margins = [
        margin_of(problem, predictions, W, x, y)
        for x, y in zip(draws, answers, strict=True)
        if not all(problem.loss(p, y) == 0 for p in predictions)
    ]
    margin = float(np.quantile([m for m in margins if m > 0], 0.7))
    X, Y = separable_stream(problem, predictions, W, margin, ROWS, rng, answer)
    found = min(margin_of(problem, predictions, W, x, y) for x, y in zip(X, Y, strict=True))
    assert found >= margin
    return X, Y, found


def radius_of(X: Array, norm: str) -> float:
    return float(np.abs(X).max() if norm in ("l1", "group") else np.linalg.norm(X, axis=1).max())


def spread_of(case: str, norm: str) -> float:
    d = CASES[case][0].dimension
    p = {"l2": 0, "l1": d * FEATURES, "group": FEATURES, "trace": min(d, FEATURES)}[norm]
    if norm == "l2":
        return 1.0
    _, s = exponents(p)
    return float(p ** (2 / s) * (s - 1))


def theory(case: str, norm: str, X: Array) -> tuple[float, float]:
    """The step of the theory for a known radius, and R^2 times the spread."""
    square = radius_of(X, norm) ** 2 * spread_of(case, norm)
    return CASES[case][0].least_loss / (4 * square), square


def learnt(case: str, norm: str, update: str, passes: int = 30) -> tuple[Any, float, float]:
    X, answers, margin = made(case, norm)
    step, square = theory(case, norm, X)
    indicator = np.ndim(answers[0]) > 0
    Y = np.array(answers) if indicator else answers
    classes = None if indicator else list(range(max(2, CASES[case][0].dimension)))
    model = Predtron(CASES[case][0], norm, update, step=step, dtype="float64")
    for _ in range(passes):
        model.partial_fit(X, Y, classes)
    return model, margin, square


@every_case
@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace"])
def test_theorem_1_for_all_norms(case: str, norm: str) -> None:
    model, margin, square = learnt(case, norm, "mistake", passes=4 if norm == "trace" else 30)
    problem = CASES[case][0]
    bound = 4 * square * problem.most_loss**2 / (problem.least_loss * margin**2)
    assert 0 < model.certificate_.loss <= bound
    assert model.certificate_.bound(margin) == pytest.approx(bound, rel=1e-9)


@every_case
@pytest.mark.parametrize("norm", ["l2", "l1", "group"])
def test_the_loss_update(case: str, norm: str) -> None:
    model, margin, square = learnt(case, norm, "loss")
    bound = 4 * square * CASES[case][0].most_loss / margin**2
    assert 0 < model.certificate_.loss <= bound
    assert model.certificate_.bound(margin) == pytest.approx(bound, rel=1e-9)


@every_case
def test_a_larger_step_has_another_bound(case: str) -> None:
    problem = CASES[case][0]
    X, answers, margin = made(case, "l2")
    step, square = theory(case, "l2", X)
    twin = NaivePredtron(problem, FEATURES, lambda _: 1.9 * step)
    for _ in range(30):
        for x, y in zip(X, answers, strict=True):
            twin.learn(x, y)
    kept = 1 - 2 * 1.9 * step * square / problem.least_loss
    assert twin.loss <= problem.most_loss**2 / (2 * 1.9 * step * margin**2 * kept)


def most_similar_to_the_target(problem: Any, scores: Array, y: Any) -> Any:
    """A wrong loss-augmented decoder: it ignores the scores and negates the loss."""
    return problem.correct(y, scores)


MUTANTS: dict[str, dict[str, Any]] = {
    "a step that dies away": {"step": lambda step: lambda t: step * 3.0**-t},
    "a step in the wrong direction": {"step": lambda step: lambda t: -step},
    "a decoder that finds the answer": {"decoder": most_similar_to_the_target},
}


@pytest.mark.parametrize("mutant", MUTANTS)
@pytest.mark.parametrize("case", ["multiclass", "ordinal", "hamming", "subset", "precision"])
def test_a_wrong_learner_exceeds_the_bound(case: str, mutant: str) -> None:
    problem = CASES[case][0]
    X, answers, margin = made(case, "l2")
    step, square = theory(case, "l2", X)
    bound = 4 * square * problem.most_loss**2 / (problem.least_loss * margin**2)
    change = MUTANTS[mutant]
    wrong = NaivePredtron(
        problem,
        FEATURES,
        change.get("step", lambda step: lambda t: step)(step),
        decoder=change.get("decoder", lambda problem, t, y: problem.augmented_decode(t, y)),
    )
    right = NaivePredtron(problem, FEATURES, lambda t: step)
    for _ in range(int(60 * bound / ROWS) + 1):
        for x, y in zip(X, answers, strict=True):
            wrong.learn(x, y)
            right.learn(x, y)
        if wrong.loss > bound:
            break
    assert wrong.loss > bound >= right.loss


@pytest.mark.parametrize("norm", ["l1", "group"])
def test_a_wrong_link_exceeds_the_bound(norm: str) -> None:
    """A link that negates the weights, in an otherwise correct learner."""
    problem = CASES["multiclass"][0]
    X, answers, margin = made("multiclass", norm)
    step, square = theory("multiclass", norm, X)
    bound = 4 * square / margin**2
    wrong = NaivePredtron(problem, FEATURES, lambda t: step, to_weights=lambda theta: theta[::-1])
    while wrong.loss <= bound and wrong.rounds < 200 * bound:
        for x, y in zip(X, answers, strict=True):
            wrong.learn(x, y)
    assert wrong.loss > bound


def test_the_certificate_says_when_there_is_no_bound() -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 3.0], [1.0, 1.0]]), [1, 0, 1]
    growing = Predtron("binary").partial_fit(X, y, [0, 1]).partial_fit(9 * X, [0, 1, 0])
    with pytest.warns(NoBoundWarning, match="the step has changed"):
        assert growing.certificate_.bound(0.1) == np.inf
    large = Predtron("binary", step=5.0).fit(X, y)
    with pytest.warns(NoBoundWarning, match="there is no bound for step=5: it must be below"):
        large.certificate_.bound(0.1)
    weighted = Predtron("binary", step=0.01).fit(X, y, sample_weight=[1.0, 2.0, 1.0])
    with pytest.warns(NoBoundWarning, match="sample weights other than 1"):
        weighted.certificate_.bound(0.1)
    with pytest.warns(NoBoundWarning, match="no scores separate an answer"):
        Predtron(Multilabel("error_set")).fit(X, np.eye(3)).certificate_.bound(0.1)
    with pytest.raises(ValueError, match="margin must be positive, got 0"):
        large.certificate_.bound(0)
    assert Predtron("binary", "l2", "loss", step=5.0).fit(X, y).certificate_.bound(0.5) > 0


def test_the_step_of_the_theory_follows_the_largest_norm() -> None:
    X = np.array([[3.0, 4.0], [1.0, 0.0], [6.0, 8.0]])
    model = Predtron("multiclass", dtype="float64").partial_fit(X[:1], [1], [0, 1])
    assert model.certificate_.step == 1 / (4 * 25)
    assert dense_coef(model).tolist() == [[-0.03, -0.04], [0.03, 0.04]]
    model.partial_fit(X[1:2], [0])  # a shorter row does not change it
    assert model.certificate_.step == 1 / (4 * 25)
    model.partial_fit(X[2:], [0])
    assert np.isnan(model.certificate_.step)
    assert model.certificate_.radius == 10
