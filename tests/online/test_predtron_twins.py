"""Predtron agrees with the paper's algorithm in NumPy and with classical perceptrons."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tagalong import Predtron, load
from tagalong.problems import Binary, LabelRanking, Multiclass, Multilabel, Ordinal
from tests.contract.bits import native_of
from tests.problems.kinds import KINDS, Kind
from tests.reference.predtron import NaivePredtron, exponents, link
from tests.weights import dense_coef

Array = npt.NDArray[np.float64]
# Problems with labels, whose targets ``fit`` accepts.
NATIVE = [kind for kind in KINDS if not kind.name.startswith("subset") and "own" not in kind.name]
native_kinds = pytest.mark.parametrize("kind", NATIVE, ids=lambda kind: kind.name)


def custom_copy_of(problem: Any) -> Any:
    class Own:
        dimension = problem.dimension
        least_loss = problem.least_loss
        most_loss = problem.most_loss

        def loss(self, prediction: Any, y: Any) -> float:
            return float(problem.loss(prediction, y))

        def represent(self, prediction: Any) -> Any:
            return problem.represent(prediction)

        def decode(self, scores: Any) -> Any:
            return problem.decode(scores)

        def worst_decode(self, scores: Any, y: Any) -> Any:
            return problem.worst_decode(scores, y)

        def augmented_decode(self, scores: Any, y: Any) -> Any:
            return problem.augmented_decode(scores, y)

        def correct(self, y: Any, scores: Any) -> Any:
            return problem.correct(y, scores)

    return Own()


def stream(kind: Kind, rows: int = 60, features: int = 7, seed: int = 0) -> tuple[Array, list[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) * (rng.random((rows, features)) < 0.7)
    return X, [kind.answers[i] for i in rng.integers(len(kind.answers), size=rows)]


def targets(kind: Kind, answers: list[Any]) -> tuple[Any, Any]:
    """Targets in the form that ``fit`` accepts, and the classes."""
    if np.ndim(answers[0]) > 0:
        return np.array(answers), None
    return answers, list(range(max(kind.problem.dimension, 2)))


def theta(model: Any, features: int) -> Array:
    arrays = native_of(model).state()["arrays"]
    out = np.zeros((arrays["theta"].shape[1], features))
    out[:, arrays["features"]] = arrays["theta"].T
    return out


@pytest.mark.parametrize("update", ["mistake", "loss"])
@native_kinds
def test_the_core_matches_the_paper(kind: Kind, update: str) -> None:
    X, answers = stream(kind)
    Y, classes = targets(kind, answers)
    model = Predtron(kind.problem, update=update, step=0.3, dtype="float64")
    model.partial_fit(X, Y, classes)
    twin = NaivePredtron(kind.problem, 7, lambda _: 0.3, by_loss=update == "loss")
    for x, y in zip(X, answers, strict=True):
        twin.learn(x, y)
    np.testing.assert_allclose(theta(model, 7), twin.theta, rtol=1e-10, atol=1e-12)
    assert model.certificate_.loss == pytest.approx(twin.loss, rel=1e-12)
    assert twin.loss > 0


@pytest.mark.parametrize("norm", ["l2", "l1", "group", "trace"])
@native_kinds
def test_a_custom_problem_gets_the_same_weights(kind: Kind, norm: str) -> None:
    """Decoded in Python, with the core's scores and steps: equal up to rounding of the powers."""
    X, answers = stream(kind, rows=25)
    Y, classes = targets(kind, answers)
    ours = Predtron(kind.problem, norm, dtype="float64").partial_fit(X, Y, classes)
    theirs = Predtron(custom_copy_of(kind.problem), norm, dtype="float64").partial_fit(X, answers)
    assert ours.certificate_.mistakes == theirs.certificate_.mistakes > 0
    assert ours.certificate_.loss == pytest.approx(theirs.certificate_.loss, rel=1e-12)
    own = (
        dense_coef(ours)
        if not isinstance(kind.problem, Binary) or kind.problem.dimension == 1
        else None
    )
    if own is not None:
        np.testing.assert_allclose(own, dense_coef(theirs), rtol=1e-9, atol=1e-15)


