"""The rounds of a row-wise fit, as the client sees them: handles, and one line per round."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from math import sqrt
from operator import add as plus
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.batch.m3l import M3LClassifier
from tagalong.batch.m3l.losses import Costs, make_costs
from tagalong.batch.m3l.priors import checked_prior, cooccurrence_prior
from tagalong.distributed import row_shards
from tagalong.distributed.workers import Workers
from tagalong.learning.labels import Labels

__all__ = ["Round", "RowFit", "RowSettings", "fit_rows"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Round:
    """The state of the whole problem after a round.

    Parameters
    ----------
    number : int
        The number of the round, from 1.
    dual : float
        The dual value, a lower bound of the objective's minimum.
    gap : float
        The objective minus the dual value, both over all rows.
    violation : float
        The largest projected derivative over all variables.
    """

    number: int
    dual: float
    gap: float
    violation: float

    @property
    def relative_gap(self) -> float:
        """The gap divided by the dual value; infinite if that is 0."""
        return self.gap / self.dual if self.dual > 0 else float("inf") if self.gap > 0 else 0.0


@dataclass(frozen=True)
class RowSettings:
    """When to stop, and how much to do in a round.

    Parameters
    ----------
    sigma : float or None
        The factor of the quadratic term of each shard's problem; None: the number of shards.
    local_passes : int
        Passes over the rows of a shard per round.
    gap : float
        Stop when the relative gap is at most this.
    max_rounds : int
        Stop after this many rounds.
    """

    sigma: float | None
    local_passes: int
    gap: float
    max_rounds: int


@dataclass(frozen=True)
class RowFit:
    """The result of all rounds: weights of the columns in use, and what is known of them."""

    labels: Labels
    single: bool
    rows: int
    columns: int
    features: npt.NDArray[np.int32]
    weights: Array
    rounds: list[Round]
    converged: bool

    def features_with_constant(self, constant: float) -> npt.NDArray[np.int32]:
        """Return the column of each row of weights; of the constant feature, if any, the last."""
        return np.append(self.features, np.int32(self.columns)) if constant else self.features


def fit_rows(
    workers: Workers,
    estimator: M3LClassifier,
    shards: Sequence[Any],
    solver: core.M3LSettings,
    settings: RowSettings,
    on_round: Callable[[Round], None] | None = None,
) -> RowFit:
    """Fit an estimator to shards of rows that stay where they are.

    Parameters
    ----------
    workers : Workers
        The workers.
    estimator : M3LClassifier
        The estimator, for its parameters.
    shards : sequence of handles
        The checked shards.
    solver : M3LSettings
        The estimator's settings.
    settings : RowSettings
        When to stop, and how much to do in a round.
    on_round : callable, optional
        Called after each round.
    """
    shards = [workers.keep(shard) for shard in shards]
    found = _results(workers, row_shards.describe, [(shard,) for shard in shards])
    labels = _common_labels(found)
    columns = _common_columns(found)
    if not any(each.weighted for each in found):
        raise ValueError("sample_weight must have at least one positive entry, got zeros")
    features = np.unique(np.concatenate([each.features for each in found])).astype(np.int32)
    scale = sqrt(len(shards) if settings.sigma is None else settings.sigma)
    layout = workers.share(row_shards.Layout(labels, features, estimator.class_weight, scale))
    prepared = workers.submit_all(row_shards.prepare, [(shard, layout) for shard in shards])
    shards = [workers.keep(shard) for shard in prepared]
    del prepared
    single = found[0].kind == "single"
    costs, prior = _costs_and_prior(workers, estimator, shards, labels, single)
    plan = workers.share(
        row_shards.Plan(
            costs,
            prior,
            _limited(solver, settings.local_passes),
            scale,
            features=len(features) + (1 if solver.constant else 0),
        )
    )
    states = workers.submit_all(row_shards.first_state, [(shard, plan) for shard in shards])
    weights = _sum_of_weights(workers, states)
    rounds: list[Round] = []
    converged = False
    while not converged and len(rounds) < settings.max_rounds:
        seeds = [solver.seed + len(rounds) * len(shards) + at for at in range(len(shards))]
        states = workers.submit_all(
            row_shards.advance,
            [
                (shard, state, weights, plan, seed)
                for shard, state, seed in zip(shards, states, seeds, strict=True)
            ],
        )
        weights = _sum_of_weights(workers, states)
        parts = _results(
            workers,
            row_shards.evaluate,
            [(*each, weights, plan) for each in zip(shards, states, strict=True)],
        )
        dual, whole_gap = (float(sum(part[at] for part in parts)) for at in (0, 1))
        rounds.append(Round(len(rounds) + 1, dual, whole_gap, max(part[2] for part in parts)))
        last = rounds[-1]
        converged = last.violation < solver.tolerance or last.relative_gap <= settings.gap
        if on_round is not None:
            on_round(last)
    return RowFit(
        labels,
        single,
        sum(each.rows for each in found),
        columns,
        features,
        workers.result(weights),
        rounds,
        converged,
    )


def _results(
    workers: Workers, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
) -> list[Any]:
    return [workers.result(handle) for handle in workers.submit_all(function, arguments)]


def _sum_of_weights(workers: Workers, states: Sequence[Any]) -> Any:
    """Add up the weights of all shards in pairs, on the workers; return the handle of the sum."""
    level = workers.submit_all(row_shards.weights_of, [(state,) for state in states])
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2], strict=False))
        level = workers.submit_all(row_shards.add, pairs) + level[2 * len(pairs) :]
    return level[0]


def _common_labels(found: Sequence[row_shards.Description]) -> Labels:
    """Return the labels that one machine would find in all rows."""
    first = found[0]
    for number, each in enumerate(found):
        if each.kind != first.kind:
            raise ValueError(
                f"the targets of shard {number} are of the kind {each.kind!r}, but those of shard "
                f"0 {first.kind!r}"
            )
        if each.kind == "indicator" and each.names != first.names:
            raise ValueError(
                f"the targets of shard {number} have the columns {_short(each.names)}, but those "
                f"of shard 0 {_short(first.names)}"
            )
    names = list(dict.fromkeys(name for each in found for name in each.names))
    if first.kind != "indicator":
        with suppress(TypeError):  # labels of mixed types keep their order of appearance
            names = sorted(names)  # type: ignore[type-var]
    if not names:
        raise ValueError("the targets have no labels; at least one is needed")
    return Labels(names)


def _short(names: Sequence[Hashable]) -> str:
    return repr(list(names)) if len(names) <= 5 else f"{names[0]!r} to {names[-1]!r} ({len(names)})"


def _common_columns(found: Sequence[row_shards.Description]) -> int:
    """Return the number of columns; sparse shards may lack the last ones."""
    columns = max(each.columns for each in found)
    for number, each in enumerate(found):
        if not each.sparse and each.columns != columns:
            raise ValueError(f"shard {number} has {each.columns} columns, but another {columns}")
    return columns


def _costs_and_prior(
    workers: Workers,
    estimator: M3LClassifier,
    shards: Sequence[Any],
    labels: Labels,
    single: bool,
) -> tuple[Costs, npt.NDArray[np.float64] | None]:
    """Return the costs and the prior; what depends on the targets is counted on the workers."""
    by_counts = isinstance(estimator.prior, str)
    found = _results(workers, row_shards.facts, [(shard, by_counts) for shard in shards])
    counts = reduce(plus, [each[0] for each in found])
    # With one label per row, the weights of classes are in the weights of the rows.
    in_rows = single and isinstance(estimator.class_weight, Mapping)
    class_weight = None if in_rows else estimator.class_weight
    costs = make_costs(estimator.loss, class_weight, estimator.C, labels, counts)
    if estimator.prior is None:
        return costs, None
    if isinstance(estimator.prior, str):
        parameters.choice(estimator.prior, "prior", ("cooccurrence",))
        return costs, cooccurrence_prior(reduce(plus, [each[1] for each in found]))
    return costs, checked_prior(estimator.prior, len(labels))


def _limited(solver: core.M3LSettings, passes: int) -> core.M3LSettings:
    """Return the settings with another limit of passes."""
    return core.M3LSettings(
        tolerance=solver.tolerance,
        most_passes=passes,
        threads=solver.threads,
        seed=solver.seed,
        cache_bytes=solver.cache_bytes,
        constant=solver.constant,
    )
