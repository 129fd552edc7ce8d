"""Whether a problem keeps its word."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tagalong.problems.protocol import Problem, missing_parts

__all__ = ["check_problem"]

ENOUGH = 1e-9


def check_problem(
    problem: Problem,
    answers: Sequence[Any],
    predictions: Sequence[Any] | None = None,
    *,
    rounds: int = 50,
    seed: int = 0,
) -> None:
    """Test that a problem is what Predtron takes it for; ValueError says what is wrong.

    Every representation has length 1, and decodes to its own prediction. A correct prediction loses
    nothing, and losses are within their limits. On random scores, and on scores with ties, no
    prediction is more similar to them than the decoded one, and none has more loss and similarity
    together than the one that the loss-augmented decoding finds.

    Parameters
    ----------
    problem : Problem
        With its dimension.
    answers : sequence
        Answers to try: all of them, where they are few.
    predictions : sequence, optional
        All predictions there are, where they are few enough to try; otherwise decoding is compared
        with the predictions that come up by themselves.
    rounds : int, default 50
        How many random scores to try.
    seed : int, default 0
        Of the random scores.

    Examples
    --------
    >>> from tagalong.problems import Multiclass, check_problem
    >>> check_problem(Multiclass(dimension=3), answers=[0, 1, 2], predictions=[0, 1, 2])
    """
    if missing := missing_parts(problem):
        raise ValueError(f"{problem!r} is no problem: it has no {', '.join(missing)}")
    if problem.dimension is None or problem.dimension < 1:
        raise ValueError(f"dimension must be a number from 1 on, got {problem.dimension!r}")
    if not len(answers):
        raise ValueError("answers must not be empty: there is nothing to try")
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
        if (found := problem.loss(correct, y)) != 0:
            raise ValueError(f"correct({y!r}) is {correct!r}, which loses {found!r} instead of 0")
        rivals = known or [decoded, augmented, correct, problem.decode(-scores)]
        for rival in [*rivals, correct]:
            _check_loss(problem, rival, y)
            _check_best(problem, "decode", decoded, rival, scores, None)
            _check_best(problem, "augmented_decode", augmented, rival, scores, y)


def _check_representation(problem: Problem, prediction: Any) -> None:
    vector = np.asarray(problem.represent(prediction), dtype=np.float64)
    if vector.shape != (problem.dimension,):
        raise ValueError(
            f"represent({prediction!r}) has shape {vector.shape}, not ({problem.dimension},)"
        )
    if not abs(float(vector @ vector) - 1) <= ENOUGH:
        length = float(np.sqrt(vector @ vector))
        raise ValueError(f"represent({prediction!r}) has length {length:.6g} instead of 1")
    again = np.asarray(problem.represent(problem.decode(vector)))
    if not np.allclose(again, vector, rtol=0, atol=1e-7):
        raise ValueError(
            f"decode does not invert represent: {prediction!r} became {problem.decode(vector)!r}"
        )


def _check_loss(problem: Problem, prediction: Any, y: Any) -> None:
    loss = problem.loss(prediction, y)
    low, high = problem.least_loss * (1 - ENOUGH), problem.most_loss * (1 + ENOUGH)
    if not (loss == 0 or low <= loss <= high):
        raise ValueError(
            f"loss({prediction!r}, {y!r}) is {loss!r}; it must be 0, or from least_loss = "
            f"{problem.least_loss!r} to most_loss = {problem.most_loss!r}"
        )


def _check_best(problem: Problem, method: str, found: Any, rival: Any, scores: Any, y: Any) -> None:
    """Compare what a decoding found with another prediction."""

    def worth(prediction: Any) -> float:
        similarity = float(np.asarray(problem.represent(prediction)) @ scores)
        return similarity if method == "decode" else similarity + problem.loss(prediction, y)

    ours, theirs = worth(found), worth(rival)
    if ours < theirs - ENOUGH * max(1.0, abs(theirs)):
        asked = "scores" if method == "decode" else f"scores, {y!r}"
        raise ValueError(
            f"{method}({asked}) found {found!r}, worth {ours:.6g}; {rival!r} is worth "
            f"{theirs:.6g} with scores {np.asarray(scores).tolist()!r}"
        )
