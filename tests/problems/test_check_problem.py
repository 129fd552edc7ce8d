"""`check_problem` accepts a valid problem, and names the defect of an invalid one."""

from typing import Any

import numpy as np
import pytest

from tagalong.problems import Multiclass, check_problem


class Weekday:
    """A valid custom problem with three classes; each invalid one below differs in one member."""

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


def test_a_valid_problem_passes() -> None:
    check_problem(Weekday(), [0, 1, 2], [0, 1, 2])
    check_problem(Weekday(), [0, 1, 2])


class LongVectors(Weekday):
    def represent(self, prediction: int) -> Any:
        return 2 * np.eye(3)[prediction]


class ShortVectors(Weekday):
    def represent(self, prediction: int) -> Any:
        return np.eye(2)[prediction % 2]


class SameVector(Weekday):
    def represent(self, prediction: int) -> Any:
        return np.full(3, 3**-0.5)


class LowestScore(Weekday):
    def decode(self, scores: Any) -> int:
        return int(np.argmin(scores))


class NotAugmented(Weekday):
    def augmented_decode(self, scores: Any, y: int) -> int:
        return int(np.argmax(scores))


class IncorrectCorrect(Weekday):
    def correct(self, y: int, scores: Any) -> int:
        return int(np.argmax(scores))


class MostLossTooSmall(Weekday):
    most_loss = 1.0


class LeastLossTooLarge(Weekday):
    least_loss = 3.0
    most_loss = 3.0


class NegativeLoss(Weekday):
    def loss(self, prediction: int, y: int) -> float:
        return 0.0 if prediction == y else -1.0


class ZeroLeastLoss(Weekday):
    least_loss = 0.0


class NoDimension(Weekday):
    dimension = None


@pytest.mark.parametrize(
    "kind, message",
    [
        (LongVectors, r"represent\(0\) has length 2 instead of 1"),
        (ShortVectors, r"represent\(0\) has shape \(2,\), not \(3,\)"),
        (SameVector, r"augmented_decode\(scores, \d\) returned \d with loss plus similarity"),
        (LowestScore, r"decode does not invert represent: decode\(represent\(0\)\) is 1"),
        (NotAugmented, r"augmented_decode\(scores, \d\) returned \d with loss plus similarity"),
        (IncorrectCorrect, r"correct\(\d\) is \d, whose loss is 2.0 instead of 0"),
        (MostLossTooSmall, "from least_loss = 1.0 to most_loss = 1.0"),
        (LeastLossTooLarge, "from least_loss = 3.0"),
        (NegativeLoss, r"is -1.0; it must be 0, or from"),
        (ZeroLeastLoss, "least_loss must be above 0"),
        (NoDimension, "dimension must be at least 1, got None"),
    ],
)
def test_the_message_names_the_defect(kind: type[Weekday], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_problem(kind(), [0, 1, 2], [0, 1, 2])


def test_a_problem_must_have_all_members_and_some_answers() -> None:
    class Incomplete:
        dimension = 2
        least_loss = most_loss = 1.0

        def loss(self, prediction: int, y: int) -> float:
            return 0.0

    with pytest.raises(ValueError, match="it has no represent, decode, augmented_decode, correct"):
        check_problem(Incomplete(), [0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="answers must not be empty"):
        check_problem(Multiclass(dimension=2), [])
