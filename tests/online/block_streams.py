"""Random streams of blocks, and all valid pairs of update rule and geometry."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from tagalong import BlockProjection
from tests.reference.blocks import BlockGeometry, NaiveBlocks, Scheme, rows_of_sets
from tests.reference.geometries import FloatArray

Rows = Literal["real", "ternary"]

MARGINS: dict[BlockGeometry, float] = {"euclidean": 1.0, "entropic": 0.2}
SCHEMES: tuple[Scheme, ...] = ("simperc", "conproj", "simproj", "simopt", "max", "optimal")
PAIRS: list[tuple[BlockGeometry, Scheme]] = [
    (geometry, scheme)
    for geometry in MARGINS
    for scheme in SCHEMES
    if (geometry, scheme) != ("entropic", "simopt")
]
TWINS = [pair for pair in PAIRS if pair[1] != "optimal"]


class Block(NamedTuple):
    X: FloatArray
    y: FloatArray
    groups: list[str] | None
    weights: FloatArray | None

    @property
    def signed(self) -> FloatArray:
        return self.X * self.y[:, None]

    @property
    def v(self) -> FloatArray:
        return np.ones(len(self.y)) if self.weights is None else self.weights


def random_stream(
    seed: int,
    trials: int,
    n: int = 8,
    most_rows: int = 6,
    rows: Rows = "real",
    sets: bool = False,
    weighted: bool = False,
    noise: float = 0.2,
    empty: float = 0.0,
) -> list[Block]:
    """Blocks with signs given by fixed weights, plus noise.

    A stream of ternary rows starts with a few real-valued ones, so that no score is 0 up to
    rounding.
    """
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    stream = []
    for t in range(trials):
        m = int(rng.integers(1, most_rows + 1))
        X = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.7)
        if rows == "ternary" and t >= 3:
            X = np.sign(X)
        X[np.arange(m), rng.integers(n, size=m)] = 1.0
        X[rng.random(m) < empty] = 0.0
        y = np.where((X @ truth > 0) ^ (rng.random(m) < noise), 1.0, -1.0)
        groups = [str(one) for one in rng.integers(3, size=m)] if sets else None
        weights = np.exp(rng.uniform(-1.5, 1.5, size=m)) if weighted else None
        stream.append(Block(X, y, groups, weights))
    return stream


def learner(
    geometry: BlockGeometry,
    scheme: Scheme,
    C: float,
    margin: float | None = None,
    dtype: str = "float64",
) -> BlockProjection:
    return BlockProjection(scheme, geometry, C, margin or MARGINS[geometry], dtype)


def twin(
    geometry: BlockGeometry, scheme: Scheme, C: float, n: int, margin: float | None = None
) -> NaiveBlocks:
    return NaiveBlocks(n, scheme, geometry, C, margin or MARGINS[geometry])


def objective(
    geometry: BlockGeometry, w: FloatArray, stream: Sequence[Block], margin: float, C: float
) -> float:
    """The objective F(w) + C times the loss of fixed weights on a stream."""
    return complexity(geometry, w) + C * total_loss(w, stream, margin)


def complexity(geometry: BlockGeometry, w: FloatArray) -> float:
    if geometry == "euclidean":
        return 0.5 * float(w @ w)
    there = w[w > 0.0]
    return float(there @ np.log(len(w) * there))


def total_loss(w: FloatArray, stream: Sequence[Block], margin: float) -> float:
    total = 0.0
    for block in stream:
        losses = np.maximum(0.0, margin - block.signed @ w) / block.v
        sets = rows_of_sets(len(losses), block.groups)
        total += sum(float(losses[rows].max()) for rows in sets) / len(sets)
    return total
