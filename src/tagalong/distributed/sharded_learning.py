"""`learn`: a stream in shards, each learnt by a worker, then mixed; several times over."""

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from sklearn.base import clone

from tagalong import parameters
from tagalong.distributed.dask_arrays import blocks_of_rows, dask_workers, is_dask_array
from tagalong.distributed.paths import check_can_be_shared, everywhere
from tagalong.distributed.shards import (
    BATCH,
    Model,
    Shard,
    check_readable_again,
    items_of,
    learn_shard,
    learn_stream,
    matrix_of,
    packed,
    unpacked,
)
from tagalong.distributed.workers import Workers, run_tasks, workers_of
from tagalong.evaluate.frozen_runs import frozen
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.online.label_ranker.learner import LabelRanker
from tagalong.tagger.mixing import How, mix, mixing_factors
from tagalong.tagger.tagger import Tagger
from tagalong.text.mixing import items_seen

__all__ = ["Epoch", "Learning", "learn"]

MOST_SUGGESTIONS = 1_000_000
"""Number of suggestions that are in memory at a time."""


@dataclass(frozen=True)
class Epoch:
    """An epoch: all shards learnt, then mixed.

    Attributes
    ----------
    number : int
        From 1.
    items : int
        Items of all shards.
    average_precision : float
        Mean average precision of what the shards' own models predicted before they learnt each
        item. From the second epoch on the items are known already, and it is too high.
    held_out : float or None
        Mean average precision of the mixed model on the held-out part; None if there is none.
    dual : float
        The dual value of the mixed model: see `tagalong.mix`. A larger one is not a better ranking.
    """

    number: int
    items: int
    average_precision: float
    held_out: float | None
    dual: float


@dataclass(frozen=True)
class Learning:
    """The result of `learn`.

    Attributes
    ----------
    model : LabelRanker or Tagger
        The mixed model.
    epochs : tuple of Epoch
        What was measured after each epoch.
    """

    model: Any
    epochs: tuple[Epoch, ...]

    def __str__(self) -> str:
        lines = ["epoch     items  seen first  held out        dual"]
        for epoch in self.epochs:
            seen = f"{epoch.average_precision:.4f}" if epoch.number == 1 else "-"
            held_out = "-" if epoch.held_out is None else f"{epoch.held_out:.4f}"
            lines.append(
                f"{epoch.number:5}{epoch.items:10,}{seen:>12}{held_out:>10}{epoch.dual:12.6g}"
            )
        return "\n".join(lines)


def learn(
    ranker: Model,
    shards: Iterable[Shard] | Any,
    client: Any,
    epochs: int = 1,
    how: How = "average",
    held_out: Shard | None = None,
    reading: Mapping[str, Any] | None = None,
) -> Learning:
    r"""Learn a stream in shards on many workers, and mix what they have learnt.

    In each epoch every shard is learnt by a worker that starts from the mixed model of the last
    epoch; then the models are mixed (`tagalong.mix`). The bits of the result depend on the model,
    the shards and their order only: not on the workers, nor on which of them are lost and when.

    Parameters
    ----------
    ranker : LabelRanker or Tagger
        The model to start from; it does not change. A race of learners that has learnt nothing yet
        is replaced by a single learner (``race=None``), with a warning.
    shards : sequence of shards
        For a `LabelRanker`: pairs (X, Y), as for ``partial_fit``. For a `Tagger`: files that the
        workers can read, in any format of `tagalong.readers`; collections of items; or functions
        that return items. Iterators are refused, as they can be read only once. A Dask bag of
        items, or a pair of Dask arrays, whose partitions are the shards, needs a Dask client.
    client : dask.distributed.Client or concurrent.futures.Executor
        The workers. They run code that is sent to them: use it in trusted networks only.
    epochs : int, default 1
        How often each shard is learnt.
    how : "average", "sum" or sequence of float, default "average"
        The factor of each shard, as for `tagalong.mix`. With many shards and several epochs, larger
        factors than those of the average can rank better (docs/cluster.md).
    held_out : shard, optional
        Items on which every mixed model is measured. At the end the mixed model learns them,
        each after it was predicted: so it has a cut-off and confidence, which start anew when
        models are mixed. Without it, the model has neither until it is judged.
    reading : mapping, optional
        Options of `tagalong.readers.read`, for files.

    Returns
    -------
    Learning
        The mixed model, and what was measured after each epoch.

    Notes
    -----
    **What is certified.** Every epoch counts its rounds as new ones, as each pass of ``fit`` does.
    After epoch e the model is :math:`\theta = \theta_b + \sum_k f_k (\theta_k - \theta_b)`, where
    :math:`\theta_b` is the mixture of epoch e - 1. By induction :math:`\theta_b` belongs to allowed
    coefficients of the rounds of the epochs before; those of epoch e are other rounds, and take
    part with :math:`f_k\alpha`. So the proof of `tagalong.mix` applies:
    ``model.certificate_.dual`` is at most :math:`F(w) + C` times the loss of every fixed `w` over
    all rounds of all epochs and of the held-out part, that is
    :math:`F(w) + C\,e\,\mathrm{loss}(w)` with the loss of one epoch. It is no bound for the
    problem in which each item counts once. Mistakes are bounded with the penalty of mixing.

    Items are judged in the first epoch only; later epochs change weights.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import numpy as np
    >>> from tagalong import LabelRanker
    >>> from tagalong.distributed import learn
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 8))
    >>> Y = (X[:, :4] > 0.5).astype(int)
    >>> shards = [(X[k:400:2], Y[k:400:2]) for k in range(2)]
    >>> with ThreadPoolExecutor(2) as client:
    ...     found = learn(
    ...         LabelRanker(race=None), shards, client, epochs=2, held_out=(X[400:], Y[400:])
    ...     )
    >>> found.epochs[1].held_out > 0.95
    True
    >>> found.model.certificate_.rounds
    900
    """
    epochs = parameters.integer(epochs, "epochs", 1)
    reading = {} if reading is None else dict(reading)
    start = _single_learner(ranker)
    workers = workers_of(client)
    parts = _shards_of(shards, workers)
    mixing_factors(how, len(parts))  # refuse wrong factors before anything is learnt
    if held_out is not None:
        check_readable_again(held_out, "held_out")
    model: Model | None = start if _is_started(start) else None
    done: list[Epoch] = []
    for number in range(1, epochs + 1):
        sent = workers.send(start if model is None else packed(model))
        outcomes = {
            outcome.task[0]: outcome.result
            for outcome in run_tasks(
                workers, learn_shard, list(enumerate(parts)), sent, number == 1, reading
            )
        }
        learnt = [outcomes[shard] for shard in range(len(parts))]
        base = model if model is not None and _has_learnt(model) else None
        models: list[Any] = [unpacked(one.model) for one in learnt]
        model = cast(Model, mix(models, how, base=cast(Any, base)))
        items = sum(one.items for one in learnt)
        precision = sum(one.items * one.average_precision for one in learnt) / items
        done.append(
            Epoch(
                number,
                items,
                precision,
                None if held_out is None else _held_out_precision(model, held_out, reading),
                _certificate(model).dual,
            )
        )
    assert model is not None
    if held_out is not None:
        learn_stream(model, held_out, True, reading)
    return Learning(model, tuple(done))


