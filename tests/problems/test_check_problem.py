"""A broken problem is found out, and told what is wrong with it."""

from typing import Any

import numpy as np
import pytest

from tagalong.problems import Multiclass, check_problem


class Weekday:
    """A problem of one's own, with three classes; the broken ones differ from it in one thing."""

    dimension: Any = 3
    least_loss = 1.0
    most_loss = 2.0

    def loss(self, prediction: int, y: int) -> float:
        return float(min(abs(prediction - y), 3 - abs(prediction - y))) * 2

    def represent(self, prediction: int) -> Any:
        return np.eye(3)[prediction]

    def decode(self, scores: Any) -> int:
        return int(np.argmax(scores))

    def augmented_decode(self, scores: Any, y: int) -> int:
        return int(np.argmax([self.loss(p, y) + scores[p] for p in range(3)]))

    def correct(self, y: int, scores: Any) -> int:
        return y


def test_a_sound_problem_passes() -> None:
    check_problem(Weekday(), [0, 1, 2], [0, 1, 2])
    check_problem(Weekday(), [0, 1, 2])


class LongVectors(Weekday):
    def represent(self, prediction: int) -> Any:
        return 2 * np.eye(3)[prediction]


class ShortVectors(Weekday):
    def represent(self, prediction: int) -> Any:
        return np.eye(2)[prediction % 2]


class OneForAll(Weekday):
    def represent(self, prediction: int) -> Any:
        return np.full(3, 3**-0.5)


class LastOfTies(Weekday):
    def decode(self, scores: Any) -> int:
        return int(np.argmin(scores))


class Hinge(Weekday):
    def augmented_decode(self, scores: Any, y: int) -> int:
        return int(np.argmax(scores))


class Stubborn(Weekday):
    def correct(self, y: int, scores: Any) -> int:
        return int(np.argmax(scores))


class TooDear(Weekday):
    most_loss = 1.0


class TooCheap(Weekday):
    least_loss = 3.0
    most_loss = 3.0


class Negative(Weekday):
    def loss(self, prediction: int, y: int) -> float:
        return 0.0 if prediction == y else -1.0


class NoLimits(Weekday):
    least_loss = 0.0


class Unsized(Weekday):
    dimension = None


@pytest.mark.parametrize(
    "kind, problem",
    [
        (LongVectors, r"represent\(0\) has length 2 instead of 1"),
        (ShortVectors, r"represent\(0\) has shape \(2,\), not \(3,\)"),
        (OneForAll, "decode does not invert represent|worth"),
        (LastOfTies, "decode"),
        (Hinge, r"augmented_decode\(scores, \d\) found \d, worth"),
        (Stubborn, r"correct\(\d\) is \d, which loses 2.0 instead of 0"),
        (TooDear, "from least_loss = 1.0 to most_loss = 1.0"),
        (TooCheap, "from least_loss = 3.0"),
        (Negative, r"is -1.0; it must be 0, or from"),
        (NoLimits, "least_loss must be above 0"),
        (Unsized, "dimension must be a number from 1 on, got None"),
    ],
)
def test_what_is_broken_is_named(kind: type[Weekday], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        check_problem(kind(), [0, 1, 2], [0, 1, 2])


def test_a_problem_must_have_all_its_parts() -> None:
    class Half:
        dimension = 2
        least_loss = most_loss = 1.0

        def loss(self, prediction: int, y: int) -> float:
            return 0.0

    with pytest.raises(ValueError, match="it has no represent, decode, augmented_decode, correct"):
        check_problem(Half(), [0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="answers must not be empty"):
        check_problem(Multiclass(dimension=2), [])
