"""Random streams for the tests of the online learners, and helpers to train and inspect rankers."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from tagalong import LabelRanker
from tests.reference.convex import primal_minimum
from tests.reference.geometries import FloatArray, Geometry
from tests.reference.naive import NaiveLabelRanker, Update
from tests.weights import dense_coef

Kind = Literal["binary", "real"]

GEOMETRIES: tuple[Geometry, ...] = get_args(Geometry)
UPDATES: tuple[Update, ...] = get_args(Update)
MARGINS: dict[Geometry, float] = {"euclidean": 1.0, "adaptive": 1.0, "entropic": 0.3}

CONSTANT_FEATURE = -1


class Item(NamedTuple):
    x: FloatArray
    relevant: list[int]
    unknown: list[int]
    weight: float


def combinations(*updates: Update) -> list[tuple[Geometry, Update]]:
    """All valid pairs of geometry and update rule."""
    return [
        (geometry, update)
        for geometry in GEOMETRIES
        for update in updates
        if (geometry, update) != ("entropic", "simopt")
    ]


def random_stream(
    seed: int,
    rounds: int,
    n: int,
    n_labels: int,
    kind: Kind = "real",
    weights: Sequence[float] = (1.0,),
    unknown: float = 0.1,
) -> list[Item]:
    """Rows with some zeros; random label sets, some empty or full; unknown labels; cyclic weights.

    A binary stream starts with a few real-valued rows per label, so that no two labels have scores
    that differ by rounding only.
    """
    rng = np.random.default_rng(seed)
    stream = []
    for t in range(rounds):
        opening = kind == "binary" and t < 3 * n_labels
        present = rng.random(n) < 0.6
        absent, there = rng.permutation(n)[[0, -1]]
        present[absent], present[there] = False, True
        x = rng.normal(size=n) * (present | opening)
        if kind == "binary" and not opening:
            x = present.astype(np.float64)
        open_labels = [] if opening else np.flatnonzero(rng.random(n_labels) < unknown).tolist()
        drawn = np.flatnonzero(rng.random(n_labels) < 0.4).tolist()
        relevant = [t % n_labels] if opening else [y for y in drawn if y not in open_labels]
        stream.append(Item(x, relevant, open_labels, weights[t % len(weights)]))
    return stream


def indicator(items: Sequence[Item], n_labels: int) -> FloatArray:
    """The targets of the items as an indicator matrix, NaN for unknown relevance."""
    Y = np.zeros((len(items), n_labels))
    for row, item in zip(Y, items, strict=True):
        row[item.relevant] = 1.0
        row[item.unknown] = np.nan
    return Y


def feed(ranker: LabelRanker, items: Sequence[Item], n_labels: int) -> FloatArray:
    """Learn the items as one batch; return the scores of each item before it was learnt."""
    scores = ranker.predict_then_learn(
        np.array([item.x for item in items]),
        indicator(items, n_labels),
        sample_weight=[item.weight for item in items],
    )
    return np.asarray(scores, dtype=np.float64)


def arrays(ranker: LabelRanker) -> dict[str, Any]:
    """Return copies of the arrays of a ranker's state."""
    return dict(ranker._native.state()["arrays"])


def scales(ranker: LabelRanker, n: int, constant: bool) -> FloatArray:
    """S of the adaptive geometry, one number per feature; the constant feature is last.

    With learnt relevances, S exp(-4 beta) has its part in F and G.
    """
    state = arrays(ranker)
    S = np.ones(n + constant)
    # The constant feature has the id -1, which also indexes the last element.
    S[state["features"]] = state["S"] * np.exp(-4 * state.get("beta", np.zeros(1)))
    return S


def minimum_for(ranker: LabelRanker, items: Sequence[Item], n_labels: int) -> float:
    """Return the minimum of the primal objective on a stream that a ranker has learnt."""
    certificate = ranker.certificate_
    geometry: Geometry = ranker.geometry  # type: ignore[assignment]
    constant = float(ranker.constant or 0.0)
    n = len(items[0].x)
    view = NaiveLabelRanker(
        n, n_labels, "single", geometry, 1.0, 1.0, constant=constant, normalize=ranker.normalize
    )
    return primal_minimum(
        [view.row(item.x) for item in items],
        [item.relevant for item in items],
        n_labels=n_labels,
        geometry=geometry,
        C=certificate.C,
        margin=certificate.margin,
        smooth=ranker.update == "smooth",
        temperature=certificate.temperature,
        S=scales(ranker, n, constant != 0.0) if geometry == "adaptive" else None,
        unknown=[item.unknown for item in items],
        weights=[item.weight for item in items],
    )


def assert_sound(ranker: LabelRanker, dual_before: float, largest: float) -> None:
    """Check the invariants of a ranker after rounds with values up to the largest.

    Numbers are finite. The coefficients of a step sum to 0. The running dual value equals that of
    the stored theta, and has not decreased if the update rule ascends. Each mistake cost at least a
    margin of loss and, unless its row was empty, increased the dual by the certificate's gain.
    """
    single = ranker.dtype == "float32"
    state, certificate = ranker._native.state(), ranker.certificate_
    theta = np.asarray(state["arrays"]["theta"], dtype=np.float64)
    assert np.isfinite(theta).all()
    assert np.isfinite(dense_coef(ranker)).all()
    assert np.isfinite([certificate.dual, certificate.loss, certificate.curvature]).all()

    longest_step = certificate.C * certificate.most_weight * max(largest, 1.0)
    rounding = (1e-6 if single else 1e-12) * (1 + certificate.rounds) * longest_step
    assert np.abs(theta.sum(axis=1)).max(initial=0.0) <= rounding

    # The dual is a difference, so its rounding error scales with the two terms. One of them has
    # the logarithms of the normalisers, one per label, which are sums in the storage type.
    size = abs(state["numbers"]["gain"]) + abs(certificate.dual)
    logarithms = theta.shape[1] if ranker.geometry == "entropic" else 0
    precision = (1e-4 if single else 1e-9) * (size + 0.01 * logarithms)
    assert abs(certificate.dual - ranker._native.recompute_dual()) <= precision
    if ranker.update in {"single", "optimal", "smooth"}:
        assert certificate.dual >= dual_before - precision

    assert 0 <= certificate.mistakes <= certificate.rounds
    least = certificate.margin * certificate.least_weight * certificate.mistakes
    assert certificate.loss >= least * (1 - 1e-9)
    if certificate.gain_per_mistake > 0.0:
        lifted = certificate.gain_per_mistake * certificate.mistakes
        assert certificate.dual >= lifted - precision - (1e-4 if single else 1e-9) * lifted
