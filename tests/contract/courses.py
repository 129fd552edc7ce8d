"""The ways in which a learner may be taught the same stream, and then be looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from tests.contract import bits, learners
from tests.contract.learners import LEARNERS, Learner, marks_of
from tests.contract.stream import N_LABELS, Stream, make_stream

Bits = dict[str, bytes]


@dataclass(frozen=True)
class Course:
    """Teach a learner a part of a stream; look at what it predicts for another part."""

    name: str
    needs: frozenset[str]
    teach: Callable[[Any, Stream], None]
    look: Callable[[Any, Stream], Bits]


def _look_at_matrix(model: Any, stream: Stream) -> Bits:
    X = stream.X
    found = {
        "scores": model.decision_function(X),
        "ranks": model.rank(X),
        "best": model.rank(X, 3),
        "predicted": model.predict(X),
        "classes": model.classes_,
        "coef": getattr(model, "coef_", None),  # of a kernel there is none
        "certificate": model.certificate_,
    }
    return bits.flatten(found)


def _look_one_by_one(model: Any, stream: Stream) -> Bits:
    return bits.flatten([model.rank_one(x) for x in stream.pairs()])


def _look_by_name(model: Any, stream: Stream) -> Bits:
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


COURSES = [
    Course("indicator", frozenset({learners.RANK}), _indicator, _look_at_matrix),
    Course("single", frozenset({learners.SINGLE}), _single, _look_at_matrix),
    Course("growing", frozenset({learners.GROW}), _growing, _look_at_matrix),
    Course("one-by-one", frozenset({learners.LEARN_ONE}), _one_by_one, _look_one_by_one),
    Course("by-name", frozenset({learners.LEARN_ONE}), _by_name, _look_by_name),
]

STREAM = make_stream()
FIRST, SECOND = STREAM.part(slice(0, 50)), STREAM.part(slice(50, None))


def taught(learner: Learner, course: Course, *parts: Stream) -> Any:
    """A new model that has been taught parts of the stream."""
    model = learner.make()
    for part in parts:
        course.teach(model, part)
    return model


@cache
def taught_all(learner: Learner, course: Course) -> tuple[Bits, Bits]:
    """What a model taught both parts holds, and what it predicts for the whole stream."""
    model = taught(learner, course, FIRST, SECOND)
    return bits.whole(model), course.look(model, STREAM)


def every_course() -> pytest.MarkDecorator:
    """Run a test for every learner, taught in every way that it offers."""
    able = [
        pytest.param(learner, course, id=f"{learner.name}-{course.name}", marks=marks_of(learner))
        for learner in LEARNERS
        for course in COURSES
        if learner.offers >= course.needs
    ]
    return pytest.mark.parametrize(("learner", "course"), able)