def test_binary_is_the_perceptron_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 9))
    y = (X @ rng.normal(size=9) + 0.3 * rng.normal(size=300) > 0).astype(int)
    model = Predtron("binary", step=0.5, dtype="float64").fit(X, y)
    w = np.zeros(9)
    mistakes = 0
    for x, label in zip(X, y, strict=True):
        score = 0.0
        for weight, value in zip(w, x, strict=True):  # in feature order, for the same rounding
            score += weight * value
        if (2 * label - 1) * score <= 0:
            w += (2 * label - 1) * x
            mistakes += 1
    assert dense_coef(model).tobytes() == w[None].tobytes()
    assert model.certificate_.mistakes == mistakes > 20


def test_multiclass_is_the_multiclass_perceptron_bit_for_bit() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    y = (X @ rng.normal(size=(6, 4)) + 0.3 * rng.normal(size=(300, 4))).argmax(axis=1)
    model = Predtron("multiclass", step=1.0, dtype="float64").fit(X, y)
    W = np.zeros((4, 6))
    mistakes = 0
    for x, label in zip(X, y, strict=True):
        scores = np.zeros(4)
        for j in range(6):
            scores += W[:, j] * x[j]
        others = [k for k in range(4) if k != label]
        best = max(others, key=lambda k: (scores[k], -k))
        if scores[best] >= scores[label]:
            W[label] += x
            W[best] -= x
            mistakes += 1
    assert dense_coef(model).tobytes() == W.tobytes()
    assert model.certificate_.mistakes == mistakes > 20


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("norm", ["l1", "group"])
@pytest.mark.parametrize("features", [2, 7, 40])
def test_the_links_are_invertible(norm: str, features: int, dtype: str) -> None:
    """The inverse link maps the weights back to the dual vectors, at any scale."""
    rng = np.random.default_rng(2)
    model = Predtron("multiclass", norm, step=1.0, dtype=dtype)
    for size in (1.0, 1e-6, 1e8, 1e-3):  # the internal unit changes between these scales
        X = size * rng.normal(size=(40, features))
        model.partial_fit(X, rng.integers(0, 3, 40), [0, 1, 2])
        dual, primal = theta(model, features).astype(float), dense_coef(model).astype(float)
        p = features * 3 if norm == "l1" else features
        r, s = exponents(p)
        near = 1e-4 if dtype == "float32" else 1e-10
        if norm == "l1":
            again = link(primal, r)
            norms = np.abs(dual), (np.abs(dual) ** s).sum() ** (1 / s)
            straight = dual * (norms[0] / norms[1]) ** (s - 2)
        else:
            lengths = np.linalg.norm(primal, axis=0)
            factor = link(lengths, r) / np.where(lengths > 0, lengths, 1)
            again = primal * factor
            longs = np.linalg.norm(dual, axis=0)
            straight = dual * (longs / (longs**s).sum() ** (1 / s)) ** (s - 2)
        largest = np.abs(dual).max()
        # Weights that underflow the storage type cannot be mapped back.
        seen = np.abs(primal) > (1e-30 if dtype == "float32" else 1e-290)
        np.testing.assert_allclose(again[seen], dual[seen], rtol=near, atol=near * largest)
        np.testing.assert_allclose(primal, straight, rtol=near, atol=near * np.abs(primal).max())


