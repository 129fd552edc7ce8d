r"""The part of a row-wise fit that runs on workers: a shard of the rows, and its dual variables.

The problem (`M3LClassifier`; the formulas are in ``cpp/m3l/problem.hpp``) maximises the dual

.. math:: D(b) = \sum_{il} t_{il} b_{il} - 2 \sum_{lk} R_{lk}\, v_l \cdot v_k,
          \qquad v_l = \sum_i b_{il} x_i, \qquad z_l = 2 \sum_k R_{lk} v_k,

over a box. The rows, and with them the dual variables, are divided into S shards. Write
:math:`v^s` and :math:`z^s` for the contribution of shard s, and let every shard s move its
variables from :math:`b^s` to :math:`b^s + \Delta^s`. With the norm :math:`|v|_R^2 = \sum_{lk}
R_{lk}\, v_l \cdot v_k`, which is a seminorm as R is positive semi-definite,

.. math:: D(b + \Delta) = D(b) + \sum_s \sum_{i \in s, l} \Delta_{il}\,(t_{il} - 2 z_l \cdot x_i)
          - 2\, \Big| \sum_s v^s(\Delta) \Big|_R^2
          \ge D(b) + \sum_s \Big[ \sum_{i \in s, l} \Delta_{il}\,(t_{il} - 2 z_l \cdot x_i)
          - 2 \sigma' |v^s(\Delta)|_R^2 \Big], \qquad \sigma' = S,

because :math:`|a_1 + \dots + a_S|^2 \le S\,(|a_1|^2 + \dots + |a_S|^2)`. Each bracket belongs to
one shard: it is 0 at :math:`\Delta = 0`, so shards that raise their own bracket, by however much,
raise D. This is CoCoA with added updates (Ma, Smith, Jaggi, Jordan, Richtárik, Takáč: Adding vs.
Averaging in Distributed Primal-Dual Optimization, 2015).

A bracket is a problem for the one-machine solver. Its derivative by a variable of shard s is

.. math:: h_{il} = t_{il} - 2 z_l \cdot x_i - 2 \sigma' z^s_l(\Delta) \cdot x_i
                 = t_{il} - 2\,(z_l - \sigma' z^s_l) \cdot x_i
                   - 2 \sigma' z^s_l(b^s + \Delta^s) \cdot x_i.

With rows :math:`\tilde x = \sqrt{\sigma'}\, x` the last term is :math:`2 \tilde z^s_l(b^s +
\Delta^s) \cdot \tilde x_i`, where :math:`\tilde z` is computed from the rows :math:`\tilde x`. So
the solver gets the scaled rows, starts from :math:`b^s`, and has the anchor :math:`\tilde z_0 =
(z - \sigma' z^s) / \sqrt{\sigma'}`: :math:`h = t - 2\,(\tilde z_0 + \tilde z) \cdot \tilde x`.

All shards together know how good b is: with the weights z of all rows, each shard adds up its
terms of the duality gap and of D (``evaluate``).
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets

from tagalong import _native as core
from tagalong.batch.m3l import M3LClassifier
from tagalong.batch.m3l.losses import Costs, LabelCounts
from tagalong.batch.m3l.matrices import is_sparse
from tagalong.batch.m3l.training import (
    by_label,
    indicator_of,
    is_single_precision,
    native_problem,
    row_weights,
)
from tagalong.learning.batches import check_sample_weight
from tagalong.learning.estimators import validated
from tagalong.learning.examples import as_matrix
from tagalong.learning.labels import Kind, Labels, Targets

__all__ = [
    "Checked",
    "Description",
    "Layout",
    "Plan",
    "Shard",
    "State",
    "add",
    "advance",
    "check",
    "describe",
    "evaluate",
    "facts",
    "first_state",
    "prepare",
    "weights_of",
]

Array = npt.NDArray[Any]

LARGEST_WEIGHT = 1e12


@dataclass(frozen=True)
class Checked:
    """Rows and targets that were loaded on a worker, and found valid as far as it can tell."""

    rows: Any
    targets: Any
    weights: npt.NDArray[np.float64] | None


@dataclass(frozen=True)
class Description:
    """Facts about a shard that the client needs before the labels of all shards are known.

    Parameters
    ----------
    rows, columns : int
        The shape of the shard.
    sparse : bool
        Whether it is a sparse matrix, which may have fewer columns than others.
    kind : str
        The kind of targets.
    names : list of hashable
        The labels, in order of appearance or of the columns of an indicator.
    features : array of int
        The columns that occur.
    weighted : bool
        Whether a row has a positive weight.
    """

    rows: int
    columns: int
    sparse: bool
    kind: Kind
    names: list[Hashable]
    features: npt.NDArray[np.int32]
    weighted: bool


@dataclass(frozen=True)
class Layout:
    """Common to all shards: the labels, the columns in use, and the scale of the rows."""

    labels: Labels
    features: npt.NDArray[np.int32]
    class_weight: Any
    scale: float  # the square root of sigma'


@dataclass(frozen=True)
class Shard:
    """Rows times the scale of the layout, only the columns in use; targets by number."""

    rows: Any
    targets: Targets
    weights: npt.NDArray[np.float64] | None
    labels: int


@dataclass(frozen=True)
class Plan:
    """The problem and the settings of every shard.

    Parameters
    ----------
    costs : Costs
        Margins and bounds.
    prior : array or None
        The matrix R.
    settings : M3LSettings
        The settings of one round: tolerance, passes, the constant feature (not scaled).
    scale : float
        The square root of sigma'.
    features : int
        Number of rows of the weights: the columns in use and the constant feature.
    """

    costs: Costs
    prior: npt.NDArray[np.float64] | None
    settings: core.M3LSettings
    scale: float
    features: int

    @property
    def dtype(self) -> type[Any]:
        """The precision of the solver."""
        return np.float32 if is_single_precision(self.settings) else np.float64

    def native(self, seed: int) -> core.M3LSettings:
        """Return the settings of the native solver for rows that are scaled."""
        own = self.settings
        return core.M3LSettings(
            tolerance=own.tolerance,
            most_passes=own.most_passes,
            threads=own.threads,
            seed=seed,
            cache_bytes=own.cache_bytes,
            constant=own.constant * self.scale,
        )


@dataclass(frozen=True)
class State:
    """The dual variables of a shard, (rows, labels), and their contribution to the weights z."""

    dual: Array
    weights: Array


def check(number: int, X: Any, Y: Any, weights: Any = None) -> Checked:
    """Validate a shard; the message of an error names it."""
    try:
        rows = validated(M3LClassifier(), X, reset=True)
        if is_sparse(rows) and not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        core.m3l_check(as_matrix(rows))
        targets = Labels(grows=True).encode(Y, rows.shape[0])
        if targets.kind == "single":
            check_classification_targets(np.asarray(Y).ravel())
        checked = check_sample_weight(weights, rows, LARGEST_WEIGHT)
    except (TypeError, ValueError) as error:
        raise ValueError(f"shard {number}: {error}") from error
    return Checked(rows, Y, checked)


def describe(shard: Checked) -> Description:
    """Return what the client needs to know of a shard."""
    targets = Labels(grows=True).encode(shard.targets)
    rows = shard.rows
    used = np.unique(rows.indices) if is_sparse(rows) else np.flatnonzero((rows != 0).any(axis=0))
    return Description(
        rows.shape[0],
        rows.shape[1],
        is_sparse(rows),
        targets.kind,
        targets.new,
        used.astype(np.int32),
        shard.weights is None or bool(shard.weights.any()),
    )


def prepare(shard: Checked, layout: Layout) -> Shard:
    """Return a shard with numbered labels and scaled rows."""
    rows = shard.rows
    if is_sparse(rows):
        number = np.zeros(int(layout.features.max(initial=-1)) + 1, np.int32)
        number[layout.features] = np.arange(len(layout.features), dtype=np.int32)
        shape = (rows.shape[0], len(layout.features))
        scaled = rows.data * rows.dtype.type(layout.scale)
        rows = sp.csr_array((scaled, number[rows.indices], rows.indptr), shape=shape)
    else:
        rows = np.ascontiguousarray(rows[:, layout.features] * rows.dtype.type(layout.scale))
    targets = layout.labels.encode(shard.targets)
    _, weights = row_weights(layout.class_weight, layout.labels, targets, shard.weights)
    return Shard(rows, targets, weights, len(layout.labels))


def facts(shard: Shard, pairs: bool) -> tuple[LabelCounts, sp.csr_array | None]:
    """Return the counts of labels and, if asked, of pairs of labels."""
    counts = LabelCounts.of(shard.targets.relevant, shard.targets.unknown, shard.labels)
    Y = indicator_of(shard.targets, shard.labels)
    return counts, sp.csr_array(Y.T @ Y) if pairs else None


def first_state(shard: Shard, plan: Plan) -> State:
    """Return zeros."""
    return State(
        np.zeros((shard.rows.shape[0], shard.labels), plan.dtype),
        np.zeros((plan.features, shard.labels), plan.dtype),
    )


def advance(shard: Shard, state: State, weights: Array, plan: Plan, seed: int) -> State:
    """Raise the shard's part of the bound of the dual, in which the other shards are fixed.

    Parameters
    ----------
    shard : Shard
        The rows.
    state : State
        The dual variables.
    weights : array of shape (features, labels)
        The weights z of all shards.
    plan : Plan
        The problem.
    seed : int
        The seed of the order of steps.
    """
    anchor = (weights - plan.scale**2 * state.weights) / plan.scale
    solve: Any = core.m3l_linear32 if plan.dtype is np.float32 else core.m3l_linear64
    settings = plan.native(seed)
    native = solve(
        as_matrix(shard.rows),
        native_problem(shard.targets, plan.costs, shard.weights, plan.prior),
        settings,
        start=state.dual,
        anchor=np.ascontiguousarray(anchor, dtype=plan.dtype),
    )
    found = np.zeros_like(state.weights)
    found[native.features] = native.weights / plan.scale
    return State(by_label(native.dual, native.place), found)


def weights_of(state: State) -> Array:
    """Return the contribution of a shard to the weights."""
    return state.weights


def add(first: Array, second: Array) -> Array:
    """Add the weights of two groups of shards."""
    return first + second


def evaluate(shard: Shard, state: State, weights: Array, plan: Plan) -> tuple[float, float, float]:
    """Return the shard's terms of the dual value and of the gap, and its largest violation.

    Parameters
    ----------
    shard : Shard
        The rows.
    state : State
        The dual variables.
    weights : array of shape (features, labels)
        The weights z of all shards.
    plan : Plan
        The problem.
    """
    find: Any = core.m3l_evaluate32 if plan.dtype is np.float32 else core.m3l_evaluate64
    found: tuple[float, float, float] = find(
        as_matrix(shard.rows),
        native_problem(shard.targets, plan.costs, shard.weights, plan.prior),
        plan.native(seed=0),
        state.dual,
        np.ascontiguousarray(weights / plan.scale, dtype=plan.dtype),
    )
    return found
