"""Batch training on a cluster: M3L, divided by labels or by rows."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

from sklearn.exceptions import ConvergenceWarning

from tagalong import parameters
from tagalong.batch.m3l import M3LClassifier
from tagalong.batch.m3l.fit import Fit
from tagalong.batch.m3l.training import linear_model
from tagalong.distributed.label_parts import LabelSolver
from tagalong.distributed.row_rounds import Round, RowSettings, fit_rows
from tagalong.distributed.row_sources import load_shard, shard_handles
from tagalong.distributed.workers import Workers, workers_of

__all__ = ["FitReport", "Round", "fit"]


@dataclass(frozen=True)
class FitReport:
    """How a model was fitted.

    Parameters
    ----------
    by : "labels" or "rows"
        What was divided.
    parts : int
        Number of parts of the labels, or of shards of the rows.
    converged : bool
        Whether the solution is as good as was asked for.
    seconds : float
        Time from the call to the result.
    rounds : list of Round
        By rows: dual value, gap and violation of the whole problem after each round.
    repeated : int
        By labels: how often a part was computed again because its worker was lost. (By rows: 0.
        Dask itself computes again what was lost.)
    """

    by: str
    parts: int
    converged: bool
    seconds: float
    rounds: list[Round]
    repeated: int = 0


def fit(
    model: M3LClassifier,
    X: Any,
    Y: Any,
    client: Any,
    by: Literal["labels", "rows"] = "labels",
    *,
    sample_weight: Any = None,
    shards: int | None = None,
    load: Callable[[Any], tuple[Any, ...]] = load_shard,
    gap: float = 1e-2,
    max_rounds: int = 300,
    local_passes: int = 5,
    sigma: float | None = None,
    on_round: Callable[[Round], None] | None = None,
) -> M3LClassifier:
    r"""Fit an `M3LClassifier` on the workers of a cluster.

    ``by="labels"`` sends X to every worker and divides the labels. The model has the same bits as
    after ``model.fit(X, Y)``. A prior couples the labels, so it is refused.

    ``by="rows"`` is for rows that one machine cannot hold. The rows are divided into S shards, each
    with its dual variables. In a round every shard improves its own variables while the others stay
    fixed, and the weights of all shards are added up. With :math:`\sigma' = S` the dual value never
    falls; `tagalong.distributed.row_shards` has the derivation. After each round the duality gap of
    the whole problem is known. Priors and all losses are allowed, but only the linear kernel.

    Parameters
    ----------
    model : M3LClassifier
        The estimator. It is fitted and returned, as by its method ``fit``. If an error is raised,
        it stays as it was.
    X : matrix, Dask array or list
        Examples. By rows it may also be a Dask array, or a list of files or of anything else that
        `load` takes. Rows of Dask arrays and files are loaded by workers and are never in this
        process. A matrix in memory is sent to every worker.
    Y : targets or None
        As in ``M3LClassifier.fit``; a Dask array if X is one; None if X is a list of files.
    client : dask.distributed.Client or concurrent.futures.Executor
        The workers.
    by : {"labels", "rows"}, default "labels"
        What is divided.
    sample_weight : array of shape (rows,), optional
        Factor on C per row; a Dask array if X is one, None if X is a list of files.
    shards : int, optional
        By rows: number of shards, by default one per worker. Fewer shards need fewer rounds.
    load : callable, optional
        By rows: returns (X, Y) or (X, Y, sample_weight) for an element of the list X. The default
        reads a file: ``.npz``, svmlight, or another format of `tagalong.readers` whose features
        are named by column numbers.
    gap : float, default 1e-2
        By rows: training stops when the duality gap is at most this share of the dual value, or
        when no projected derivative exceeds the model's ``tol``.
    max_rounds : int, default 300
        By rows: training stops after this many rounds, with a ConvergenceWarning.
    local_passes : int, default 5
        By rows: passes of each shard over its rows per round, at most.
    sigma : float, optional
        By rows: :math:`\sigma'`, by default the number of shards. A smaller one makes longer steps,
        without the guarantee that the dual value never falls.
    on_round : callable, optional
        By rows: called with the `Round` after each round.

    Returns
    -------
    M3LClassifier
        The model. Its ``fit_report_`` is a `FitReport`. After a fit by rows it has no
        ``dual_coef_``: the dual variables stay on the workers and are dropped at the end.

    Warns
    -----
    ConvergenceWarning
        The solution is not as good as was asked for.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from tagalong import M3LClassifier
    >>> from tagalong.distributed import fit
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> Y = [["money"], ["money", "bank"], ["travel"], ["travel"]]
    >>> with ThreadPoolExecutor(2) as client:
    ...     model = fit(M3LClassifier(random_state=0), X, Y, client, by="rows", shards=2)
    >>> model.rank([[1.0, 0.1]], k=1).tolist()
    [['money']]
    >>> model.fit_report_.rounds[-1].relative_gap <= 1e-2
    True
    """
    if not isinstance(model, M3LClassifier):
        raise TypeError(f"model must be an M3LClassifier, got {type(model).__name__}")
    parameters.choice(by, "by", ("labels", "rows"))
    if model.solver != "auto":
        raise ValueError(
            f"solver={model.solver!r} works on one machine only: use solver='auto', or "
            "M3LClassifier.fit"
        )
    workers = workers_of(client)
    if by == "labels":
        return _fit_labels(workers, model, X, Y, sample_weight)
    if shards is not None:
        shards = parameters.integer(shards, "shards", 1)
    settings = RowSettings(
        sigma=None if sigma is None else parameters.positive(sigma, "sigma"),
        local_passes=parameters.integer(local_passes, "local_passes", 1, 2**31 - 1),
        gap=parameters.positive(gap, "gap"),
        max_rounds=parameters.integer(max_rounds, "max_rounds", 1),
    )

    def shards_of_rows() -> list[Any]:
        return shard_handles(workers, X, Y, sample_weight, shards, load)

    return _fit_rows(workers, model, shards_of_rows, settings, on_round)


def _fit_labels(
    workers: Workers, model: M3LClassifier, X: Any, Y: Any, sample_weight: Any
) -> M3LClassifier:
    if model.prior is not None:
        raise ValueError(
            "the prior couples the labels, so they cannot be fitted apart: use by='rows', or "
            "M3LClassifier.fit on one machine"
        )
    if Y is None or hasattr(X, "to_delayed"):
        raise ValueError(
            "by='labels' sends all rows to every worker, so X and Y must be in memory; use "
            "by='rows' for files and Dask arrays"
        )
    start = perf_counter()
    solver = LabelSolver(workers)
    model.fit_with(solver, X, Y, sample_weight)
    seconds = perf_counter() - start
    model.fit_report_ = FitReport(
        "labels", solver.parts, solver.converged, seconds, [], solver.repeated
    )
    return model


def _fit_rows(
    workers: Workers,
    model: M3LClassifier,
    shards: Callable[[], list[Any]],
    settings: RowSettings,
    on_round: Callable[[Round], None] | None,
) -> M3LClassifier:
    solver_settings = model.checked_settings()
    if model.kernel != "linear":
        raise ValueError(
            f"by='rows' needs kernel='linear', got {model.kernel!r}: other kernels compare each "
            "row with all others; use by='labels'"
        )
    if model.warm_start:
        raise ValueError("by='rows' needs warm_start=False: it keeps no dual variables")
    start = perf_counter()
    handles = shards()
    found = fit_rows(workers, model, handles, solver_settings, settings, on_round)
    last = found.rounds[-1]
    features = found.features_with_constant(solver_settings.constant)
    model.adopt(
        Fit(
            model=linear_model(features, found.weights, found.columns, solver_settings.constant),
            labels=found.labels,
            single=found.single,
            rows=found.rows,
            dual=None,
            place=None,
            dual_objective=last.dual,
            duality_gap=last.gap,
            passes=len(found.rounds),
        ),
        found.columns,
    )
    seconds = perf_counter() - start
    model.fit_report_ = FitReport("rows", len(handles), found.converged, seconds, found.rounds)
    if not found.converged:
        warnings.warn(
            f"training stopped after max_rounds={settings.max_rounds}: the duality gap is "
            f"{last.relative_gap:.3g} of the dual value, above gap={settings.gap:g}, and the "
            f"largest projected derivative {last.violation:.3g}, not below tol={model.tol:g}; "
            "raise max_rounds, gap or tol, or use fewer shards",
            ConvergenceWarning,
            stacklevel=3,
        )
    return model