def _is_started(model: Model) -> bool:
    return isinstance(model, Tagger) or model.is_started


def _has_learnt(model: Model) -> bool:
    """Whether a model has learnt anything, even if its certificate has started anew since."""
    certificate = _certificate(model)
    if certificate.rounds or certificate.restarted:
        return True
    return isinstance(model, Tagger) and bool(model.history.items or items_seen(model.features))


def _certificate(model: Model) -> Certificate:
    return cast(Certificate, model.certificate_)


def _single_learner(model: Model) -> Model:
    """Return a model that can be mixed; ValueError if there is none."""
    learner = model.learner if isinstance(model, Tagger) else model
    if not isinstance(learner, LabelRanker):
        raise ValueError(
            "shards are learnt by a LabelRanker, or a Tagger with one, got "
            f"{type(learner).__name__}"
        )
    probe = learner
    if not learner.is_started:
        probe = clone(learner)
        probe.start()
    if not probe.standings_:
        mix([probe])  # ValueError if it cannot be mixed
        return model
    if _has_learnt(model if learner.is_started else probe):
        raise ValueError(
            "a race of learners that has learnt already cannot learn in shards: start with "
            "LabelRanker(race=None)"
        )
    warnings.warn(
        "a race of learners cannot be mixed: shards are learnt by one learner, race=None",
        UserWarning,
        stacklevel=3,
    )
    single: LabelRanker = clone(learner).set_params(race=None)
    labels = learner.labels.names
    if not isinstance(model, Tagger):
        return single.add_labels(labels) if labels else single
    tagger = Tagger(
        single, clone(model.features), audit=model.audit, min_precision=model.min_precision
    )
    tagger.notes = dict(model.notes)
    return tagger.add_labels(labels) if labels else tagger


def _shards_of(shards: Any, workers: Workers) -> list[Any]:
    """Return the shards; those of a Dask collection stay on their workers."""
    if isinstance(shards, tuple) and any(map(is_dask_array, shards)):
        if len(shards) != 2:
            raise TypeError(f"shards must be a pair (X, Y) of Dask arrays, got {len(shards)}")
        if not is_dask_array(shards[0]):
            raise TypeError("Y is a Dask array, so X must be one, too")
        return blocks_of_rows(workers, ("X", "Y"), shards)
    if is_dask_array(shards):
        raise TypeError("shards must be a pair (X, Y) of Dask arrays, got one array")
    if hasattr(shards, "to_delayed"):  # a bag of items
        return dask_workers(workers, "shards are a Dask bag").compute(list(shards.to_delayed()))
    return [_checked_shard(number, shard) for number, shard in enumerate(shards)]


def _checked_shard(number: int, shard: Any) -> Any:
    """Return a shard as every worker can read it."""
    check_readable_again(shard, f"shard {number}")
    if not isinstance(shard, (str, os.PathLike)):
        return shard
    check_can_be_shared(shard)
    return everywhere(shard)


def _held_out_precision(model: Model, held_out: Shard, reading: Mapping[str, Any]) -> float:
    """Return the mean average precision of a model on items that it does not learn."""
    if isinstance(model, LabelRanker):
        X, Y = matrix_of(held_out)
        return frozen(model, X, Y).overall.average_precision
    count, total = 0, 0.0
    labels_of_model = len(model.labels)
    most = max(1, min(BATCH, MOST_SUGGESTIONS // max(1, labels_of_model)))
    items = items_of(held_out, reading)
    while batch := list(islice(items, most)):
        found = model.suggest_many(batch, k=labels_of_model)
        for item, suggestions in zip(batch, found, strict=True):
            labels = set(item.labels or ())
            ranks = [n for n, one in enumerate(suggestions, start=1) if one.label in labels]
            if labels:  # labels that the model does not know have no place
                total += sum(n / rank for n, rank in enumerate(ranks, start=1)) / len(labels)
                count += 1
    if not count:
        raise ValueError("held_out has no items with labels: leave it out")
    return total / count
