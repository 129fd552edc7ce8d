"""Reference implementation of Predtron (Algorithm 1 of P5), and separable streams."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Decoder = Callable[[Any, Vector, Any], Any]


def augmented(problem: Any, scores: Vector, y: Any) -> Any:
    return problem.augmented_decode(scores, y)


def link(w: Vector, r: float) -> Vector:
    """Return theta of w: the gradient of half the squared r-norm."""
    norm = float((np.abs(w) ** r).sum() ** (1 / r))
    out = np.zeros_like(w)
    nonzero = w != 0
    out[nonzero] = w[nonzero] * (np.abs(w[nonzero]) / norm) ** (r - 2)
    return out


def exponents(p: float) -> tuple[float, float]:
    """Return r, and its dual exponent s, of the link for p weights."""
    s = max(2.0, float(np.log(p)))
    return s / (s - 1), s


@dataclass
class NaivePredtron:
    """Algorithm 1, with a step that may depend on the round and a replaceable decoder."""

    problem: Any
    features: int
    step: Callable[[int], float]
    by_loss: bool = False
    decoder: Decoder = augmented
    to_weights: Callable[[Vector], Vector] = lambda theta: theta
    loss: float = 0.0
    rounds: int = 0
    theta: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.theta = np.zeros((self.problem.dimension, self.features))

    def learn(self, x: Vector, y: Any) -> float:
        problem, t = self.problem, self.to_weights(self.theta) @ x
        # A tie counts as a mistake if the problem has worst_decode.
        worst = getattr(problem, "worst_decode", None)
        predicted = problem.decode(t) if worst is None else worst(t, y)
        loss = problem.loss(predicted, y)
        self.rounds += 1
        self.loss += loss
        if loss > 0:
            other = predicted if self.by_loss else self.decoder(problem, t, y)
            gradient = problem.represent(other) - problem.represent(problem.correct(y, t))
            amount = self.step(self.rounds) * (loss if self.by_loss else 1.0)
            self.theta -= amount * np.outer(gradient, x)
        return float(loss)


def margin_of(problem: Any, predictions: Sequence[Any], W: Vector, x: Vector, y: Any) -> float:
    """Return the lowest similarity of a correct prediction minus the highest of the others."""
    t = W @ x
    found = [(float(problem.represent(p) @ t), problem.loss(p, y) == 0) for p in predictions]
    return min(s for s, correct in found if correct) - max(s for s, correct in found if not correct)


def separable_stream(
    problem: Any,
    predictions: Sequence[Any],
    W: Vector,
    margin: float,
    rows: int,
    rng: np.random.Generator,
    answer: Callable[[Vector], Any] | None = None,
) -> tuple[Vector, list[Any]]:
    """Return rows in [-1, 1]^n that W separates by the margin, and their answers."""
    X: list[Vector] = []
    Y: list[Any] = []
    while len(Y) < rows:
        x: Vector = rng.uniform(-1, 1, (W.shape[1],))
        y = (answer or problem.decode)(W @ x)
        if all(problem.loss(p, y) == 0 for p in predictions):
            continue
        if margin_of(problem, predictions, W, x, y) >= margin:
            X.append(x)
            Y.append(y)
    return np.array(X), Y
