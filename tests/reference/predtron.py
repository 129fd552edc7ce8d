"""Predtron as the paper has it, in a few lines of NumPy; and what separates a stream."""

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
    """theta of w: the gradient of half the squared r-norm, entry by entry."""
    norm = float((np.abs(w) ** r).sum() ** (1 / r))
    out = np.zeros_like(w)
    some = w != 0
    out[some] = w[some] * (np.abs(w[some]) / norm) ** (r - 2)
    return out


def exponents(p: float) -> tuple[float, float]:
    """r and its dual s of the link for p numbers."""
    s = max(2.0, float(np.log(p)))
    return s / (s - 1), s


@dataclass
class Naive:
    """Algorithm 1, with a step that may depend on the round and a decoder that may be wrong."""

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
        # Equal scores are a mistake, where the problem can tell.
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
    """By how much W keeps all correct predictions above all others; negative if it does not."""
    t = W @ x
    worth = [(float(problem.represent(p) @ t), problem.loss(p, y) == 0) for p in predictions]
    return min(w for w, right in worth if right) - max(w for w, right in worth if not right)


def separable_stream(
    problem: Any,
    predictions: Sequence[Any],
    W: Vector,
    margin: float,
    rows: int,
    rng: np.random.Generator,
    answer: Callable[[Vector], Any] | None = None,
) -> tuple[Vector, list[Any]]:
    """Rows in [-1, 1]^n that W separates by the margin, and their answers."""
    X, Y = [], []
    while len(Y) < rows:
        x = rng.uniform(-1, 1, W.shape[1])
        y = (answer or problem.decode)(W @ x)
        if all(problem.loss(p, y) == 0 for p in predictions):
            continue
        if margin_of(problem, predictions, W, x, y) >= margin:
            X.append(x)
            Y.append(y)
    return np.array(X), Y
