"""Learning one shard of a stream: what runs on a worker, a plain function of plain values."""

import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from tagalong.evaluate.inputs import sliceable
from tagalong.evaluate.progress import Progress
from tagalong.learning import model_files
from tagalong.learning.feature_items import FeatureItem
from tagalong.learning.items import Item, ReadError
from tagalong.online.label_ranker.learner import LabelRanker
from tagalong.tagger.tagger import Tagger

__all__ = [
    "BATCH",
    "LearntShard",
    "Model",
    "Shard",
    "check_readable_again",
    "learn_shard",
    "learn_stream",
    "packed",
    "unpacked",
]

Model: TypeAlias = LabelRanker | Tagger
Shard: TypeAlias = (
    str | os.PathLike[str] | tuple[Any, Any] | Iterable[Item] | Callable[[], Iterable[Item]]
)
"""A part of a stream: a file, (X, Y), items, or a function that returns items."""

BATCH = 256


@dataclass(frozen=True)
class LearntShard:
    """The result of a shard.

    Attributes
    ----------
    model : bytes
        The model after the shard, as a model file.
    items : int
        Number of items.
    average_precision : float
        Mean average precision of the predictions before each item was learnt.
    """

    model: bytes
    items: int
    average_precision: float


def learn_shard(
    task: tuple[int, Shard], model: bytes | LabelRanker, judged: bool, reading: Mapping[str, Any]
) -> LearntShard:
    """Learn a shard, starting from a model. The result depends on the arguments only.

    Parameters
    ----------
    task : (int, shard)
        The number of the shard, for messages, and the shard.
    model : bytes or LabelRanker
        The model file, or a ranker that has not started.
    judged : bool
        Whether the items are seen for the first time.
    reading : mapping
        Options of `tagalong.readers.read`, for files.
    """
    number, shard = task
    learner = clone(model) if isinstance(model, LabelRanker) else unpacked(model)
    try:
        progress = learn_stream(learner, shard, judged, reading)
    except ReadError as error:  # without notes when it is sent
        where = f"(shard {number}, on {platform.node()})"
        raise ReadError(error.place, f"{error.problem} {where}") from error
    except (OSError, ValueError) as error:
        error.add_note(f"in shard {number}, on {platform.node()}")
        raise
    if progress.items == 0:
        raise ValueError(f"shard {number} has no items with labels: leave it out")
    precision = progress.report().overall.average_precision
    return LearntShard(packed(learner), progress.items, precision)


def learn_stream(
    learner: Model, shard: Shard, judged: bool, reading: Mapping[str, Any]
) -> Progress:
    """Learn a shard; return the measures of the predictions that were made before each item.

    Parameters
    ----------
    learner : LabelRanker or Tagger
        The model that learns.
    shard, judged, reading
        As for `learn_shard`.
    """
    progress = Progress()
    if isinstance(learner, LabelRanker):
        _learn_matrix(learner, *matrix_of(shard), judged, progress)
        return progress
    tagger: Tagger = learner
    items = items_of(shard, reading)
    while batch := list(islice(items, BATCH)):
        rounds = tagger.watch_together(batch, judged=judged)
        if rounds is not None:
            progress.add_rounds(rounds)
            continue
        for item in batch:
            progress.add(tagger.watch(item, judged=judged))
    return progress


def _learn_matrix(ranker: LabelRanker, X: Any, Y: Any, judged: bool, progress: Progress) -> None:
    X, Y = sliceable(X), sliceable(Y)
    is_indicator = len(getattr(Y, "shape", ())) == 2 and Y.shape[1] > 1
    classes = None if ranker.is_started or is_indicator else "grow"
    for start in range(0, X.shape[0], BATCH):
        rows = slice(start, start + BATCH)
        progress.add_rounds(ranker.watch(X[rows], Y[rows], classes, judged=judged))
        classes = None


def matrix_of(shard: Shard) -> tuple[Any, Any]:
    """Return (X, Y); ValueError if a shard is something else.

    Parameters
    ----------
    shard : (X, Y)
        Examples and targets, as for `LabelRanker.partial_fit`.
    """
    if not isinstance(shard, tuple) or len(shard) != 2:
        raise ValueError(
            "a LabelRanker learns shards (X, Y); files and items need a tagger: "
            f"Tagger(LabelRanker(race=None)); got {type(shard).__name__}"
        )
    X, Y = shard
    if isinstance(X, (list, tuple)):  # of rows
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X of a shard (X, Y) must be a matrix: {error}") from error
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(
            f"X of a shard (X, Y) must be a matrix, with rows and columns, got {type(X).__name__}"
        )
    return X, Y


def check_readable_again(shard: Shard, name: str) -> None:
    """Raise ValueError if a shard is an iterator, which later epochs would find empty.

    Parameters
    ----------
    shard : shard
        The shard.
    name : str
        Its name, for the message.
    """
    if isinstance(shard, Iterator):
        raise ValueError(
            f"{name} is an iterator ({type(shard).__name__}), which can be read only once: give a "
            "list, a file, or a function that returns the items"
        )


def items_of(shard: Shard, reading: Mapping[str, Any]) -> Iterator[Item | FeatureItem]:
    """Yield the items of a shard that have labels.

    Parameters
    ----------
    shard : path, iterable of items, or function
        The shard.
    reading : mapping
        Options of `tagalong.readers.read`, for files.
    """
    if isinstance(shard, (str, os.PathLike)):
        from tagalong.readers import read

        with read(shard, **reading) as stream:
            yield from (item for item in stream if item.labels is not None)
        return
    found = shard() if callable(shard) else shard
    for position, item in enumerate(found):
        if not isinstance(item, (Item, FeatureItem)):
            raise ValueError(
                f"a tagger learns files and Items; element {position} is {type(item).__name__}"
            )
        if item.labels is not None:
            yield item


def packed(model: Model) -> bytes:
    """Return a model as the bytes of its model file."""
    with tempfile.TemporaryDirectory(prefix="tagalong-") as folder:
        path = Path(folder) / "model"
        model.save(path)
        return path.read_bytes()


def unpacked(contents: bytes) -> Model:
    """Return the model of a model file."""
    with tempfile.TemporaryDirectory(prefix="tagalong-") as folder:
        path = Path(folder) / "model"
        path.write_bytes(contents)
        model: Model = model_files.load(path)
        return model
