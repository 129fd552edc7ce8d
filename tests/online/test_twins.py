"""The native LabelRanker agrees with the naive twins, round by round."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from tagalong import LabelRanker
from tagalong.online.label_ranker.learner import ADAPTIVE_RATE
from tests.online.streams import (
    GEOMETRIES,
    MARGINS,
    UPDATES,
    Item,
    Kind,
    combinations,
    feed,
    random_stream,
)
from tests.reference.geometries import FloatArray, Geometry
from tests.reference.naive import NaiveLabelRanker, Update

TEMPERATURE = 0.1
WEIGHTS = (0.0, 0.5, 1.0, 1.0, 2.0)
BATCHES = (2, 3, 5, 17)
FACTS = ("rounds", "mistakes", "loss", "dual", "curvature")


class Case(NamedTuple):
    geometry: Geometry
    update: Update
    kind: Kind
    C: float
    constant: float
    normalize: bool


class Size(NamedTuple):
    rounds: int
    n: int
    n_labels: int


def size_of(geometry: Geometry, update: Update) -> Size:
    """At least a hundred rounds if the twin is fast, fewer if it is slow."""
    if update == "optimal":
        return Size(24, 5, 4) if geometry == "entropic" else Size(60, 12, 8)
    if update == "smooth" or (geometry == "entropic" and update in {"conproj", "simproj"}):
        return Size(60, 12, 8)
    return Size(150, 12, 8)


@dataclass(frozen=True)
class Trace:
    """The twin's results after every round of a stream, and at the end."""

    items: list[Item]
    scores: FloatArray
    certificates: list[list[float]]
    averaged: FloatArray


@cache
def trace(case: Case) -> Trace:
    size = size_of(case.geometry, case.update)
    items = random_stream(17, *size, case.kind, WEIGHTS)
    averages = case.geometry != "entropic"
    twin = NaiveLabelRanker(
        size.n,
        size.n_labels,
        case.update,
        case.geometry,
        case.C,
        MARGINS[case.geometry],
        TEMPERATURE,
        constant=case.constant,
        normalize=case.normalize,
        rate=ADAPTIVE_RATE,
        average=averages,
    )
    scores, certificates = [], []
    for item in items:
        scores.append(twin.scores(item.x))
        # A row of weight 0 is skipped and does not count as a round.
        if item.weight > 0.0:
            twin.learn(*item)
        certificates.append([getattr(twin, name) for name in FACTS])
    averaged = [twin.averaged_scores(item.x, 1.0) for item in items] if averages else []
    return Trace(items, np.array(scores), certificates, np.array(averaged))


def ranker_for(case: Case, **options: Any) -> LabelRanker:
    settings: dict[str, Any] = {"average": False, "dtype": "float64"}
    settings |= {"temperature": TEMPERATURE} | options
    return LabelRanker(
        update=case.update,
        geometry=case.geometry,
        C=case.C,
        margin=MARGINS[case.geometry],
        constant=case.constant,
        normalize=case.normalize,
        **settings,
    )


def assert_agreement(
    ranker: LabelRanker, expected: Trace, tolerance: float, rounds: int | None = None
) -> None:
    """Compare the scores of every round, and the certificate after batches of varying size."""
    items, n_labels = expected.items[:rounds], expected.scores.shape[1]
    start = 0
    while start < len(items):
        stop = min(start + BATCHES[start % len(BATCHES)], len(items))
        scores = feed(ranker, items[start:stop], n_labels)
        np.testing.assert_allclose(
            scores, expected.scores[start:stop], rtol=tolerance, atol=tolerance
        )
        certificate, known = ranker.certificate_, expected.certificates[stop - 1]
        np.testing.assert_allclose(
            [getattr(certificate, name) for name in FACTS], known, rtol=tolerance, atol=tolerance
        )
        start = stop


def every_case(
    *updates: Update, geometries: Sequence[Geometry] = GEOMETRIES
) -> pytest.MarkDecorator:
    """Parametrize a test by C, constant and normalize so that any two values occur together."""
    cases = [
        Case(geometry, update, kind, C, constant, normalize)
        for geometry, update in combinations(*updates)
        if geometry in geometries
        for kind in ("binary", "real")
        for C, constant, normalize in [
            (0.1, 0.0, False),
            (0.1, 0.5, True),
            (2.0, 0.5, False),
            (2.0, 0.0, True),
        ]
    ]
    return pytest.mark.parametrize("case", cases, ids=lambda case: "-".join(map(str, case)))


@every_case(*UPDATES)
def test_double_precision(case: Case) -> None:
    assert_agreement(ranker_for(case), trace(case), 1e-8)


@every_case("optimal")
def test_interior_point(case: Case) -> None:
    assert_agreement(ranker_for(case, solver="interior-point"), trace(case), 1e-8)


@every_case(*UPDATES)
def test_single_precision(case: Case) -> None:
    """A short run: in a longer one, rounding would change a choice between nearly equal scores."""
    assert_agreement(ranker_for(case, dtype="float32"), trace(case), 1e-3, rounds=60)


@every_case(*UPDATES, geometries=("euclidean", "adaptive"))
def test_averages(case: Case) -> None:
    expected = trace(case)
    ranker = ranker_for(case, average=True)
    feed(ranker, expected.items, expected.scores.shape[1])
    found = ranker.decision_function(np.array([item.x for item in expected.items]))
    np.testing.assert_allclose(found, expected.averaged, rtol=1e-8, atol=1e-8)


def test_rows_of_weight_zero_are_skipped() -> None:
    """They change nothing, in batches of any size."""
    items = random_stream(3, 12, 5, 4, weights=(1.0, 0.0, 0.0, 2.0))
    kept = [item for item in items if item.weight > 0.0]
    case = Case("adaptive", "smooth", "real", 1.0, 0.5, True)
    at_once, one_by_one, without = (ranker_for(case, average=True) for _ in range(3))
    feed(at_once, items, 4)
    feed(without, kept, 4)
    for item in items:
        feed(one_by_one, [item], 4)
    for ranker in (at_once, one_by_one):
        assert ranker.certificate_ == without.certificate_
        np.testing.assert_array_equal(ranker.coef_, without.coef_)
