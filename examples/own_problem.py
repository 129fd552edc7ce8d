"""Teach Predtron a prediction problem of your own: compass directions, where north is near west.

    python examples/own_problem.py

A problem has a loss, a vector for each prediction, and two decoders. `check_problem` tests that
they agree with each other before anything is learnt (Predtron: Jain, Natarajan and Tewari, 2015).
"""

import numpy as np

from tagalong import Predtron
from tagalong.problems import check_problem

DIRECTIONS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]


class Compass:
    """Predict one of eight directions; the loss is the number of steps around the circle."""

    dimension = len(DIRECTIONS)
    least_loss, most_loss = 1.0, len(DIRECTIONS) / 2

    def loss(self, prediction: int, y: int) -> float:
        """Return the shorter way around the circle, in steps."""
        steps = abs(prediction - y)
        return float(min(steps, self.dimension - steps))

    def represent(self, prediction: int) -> np.ndarray:
        """Return the vector of a prediction; scores are inner products with it."""
        return np.asarray(np.eye(self.dimension)[prediction])

    def decode(self, scores: np.ndarray) -> int:
        """Return the prediction that scores highest."""
        return int(np.argmax(scores))

    def augmented_decode(self, scores: np.ndarray, y: int) -> int:
        """Return the prediction with the highest score plus loss against y."""
        losses = [self.loss(prediction, y) for prediction in range(self.dimension)]
        return int(np.argmax(scores + losses))

    def correct(self, y: int, scores: np.ndarray) -> int:
        """Return the prediction that has no loss against y."""
        return y


def readings(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy readings of a wind vane, two numbers each, and the true directions."""
    direction = rng.integers(0, len(DIRECTIONS), rows)
    angle = direction * 2 * np.pi / len(DIRECTIONS) + rng.normal(0, 0.3, rows)
    return np.column_stack([np.cos(angle), np.sin(angle)]), direction


def main() -> None:
    """Check the problem, learn 3,000 readings, and print the mean loss on new ones."""
    compass = Compass()
    everything = range(compass.dimension)
    check_problem(compass, answers=everything, predictions=everything)
    rng = np.random.default_rng(0)
    model = Predtron(compass, step=0.1, average=True, constant=1.0).fit(*readings(rng, 3000))
    X, truth = readings(rng, 1000)
    loss = np.mean([compass.loss(p, y) for p, y in zip(model.predict(X), truth, strict=True)])
    print(f"off by {loss:.2f} steps on average (guessing: 2.00)")
    print("a reading of (0, -1) is", DIRECTIONS[model.predict(np.array([[0.0, -1.0]]))[0]])


if __name__ == "__main__":
    main()
