"""Steps on a working set of labels: the naive twin, the certificate, many labels, and errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagalong
from benchmarks.scaling import planted
from tagalong import LabelRanker
from tagalong.online.label_ranker.learner import ADAPTIVE_RATE
from tests.online.streams import Item, feed, indicator, minimum_for, random_stream
from tests.reference.geometries import Geometry
from tests.reference.naive import NaiveLabelRanker
from tests.weights import dense_coef

LINEAR: tuple[Geometry, ...] = ("euclidean", "adaptive")
N, LABELS = 8, 9
FACTS = ("rounds", "mistakes", "loss", "dual", "curvature")


def make(geometry: str, **options: Any) -> LabelRanker:
    settings = {"average": False, "dtype": "float64", "temperature": 0.1, **options}
    return LabelRanker("smooth", geometry, working_set=True, **settings)


def learnable(seed: int, rounds: int) -> list[Item]:
    """Return a stream whose relevant labels are the two best of a linear model; one is unknown."""
    rng = np.random.default_rng(seed)
    planted_weights = rng.normal(size=(LABELS, N))
    items = []
    for row in rng.normal(size=(rounds, N)):
        order = np.argsort(-planted_weights @ row)
        items.append(Item(row, sorted(order[:2].tolist()), [int(order[-1])], 1.0))
    return items


@pytest.mark.parametrize("geometry", LINEAR)
@pytest.mark.parametrize(("C", "margin"), [(0.3, 0.5), (10.0, 0.5), (10.0, 0.1)])
def test_agrees_with_the_twin_round_by_round(geometry: Geometry, C: float, margin: float) -> None:
    temperature = 0.05 * margin
    twin = NaiveLabelRanker(
        *(N, LABELS, "smooth", geometry, C, margin, temperature),
        constant=0.5,
        rate=ADAPTIVE_RATE,
        working_set=True,
    )
    settings: dict[str, Any] = {"C": C, "margin": margin, "temperature": temperature}
    ranker = make(geometry, normalize=False, constant=0.5, **settings)
    restricted, passive = 0, 0
    for item in learnable(5, 100):
        expected = twin.scores(item.x)
        np.testing.assert_allclose(feed(ranker, [item], LABELS)[0], expected, rtol=1e-8, atol=1e-8)
        alpha = twin.learn(*item)
        restricted += int(0 < np.count_nonzero(alpha) < LABELS - 1)
        passive += not alpha.any()
        found = [getattr(ranker.certificate_, name) for name in FACTS]
        np.testing.assert_allclose(found, [getattr(twin, name) for name in FACTS], rtol=1e-8)
    assert restricted > 10
    assert passive > 0 or geometry == "adaptive"  # it learns more slowly


@pytest.mark.parametrize("geometry", LINEAR)
@pytest.mark.parametrize("seed", range(4))
def test_the_dual_value_is_below_the_optimum(geometry: Geometry, seed: int) -> None:
    """Steps on fewer labels are feasible steps of the problem with all labels."""
    n, labels, C = 4, 4, [0.1, 1.0, 10.0, 3.0][seed]
    items = random_stream(seed, 14, n, labels)
    ranker = make(geometry, C=C, normalize=False, constant=0.0)
    feed(ranker, items, labels)
    optimum = minimum_for(ranker, items, labels)
    certificate = ranker.certificate_
    assert 0 < certificate.dual <= optimum * (1 + 1e-6)
    assert certificate.dual == pytest.approx(ranker._native.recompute_dual(), rel=1e-9)


def test_a_round_within_the_margin_changes_nothing() -> None:
    rows, targets = np.eye(3), np.eye(3)
    ranker = make("adaptive").partial_fit(rows, targets, classes=[0, 1, 2])
    for _ in range(30):
        ranker.partial_fit(rows, targets)
    scores = ranker.decision_function(rows)
    assert (np.diag(scores) - np.sort(scores)[:, -2]).min() > 1
    before, dual = dense_coef(ranker), ranker.certificate_.dual
    ranker.partial_fit(rows, targets)
    assert np.array_equal(dense_coef(ranker), before)
    assert ranker.certificate_.dual == dual


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_with_thousands_of_labels_rows_store_the_labels_that_moved(
    tmp_path: Path, dtype: str
) -> None:
    stream = planted(240, labels=3000, nnz=20, features=400)
    params: dict[str, Any] = {"working_set": True, "race": None, "dtype": dtype, "relevance": True}
    through = LabelRanker(**params).partial_fit(stream.X, stream.Y, classes=stream.labels)
    weights = through.weights_by_feature()["weights"]
    assert through.bytes_of_weights < weights.nbytes
    half = LabelRanker(**params).partial_fit(stream.X[:120], stream.Y[:120], classes=stream.labels)
    half.save(tmp_path / "half.tagalong")
    resumed = tagalong.load(tmp_path / "half.tagalong").partial_fit(stream.X[120:], stream.Y[120:])
    expected = through.decision_function(stream.X)
    assert np.array_equal(resumed.decision_function(stream.X), expected)
    dual = through.certificate_.dual
    assert dual == resumed.certificate_.dual
    tolerance = 1e-4 if dtype == "float32" else 1e-9
    assert dual == pytest.approx(through._native.recompute_dual(), rel=tolerance)


def test_is_the_default_of_a_race_only() -> None:
    x, y = np.eye(3), np.eye(3)
    cases: list[tuple[dict[str, Any], bool]] = [
        ({}, True),
        ({"race": None}, False),
        ({"working_set": False}, False),
        ({"race": ["unit"], "update": "optimal"}, False),
        ({"race": None, "working_set": True}, True),
    ]
    for options, expected in cases:
        ranker = LabelRanker(**options).fit(x, y)
        header, _ = ranker.to_parts()
        assert header["settings"]["working_set"] is expected, options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"update": "single"}, "got update='single' and geometry='adaptive'"),
        ({"geometry": "entropic"}, "got update='smooth' and geometry='entropic'"),
    ],
)
def test_needs_the_smooth_update_in_a_linear_geometry(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        LabelRanker(working_set=True, **options).fit(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="working_set must be 'auto', True or False, got 'yes'"):
        LabelRanker(working_set="yes").fit(np.eye(2), np.eye(2))  # type: ignore[arg-type]


def test_unknown_labels_take_no_part() -> None:
    item = Item(np.ones(2), [0], [1], 1.0)
    ranker = make("euclidean", constant=0.0, normalize=False)
    ranker.partial_fit([item.x], indicator([item], 3), classes=[0, 1, 2])
    coef = dense_coef(ranker)
    assert coef[1].tolist() == [0.0, 0.0]
    assert coef[0].tolist() == (-coef[2]).tolist()
    assert coef[0][0] > 0


def test_a_hundred_thousand_labels() -> None:
    """The weights of the default learner follow the labels that moved, not those declared."""
    stream = planted(80, labels=100_000, nnz=20, features=400)
    ranker = LabelRanker().partial_fit(stream.X, stream.Y, classes=stream.labels)
    features = len(np.unique(stream.X.nonzero()[1]))
    one_plane = features * 100_000 * 4
    assert ranker.bytes_of_weights < one_plane / 10
    first = ranker.rank(stream.X, k=4)
    right = [bool(set(row) & set(stream.Y[i].indices)) for i, row in enumerate(first_labels(first))]
    assert np.mean(right) > 0.9
    found = ranker._native.recompute_dual()
    assert ranker.certificate_.dual == pytest.approx(found, rel=1e-4)


def first_labels(names: Any) -> list[list[int]]:
    """Return the numbers of planted labels, which are in their names."""
    return [[int(str(name).split()[-1]) for name in row] for row in names]
