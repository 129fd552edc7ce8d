"""The ways to train a learner on a stream, each with a way to inspect its predictions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from tests.contract import bits, learners
from tests.contract.learners import LEARNERS, LearnerCase, marks_for
from tests.contract.stream import N_LABELS, Stream, make_stream

Bits = dict[str, bytes]


@dataclass(frozen=True)
class TrainingMode:
    """How to train a learner on a stream, and how to get the bits of its predictions."""

    name: str
    needs: frozenset[str]
    train: Callable[[Any, Stream], None]
    inspect: Callable[[Any, Stream], Bits]


def _inspect_matrix(model: Any, stream: Stream) -> Bits:
    X = stream.X
    predictions = {
        "scores": model.decision_function(X),
        "ranks": model.rank(X),
        "best": model.rank(X, 3),
        "predicted": model.predict(X),
        "classes": model.classes_,
        "coef": getattr(model, "coef_", None),  # models with a kernel have no coef_
        "certificate": model.certificate_,
    }
    return bits.flatten(predictions)


def _inspect_one_by_one(model: Any, stream: Stream) -> Bits:
    return bits.flatten([model.rank_one(x) for x in stream.pairs()])


def _inspect_by_name(model: Any, stream: Stream) -> Bits:
    return bits.flatten([model.rank_one(x) for x in stream.named()])


def _indicator(model: Any, stream: Stream) -> None:
    model.partial_fit(stream.X, stream.Y)


def _single(model: Any, stream: Stream) -> None:
    model.partial_fit(stream.X, stream.singles(), [f"label-{y}" for y in range(N_LABELS)])


def _growing(model: Any, stream: Stream) -> None:
    model.partial_fit(stream.X, stream.sets(), "grow")


def _one_by_one(model: Any, stream: Stream) -> None:
    for x, y in zip(stream.pairs(), stream.sets(), strict=True):
        model.learn_one(x, y)


def _by_name(model: Any, stream: Stream) -> None:
    for x, y in zip(stream.named(), stream.sets(), strict=True):
        model.learn_one(x, y)


MODES = [
    TrainingMode("indicator", frozenset({learners.RANK}), _indicator, _inspect_matrix),
    TrainingMode("single", frozenset({learners.SINGLE}), _single, _inspect_matrix),
    TrainingMode("growing", frozenset({learners.GROW}), _growing, _inspect_matrix),
    TrainingMode("one-by-one", frozenset({learners.LEARN_ONE}), _one_by_one, _inspect_one_by_one),
    TrainingMode("by-name", frozenset({learners.LEARN_ONE}), _by_name, _inspect_by_name),
]

STREAM = make_stream()
FIRST, SECOND = STREAM.part(slice(0, 50)), STREAM.part(slice(50, None))


def trained(learner: LearnerCase, mode: TrainingMode, *parts: Stream) -> Any:
    """Return a new model trained on parts of the stream."""
    model = learner.make()
    for part in parts:
        mode.train(model, part)
    return model


@cache
def trained_bits(learner: LearnerCase, mode: TrainingMode) -> tuple[Bits, Bits]:
    """Return the bits of a model trained on both parts, and of its predictions."""
    model = trained(learner, mode, FIRST, SECOND)
    return bits.whole(model), mode.inspect(model, STREAM)


def every_training_mode() -> pytest.MarkDecorator:
    """Run a test for every learner, trained in every mode that it supports."""
    cases = [
        pytest.param(learner, mode, id=f"{learner.name}-{mode.name}", marks=marks_for(learner))
        for learner in LEARNERS
        for mode in MODES
        if learner.capabilities >= mode.needs
    ]
    return pytest.mark.parametrize(("learner", "mode"), cases)