def test_the_trace_link_is_invertible() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 12)), rng.integers(0, 9, 60)
    model = Predtron("multiclass", "trace", step=1.0).fit(X, y)
    dual = native_of(model).state()["arrays"]["trace_theta"]
    left, values, right = np.linalg.svd(dense_coef(model), full_matrices=False)
    r, _ = exponents(9)
    assert r < 2
    again = (left * link(values, r)) @ right
    np.testing.assert_allclose(again, dual, rtol=1e-8, atol=1e-8 * np.abs(dual).max())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_the_kernel_form_is_a_sum_over_support_examples(kernel: str) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 5)), rng.integers(0, 3, 80)
    model = Predtron("multiclass", kernel=kernel, gamma=0.4, degree=2, step=0.5, dtype="float64")
    model.fit(X, y)
    near = {
        "linear": lambda a, b: a @ b,
        "rbf": lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum()),
        "poly": lambda a, b: (0.4 * a @ b + 1) ** 2,
    }[kernel]
    kept: list[tuple[Array, Array]] = []
    problem = Multiclass(dimension=3)
    for x, label in zip(X, y, strict=True):
        scores = sum((a * near(z, x) for a, z in kept), np.zeros(3))
        if (best := problem.worst_decode(scores, label)) != label:
            assert isinstance(best, int)
            kept.append((0.5 * (np.eye(3)[label] - np.eye(3)[best]), x))
    parts = native_of(model).state()["arrays"]["support_parts"]
    assert np.array_equal(parts, np.array([a for a, _ in kept]))
    expected = np.array([sum((a * near(z, x) for a, z in kept), np.zeros(3)) for x in X])
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-12)


def test_a_linear_kernel_equals_the_linear_learner() -> None:
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(60, 5)), rng.integers(0, 2, (60, 4))
    for average in (False, True):
        plain = Predtron(average=average, step=0.7, dtype="float64").fit(X, Y)
        kernel = Predtron(average=average, step=0.7, kernel="linear", dtype="float64").fit(X, Y)
        np.testing.assert_allclose(
            kernel.decision_function(X), plain.decision_function(X), rtol=1e-9, atol=1e-12
        )


def test_a_budget_drops_the_smallest_term() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(120, 4)) * rng.uniform(0.1, 3, (120, 1)), rng.integers(0, 3, 120)
    model = Predtron("multiclass", kernel="linear", budget=7, dtype="float64")
    for x, label in zip(X, y, strict=True):
        before = (
            native_of(model).state()["arrays"].get("support_values")
            if hasattr(model, "classes_")
            else None
        )
        model.partial_fit(x[None], [label], [0, 1, 2])
        arrays = native_of(model).state()["arrays"]
        assert len(arrays["support_parts"]) <= 7
        if (
            before is not None
            and len(before) == 28
            and not np.array_equal(before, arrays["support_values"])
        ):
            kept = {row.tobytes() for row in arrays["support_values"].reshape(-1, 4)}
            gone = [row for row in before.reshape(-1, 4) if row.tobytes() not in kept]
            assert len(gone) <= 1
    assert len(arrays["support_parts"]) == 7


def test_averages_are_the_mean_of_the_weights() -> None:
    rng = np.random.default_rng(7)
    X, Y = rng.normal(size=(50, 6)), rng.integers(0, 2, (50, 5))
    model = Predtron("multilabel", average=True, step=0.2, dtype="float64")
    plain, total = Predtron("multilabel", step=0.2, dtype="float64"), np.zeros((5, 6))
    for x, y in zip(X, Y, strict=True):
        model.partial_fit(x[None], y[None])
        total += dense_coef(plain.partial_fit(x[None], y[None]))
    np.testing.assert_allclose(dense_coef(model), total / 50, rtol=1e-9, atol=1e-12)


def test_unknown_labels_are_ignored() -> None:
    """The round equals one on the known labels only."""
    X = np.array([[1.0, 2.0]])
    for problem in (LabelRanking(), Multilabel(), Multilabel("subset"), Multilabel("error_set")):
        whole = Predtron(problem, step=1.0, dtype="float64").partial_fit(
            X, np.array([[0.0, np.nan, 1.0, np.nan, 0.0, 1.0]])
        )
        part = Predtron(problem, step=1.0, dtype="float64").partial_fit(
            X, np.array([[0.0, 1.0, 0.0, 1.0]])
        )
        assert whole.certificate_.mistakes == 1
        assert np.array_equal(dense_coef(whole)[[0, 2, 4, 5]], dense_coef(part))
        assert not dense_coef(whole)[[1, 3]].any()


