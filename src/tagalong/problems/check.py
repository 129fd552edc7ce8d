"""Test that a custom problem satisfies the protocol."""

from collections.abc import Sequence

import numpy as np

from tagalong.problems.protocol import Problem, Vector, missing_members

__all__ = ["check_problem"]

TOLERANCE = 1e-9


def check_problem(
    problem: Problem,
    answers: Sequence[object],
    predictions: Sequence[object] | None = None,
    *,
    rounds: int = 50,
    seed: int = 0,
) -> None:
    """Raise ValueError if a problem violates what Predtron assumes about it.

    Every representation must have length 1 and decode to its own prediction. A correct prediction
    must have loss 0, and every other loss must lie between ``least_loss`` and ``most_loss``. For
    random scores, with and without ties, ``decode`` must return a prediction with the largest
    similarity, and ``augmented_decode`` one with the largest sum of loss and similarity. The
    similarity of a prediction is the inner product of its representation with the scores.

    Parameters
    ----------
    problem : Problem
        The problem; its dimension must be set.
    answers : sequence
        Answers to test with: all possible ones if they are few.
    predictions : sequence, optional
        All possible predictions, if they are few enough to enumerate. By default the decoders are
        compared only with predictions that the problem returns during the test.
    rounds : int, default 50
        Number of random scores without ties, and again with ties.
    seed : int, default 0
        Seed of the random scores.

    Examples
    --------
    >>> from tagalong.problems import Multiclass, check_problem
    >>> check_problem(Multiclass(dimension=3), answers=[0, 1, 2], predictions=[0, 1, 2])
    """
    if missing := missing_members(problem):
        raise ValueError(f"{problem!r} is not a problem: it has no {', '.join(missing)}")
    if problem.dimension is None or problem.dimension < 1:
        raise ValueError(f"dimension must be at least 1, got {problem.dimension!r}")
    if not len(answers):
        raise ValueError("answers must not be empty")
    if not 0 < problem.least_loss <= problem.most_loss:
        raise ValueError(
            "least_loss must be above 0 and at most most_loss, got "
            f"{problem.least_loss!r} and {problem.most_loss!r}"
        )
    rng = np.random.default_rng(seed)
    draws = [
        rng.normal(size=problem.dimension) * 10.0 ** rng.integers(-3, 3) for _ in range(rounds)
    ]
    draws += [rng.integers(-1, 2, problem.dimension).astype(np.float64) for _ in range(rounds)]
    known = list(predictions if predictions is not None else ())
    for prediction in known:
        _check_representation(problem, prediction)
    for scores in draws:
        y = answers[int(rng.integers(len(answers)))]
        decoded, augmented = problem.decode(scores), problem.augmented_decode(scores, y)
        correct = problem.correct(y, scores)
        for prediction in (decoded, augmented, correct):
            _check_representation(problem, prediction)
        if (loss := problem.loss(correct, y)) != 0:
            raise ValueError(f"correct({y!r}) is {correct!r}, whose loss is {loss!r} instead of 0")
        others = known or [decoded, augmented, correct, problem.decode(-scores)]
        for other in [*others, correct]:
            _check_loss(problem, other, y)
            _check_best(problem, "decode", decoded, other, scores, None)
            _check_best(problem, "augmented_decode", augmented, other, scores, y)


def _check_representation(problem: Problem, prediction: object) -> None:
    vector = np.asarray(problem.represent(prediction), dtype=np.float64)
    if vector.shape != (problem.dimension,):
        raise ValueError(
            f"represent({prediction!r}) has shape {vector.shape}, not ({problem.dimension},)"
        )
    if not abs(float(vector @ vector) - 1) <= TOLERANCE:
        length = float(np.sqrt(vector @ vector))
        raise ValueError(f"represent({prediction!r}) has length {length:.6g} instead of 1")
    round_trip = np.asarray(problem.represent(problem.decode(vector)))
    if not np.allclose(round_trip, vector, rtol=0, atol=1e-7):
        raise ValueError(
            f"decode does not invert represent: decode(represent({prediction!r})) is "
            f"{problem.decode(vector)!r}"
        )


def _check_loss(problem: Problem, prediction: object, y: object) -> None:
    loss = problem.loss(prediction, y)
    low, high = problem.least_loss * (1 - TOLERANCE), problem.most_loss * (1 + TOLERANCE)
    if not (loss == 0 or low <= loss <= high):
        raise ValueError(
            f"loss({prediction!r}, {y!r}) is {loss!r}; it must be 0, or from least_loss = "
            f"{problem.least_loss!r} to most_loss = {problem.most_loss!r}"
        )


def _check_best(
    problem: Problem, method: str, decoded: object, other: object, scores: Vector, y: object
) -> None:
    """Raise ValueError if another prediction has a larger objective than the decoded one."""

    def objective(prediction: object) -> float:
        similarity = float(np.asarray(problem.represent(prediction)) @ scores)
        return similarity if method == "decode" else similarity + problem.loss(prediction, y)

    value, other_value = objective(decoded), objective(other)
    if value < other_value - TOLERANCE * max(1.0, abs(other_value)):
        arguments = "scores" if method == "decode" else f"scores, {y!r}"
        maximised = "similarity" if method == "decode" else "loss plus similarity"
        raise ValueError(
            f"{method}({arguments}) returned {decoded!r} with {maximised} {value:.6g}, but "
            f"{other!r} has {other_value:.6g}, for scores {np.asarray(scores).tolist()!r}"
        )
