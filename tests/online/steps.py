"""Rankers in a given state, and the steps that they take from it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tagalong import LabelRanker
from tests.online.streams import arrays
from tests.reference.geometries import FloatArray, Geometry, line
from tests.reference.naive import Update
from tests.reference.rules import Round


def ranker_at(theta: FloatArray, geometry: Geometry, **params: Any) -> LabelRanker:
    """Return a new ranker, without constant feature, whose dual vectors are theta (K, n)."""
    theta = np.asarray(theta, dtype=np.float64)
    n_labels, n = theta.shape
    plain: dict[str, Any] = {
        "constant": 0.0,
        "normalize": False,
        "average": False,
        "dtype": "float64",
    }
    ranker = LabelRanker(geometry=geometry, n_features=n, **(plain | params))
    ranker.add_labels(range(n_labels))
    state = ranker.__getstate__()
    held, numbers = state["_native"]["arrays"], state["_native"]["numbers"]
    held["features"] = np.arange(n, dtype=np.int32)
    held["theta"] = np.ascontiguousarray(theta.T, dtype=ranker.dtype)
    if geometry == "entropic":
        held["shift"] = theta.max(axis=1)
        held["Z"] = np.exp(theta - theta.max(axis=1, keepdims=True)).sum(axis=1)
    else:
        held["S"] = np.ones(n)
        held["norm2"] = (theta**2).sum(axis=0)
        numbers["complexity"] = 0.5 * float(held["norm2"].sum())
    ranker.__setstate__(state)
    return ranker


def theta_of(ranker: LabelRanker) -> FloatArray:
    """Return the dual vectors (K, n) of a ranker that has seen all n features."""
    state = arrays(ranker)
    theta = np.empty(state["theta"].T.shape)
    theta[:, state["features"]] = state["theta"].T
    return theta


def step_of(
    ranker: LabelRanker, x: FloatArray, relevant: Collection[int], unknown: Collection[int] = ()
) -> FloatArray:
    """Learn a row and return the coefficients alpha: theta moves by alpha ⊗ x."""
    before = theta_of(ranker)
    ranker.learn_one((np.arange(len(x)), x), relevant, unknown)
    moved = theta_of(ranker) - before
    alpha = moved @ x / (x @ x) if x.any() else np.zeros(len(moved))
    precision = 1e-14 * max(1.0, np.abs(before).max(), np.abs(moved).max())
    np.testing.assert_allclose(moved, np.outer(alpha, x), rtol=0, atol=precision)
    return np.asarray(alpha)


@dataclass(frozen=True)
class Situation:
    """A state of a ranker, a row, its labels and the parameters of the update rule."""

    geometry: Geometry
    theta: FloatArray
    x: FloatArray
    relevant: tuple[int, ...]
    irrelevant: tuple[int, ...]
    C: float
    margin: float
    temperature: float = 0.1

    @property
    def unknown(self) -> list[int]:
        """Return the labels of unknown relevance."""
        known = self.relevant + self.irrelevant
        return [y for y in range(len(self.theta)) if y not in known]

    @property
    def round(self) -> Round:
        """Return the same situation as an input of the naive rules."""
        along = line(self.geometry, self.theta, np.ones(len(self.x)), self.x)
        return Round(along, self.relevant, self.irrelevant, self.C, self.margin, self.temperature)

    def ranker(self, update: Update, **params: Any) -> LabelRanker:
        """Return a ranker in this state."""
        rule = {"C": self.C, "margin": self.margin, "temperature": self.temperature}
        return ranker_at(self.theta, self.geometry, update=update, **(rule | params))

    def step(self, update: Update, **params: Any) -> FloatArray:
        """Return the coefficients of the native step."""
        return step_of(self.ranker(update, **params), self.x, self.relevant, self.unknown)

    def scores_after(self, alpha: FloatArray) -> FloatArray:
        """Return the scores (K,) of the row after a step."""
        return np.array([self.round.line.slope(y, float(a)) for y, a in enumerate(alpha)])

    def gain(self, alpha: FloatArray) -> float:
        """Return the increase of the hinge loss's dual value by a step."""
        moved = sum(self.round.line.value(y, float(a)) for y, a in enumerate(alpha))
        return self.margin * float(alpha[list(self.relevant)].sum()) - moved


def quadratic(
    scores: Collection[float],
    relevant: Collection[int],
    C: float,
    margin: float = 1.0,
    length: float = 1.0,
    geometry: Geometry = "euclidean",
    temperature: float = 0.1,
) -> Situation:
    """Return a one-feature row with these scores; exact if the length is a power of 2."""
    theta = np.array(scores, dtype=np.float64)[:, None] / length
    others = tuple(y for y in range(len(theta)) if y not in relevant)
    x = np.array([length])
    return Situation(geometry, theta, x, tuple(relevant), others, C, margin, temperature)


@st.composite
def sides(draw: st.DrawFn, n_labels: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Relevant and irrelevant labels, at least one of each; the others are unknown."""
    kinds = st.sampled_from(["relevant", "irrelevant", "unknown"])
    drawn = draw(st.lists(kinds, min_size=n_labels, max_size=n_labels))
    first, second = draw(st.permutations(range(n_labels)))[:2]
    drawn[first], drawn[second] = "relevant", "irrelevant"
    relevant = tuple(y for y, kind in enumerate(drawn) if kind == "relevant")
    return relevant, tuple(y for y, kind in enumerate(drawn) if kind == "irrelevant")


@st.composite
def quadratic_situations(draw: st.DrawFn) -> Situation:
    """Scores on a coarse grid, where ties and kinks are common, or any scores."""
    n_labels = draw(st.integers(2, 7))
    grid = st.integers(-8, 8).map(lambda i: i / 4)
    anywhere = st.floats(-3, 3, allow_subnormal=False)
    values = draw(st.sampled_from([grid, anywhere]))
    scores = draw(st.lists(values, min_size=n_labels, max_size=n_labels))
    relevant, irrelevant = draw(sides(n_labels))
    length = 2.0 ** draw(st.integers(-2, 2))
    return Situation(
        draw(st.sampled_from(["euclidean", "adaptive"])),
        np.array(scores)[:, None] / length,
        np.array([length]),
        relevant,
        irrelevant,
        C=draw(st.sampled_from([0.125, 0.5, 1.0, 4.0]) | st.floats(0.01, 30)),
        margin=draw(st.sampled_from([0.5, 1.0]) | st.floats(0.05, 3)),
        temperature=draw(st.floats(0.01, 1)),
    )


@st.composite
def entropic_situations(draw: st.DrawFn, largest: float = 3.0) -> Situation:
    """Bounded dual vectors; a binary row or one on a grid, whose values are not all equal."""
    n_labels, n = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    entry = st.floats(-largest, largest, allow_subnormal=False)
    entries = st.lists(entry, min_size=n, max_size=n)
    theta = draw(st.lists(entries, min_size=n_labels, max_size=n_labels))
    values = draw(
        st.sampled_from([st.sampled_from([0.0, 1.0]), st.integers(-4, 4).map(lambda i: i / 4)])
    )
    x = draw(st.lists(values, min_size=n, max_size=n).filter(lambda row: len(set(row)) > 1))
    relevant, irrelevant = draw(sides(n_labels))
    return Situation(
        "entropic",
        np.array(theta),
        np.array(x),
        relevant,
        irrelevant,
        C=draw(st.floats(0.01, 20)),
        margin=draw(st.floats(0.02, 1.2)),
        temperature=draw(st.floats(0.01, 1)),
    )


situations = quadratic_situations() | entropic_situations()