def test_methods_of_a_problem_subclass_are_used() -> None:
    """The core does not know the overridden methods, so Python decodes."""

    class Squared(Ordinal):
        def loss(self, prediction: int, y: int) -> float:
            return super().loss(prediction, y) ** 2

        def augmented_decode(self, scores: Any, y: int) -> int:
            return int(np.argmax((np.arange(len(scores)) - y) ** 2 + scores))

    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, 4, 60)
    model = Predtron(Squared(4), step=0.3, dtype="float64").fit(X, y)
    twin = NaivePredtron(Squared(4), 4, lambda _: 0.3)
    for x, level in zip(X, y, strict=True):
        twin.learn(x, level)
    np.testing.assert_allclose(dense_coef(model), twin.theta, rtol=1e-10, atol=1e-12)
    assert model.certificate_.loss == twin.loss


def test_levels_have_their_own_order() -> None:
    y = ["low", "high", "mid", "low", "mid", "high"]
    X = np.eye(6)
    model = Predtron(Ordinal(["low", "mid", "high"]), step=1.0, passes=3).fit(X, y)
    assert model.classes_.tolist() == ["low", "mid", "high"]
    assert model.predict(X).tolist() == y
    with pytest.raises(ValueError, match="'huge' is not in classes_"):
        model.partial_fit(X[:1], ["huge"])


@pytest.mark.parametrize("norm", ["l1", "group", "trace"])
@pytest.mark.parametrize("update", ["mistake", "loss"])
@native_kinds
def test_averages_of_a_link_are_the_mean_of_the_weights(kind: Kind, update: str, norm: str) -> None:
    """The mean of the weights after each round, whether they changed in it or not."""
    X, answers = stream(kind, rows=40)
    X[20] *= 1e3  # a row that is much larger changes the unit of the powers
    Y, classes = targets(kind, answers)
    model, plain = (
        Predtron(kind.problem, norm, update, step=0.3, average=average, dtype="float64")
        for average in (True, False)
    )
    total: Any = 0.0
    for row in range(40):
        for each in (model, plain):
            each.partial_fit(X[row : row + 1], Y[row : row + 1], classes if row == 0 else None)
        total = total + dense_coef(plain)
        np.testing.assert_allclose(
            dense_coef(model), total / (row + 1), rtol=1e-8, atol=1e-9 * np.abs(total).max()
        )
    assert model.certificate_.loss == plain.certificate_.loss > 0
    if not isinstance(kind.problem, Binary):
        np.testing.assert_allclose(
            model.decision_function(X), X @ dense_coef(model).T, rtol=1e-8, atol=1e-6
        )


@pytest.mark.parametrize("norm", ["l1", "group", "trace"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_averages_of_a_link_survive_files_and_more_rows(norm: str, dtype: str, tmp_path) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 8))
    y = (X @ rng.normal(size=(8, 3))).argmax(axis=1)
    straight = Predtron("multiclass", norm, average=True, dtype=dtype, constant=1.0)
    straight.partial_fit(X[:70], y[:70], [0, 1, 2]).save(tmp_path / "model")
    again = load(tmp_path / "model")
    for model in (straight, again):
        model.partial_fit(X[70:], y[70:])
    assert straight.decision_function(X).tobytes() == again.decision_function(X).tobytes()
    whole = Predtron("multiclass", norm, average=True, dtype=dtype, constant=1.0)
    whole.partial_fit(X, y, [0, 1, 2])
    assert whole.decision_function(X).tobytes() == again.decision_function(X).tobytes()


@pytest.mark.parametrize("norm", ["l1", "group"])
def test_merged_labels_have_the_sum_of_the_mean_weights(norm: str) -> None:
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(60, 6)), rng.random((60, 4)) < 0.4
    model = Predtron("multilabel", norm, average=True, step=0.2, dtype="float64")
    model.partial_fit(X, Y, classes=list("abcd"))
    before = dense_coef(model)
    model.merge_labels(["a", "c"], into="a")
    expected = np.array([before[0] + before[2], before[1], before[3]])
    np.testing.assert_allclose(dense_coef(model), expected, rtol=1e-9, atol=1e-12)
    kept = model.coef_.copy() if hasattr(model.coef_, "copy") else model.coef_
    model.partial_fit(X[:1], Y[:1, [0, 1, 3]])
    assert not np.array_equal(np.asarray(kept), np.asarray(model.coef_))
