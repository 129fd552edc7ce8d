"""Models that are changed by one thread and read by others: the calls of both."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tagalong import LabelRanker, M3LClassifier, OrdinalRanker, Tagger
from tagalong.learning.examples import as_matrix
from tests.cli.conftest import items
from tests.contract import learners
from tests.contract.bits import native_of
from tests.contract.learners import LEARNERS, LearnerCase
from tests.contract.stream import make_stream

ROWS = 60
STREAM = make_stream(seed=11, rows=ROWS, labels=40)
PROBE = STREAM.X[:8]
PAIRS = list(STREAM.pairs())
ITEMS = [(item["text"], item.get("labels", [])) for item in items()]
TEXTS = [text for text, _ in ITEMS[:6]]

Call = Callable[[], object]


@dataclass(frozen=True)
class Scenario:
    """A new model with the calls that change it, in order, and the calls that read it."""

    writes: Iterator[Call]
    reads: list[Call]


def _learner(case: LearnerCase) -> Scenario:
    """A learner that gets rows in batches and, if it can, new labels one by one."""
    grows = {learners.GROW, learners.LEARN_ONE} <= case.capabilities
    names = STREAM.sets() if grows else STREAM.Y
    model = case.make().partial_fit(STREAM.X[:5], names[:5], *(["grow"] if grows else []))

    def writes() -> Iterator[Call]:
        for start in range(5, ROWS, 11):
            if grows:
                yield partial(model.learn_one, PAIRS[start], names[start] or ["label-0"])
            yield partial(
                model.partial_fit, STREAM.X[start : start + 10], names[start : start + 10]
            )

    native = native_of(model)
    reads: list[Call] = [
        native.state,
        native.weights,
        native.label_precision,
        lambda: model.certificate_,
        lambda: model.classes_,
        partial(model.decision_function, PROBE),
        partial(model.predict, PROBE),
        partial(model.rank, PROBE),
        partial(model.rank, PROBE, 3),
    ]
    if hasattr(model, "predict_proba"):
        reads.append(partial(model.predict_proba, PROBE))
    if learners.LEARN_ONE in case.capabilities:
        reads.append(partial(model.rank_one, PAIRS[0]))
    return Scenario(writes(), reads)


def _tagger(**features: Any) -> Scenario:
    """A tagger that learns texts and is asked, told of mistakes, and saved."""
    tagger = Tagger(**features)
    for text, labels in ITEMS[:10]:
        tagger.learn(text, labels)

    def writes() -> Iterator[Call]:
        for number, (text, labels) in enumerate(ITEMS):
            yield partial(tagger.learn, text, [*labels, f"label {number}"])
            yield partial(tagger.watch, text, labels)
            yield partial(tagger.count_mistake, f"label {number}")

    reads: list[Call] = [
        partial(tagger.suggest, TEXTS[0]),
        partial(tagger.suggest_many, TEXTS),
        partial(tagger.features.transform, TEXTS),
        lambda: tagger.labels,
        lambda: tagger.certificate_,
        tagger.to_parts,
    ]
    return Scenario(writes(), reads)


def _blocks() -> Scenario:
    """A learner of grades."""
    grades = STREAM.Y.sum(axis=1) % 4
    model = OrdinalRanker().partial_fit(STREAM.X[:9], grades[:9], classes=range(4))
    starts = range(9, ROWS, 7)
    writes = (partial(model.partial_fit, STREAM.X[i : i + 7], grades[i : i + 7]) for i in starts)
    return Scenario(iter(writes), [partial(model.predict, PROBE), model.__getstate__])


def _removed_labels() -> Scenario:
    """A native learner that loses labels and learns them again; its readers may have to repeat."""
    model = LabelRanker().partial_fit(STREAM.X, STREAM.Y)
    native, kept = native_of(model), [[label] for label in range(20)]

    def writes() -> Iterator[Call]:
        for _ in range(20):
            yield partial(native.select_labels, kept)
            yield partial(native.add_labels, 20)

    def unless_removed(read: Call) -> Call:
        def call() -> None:
            with suppress(ValueError):
                read()

        return call

    x = as_matrix(PROBE)
    reads = [partial(native.score, x), partial(native.rank, x, -1), partial(native.judge, x, 3)]
    return Scenario(writes(), [*map(unless_removed, reads), native.label_precision, native.state])


def _batch(kernel: str) -> Scenario:
    """A batch learner that is fitted by several threads, while another model is read."""
    labels = (STREAM.Y[:, :6] > 0).astype(np.int64)
    fitted = M3LClassifier(kernel=kernel).fit(STREAM.X, labels)
    other = M3LClassifier(kernel=kernel, n_jobs=4)
    writes = (partial(other.fit, STREAM.X, labels) for _ in range(3))
    return Scenario(
        iter(writes), [partial(fitted.decision_function, PROBE), partial(fitted.predict, PROBE)]
    )


SCENARIOS: dict[str, Callable[[], Scenario]] = {
    **{
        case.name: partial(_learner, case)
        for case in LEARNERS
        if {learners.SHARED, learners.RANK} <= case.capabilities
    },
    "tagger": _tagger,
    "ordinal": _blocks,
    "removed-labels": _removed_labels,
    "m3l-linear": partial(_batch, "linear"),
    "m3l-rbf": partial(_batch, "rbf"),
}
