"""Where the rows of a row-wise fit come from: files, a Dask array, or a matrix in memory.

Rows of files and of Dask arrays are loaded by the workers and never pass through the client.
"""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagalong.distributed.dask_arrays import blocks_of_rows, is_dask_array
from tagalong.distributed.label_parts import cut
from tagalong.distributed.paths import check_can_be_shared, everywhere
from tagalong.distributed.row_shards import check
from tagalong.distributed.workers import Workers
from tagalong.evaluate.inputs import sliceable
from tagalong.learning.items import Item

__all__ = ["load_shard", "shard_handles"]

Load = Callable[[Any], tuple[Any, ...]]


def shard_handles(
    workers: Workers, X: Any, Y: Any, sample_weight: Any, shards: int | None, load: Load
) -> list[Any]:
    """Return the handles of the checked shards.

    Parameters
    ----------
    workers : Workers
        The workers.
    X : list of sources, Dask array or matrix
        The rows. A source is what `load` takes; the path of a file by default. An iterator has
        sources, as of ``Path.glob``.
    Y : targets, Dask array or None
        The targets; None if X is a list of sources.
    sample_weight : array, Dask array or None
        Factor on C per row; None if X is a list of sources.
    shards : int, optional
        Number of shards; by default one per worker.
    load : callable
        Loads a source.
    """
    wanted = max(1, workers.count) if shards is None else shards
    if is_dask_array(X):
        return _from_dask(workers, X, Y, sample_weight, wanted)
    if isinstance(X, Iterator) or _are_sources(X) or load is not load_shard:
        if Y is not None or sample_weight is not None:
            raise ValueError(
                "X is a list of sources, so Y and sample_weight must be None: the sources have them"
            )
        X = list(X)
        if load is load_shard:
            for source in X:
                check_can_be_shared(source)
            X = [everywhere(source) for source in X]
        groups = [X[first:last] for first, last in _cut(len(X), wanted, shards, "sources")]
        return workers.submit_all(
            _load_sources, [(number, group, load) for number, group in enumerate(groups)]
        )
    if Y is None:
        raise ValueError("Y must be given, unless X is a list of files")
    if is_dask_array(Y):
        raise TypeError("Y is a Dask array, so X must be one, too")
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    X, Y = sliceable(X), sliceable(Y)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    # Arguments, not sent: what was sent cannot be computed again if its workers are lost.
    return workers.submit_all(
        check,
        [
            (number, X[first:last], Y[first:last], None if weights is None else weights[first:last])
            for number, (first, last) in enumerate(_cut(count, wanted, shards, "rows"))
        ],
    )


def _cut(count: int, wanted: int, asked: int | None, what: str) -> list[tuple[int, int]]:
    if count == 0:
        raise ValueError(f"X has no {what}")
    if asked is not None and asked > count:
        raise ValueError(f"shards must be at most {count}, the number of {what}, got {asked}")
    return cut(count, wanted)


def _are_sources(X: Any) -> bool:
    """Return whether X is a list of files."""
    return isinstance(X, (list, tuple)) and any(isinstance(each, (str, os.PathLike)) for each in X)


def _from_dask(workers: Workers, X: Any, Y: Any, weights: Any, wanted: int) -> list[Any]:
    names = ("X", "Y") if weights is None else ("X", "Y", "sample_weight")
    arrays = (X, Y) if weights is None else (X, Y, weights)
    blocks = blocks_of_rows(workers, names, arrays)
    return workers.submit_all(
        _join_blocks,
        [
            (number, len(arrays), *(each[at] for at in range(len(arrays)) for each in part))
            for number, (first, last) in enumerate(cut(len(blocks), wanted))
            for part in [blocks[first:last]]
        ],
    )


def _join_blocks(number: int, arrays: int, *blocks: Any) -> Any:
    size = len(blocks) // arrays
    return check(number, *(_stack(blocks[at * size : (at + 1) * size]) for at in range(arrays)))


def _load_sources(number: int, sources: Sequence[Any], load: Load) -> Any:
    loaded = [_loaded(number, source, load) for source in sources]
    if any(not isinstance(each, tuple) or len(each) not in (2, 3) for each in loaded):
        raise ValueError("load must return (X, Y) or (X, Y, sample_weight)")
    if len({len(each) for each in loaded}) > 1:
        raise ValueError(f"shard {number}: only some of the sources have sample weights")
    return check(number, *(_stack(list(parts)) for parts in zip(*loaded, strict=True)))


def _loaded(number: int, source: Any, load: Load) -> Any:
    try:
        return load(source)
    except (OSError, ValueError) as error:
        text = str(error) if str(source) in str(error) else f"{source}: {error}"
        raise ValueError(f"shard {number}, on {platform.node()}: {text}") from error
    except Exception as error:
        error.add_note(f"in shard {number}, on {platform.node()}: {source}")
        raise


def _stack(parts: Sequence[Any]) -> Any:
    """Put rows or targets one below the other."""
    if len(parts) == 1:
        return parts[0]
    if any(map(sp.issparse, parts)):
        width = max(part.shape[1] for part in parts)
        return sp.vstack([_widened(sp.csr_array(part), width) for part in parts], format="csr")
    if isinstance(parts[0], (list, tuple)):
        return [row for part in parts for row in part]
    return np.concatenate([np.asarray(part) for part in parts])


def _widened(matrix: sp.csr_array, width: int) -> sp.csr_array:
    return sp.csr_array((matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], width))


def load_shard(path: str | Path) -> tuple[Any, ...]:
    """Load rows and targets from a file.

    A ``.npz`` file has the arrays ``X`` and ``Y``; or, for a sparse matrix, ``X_data``,
    ``X_indices``, ``X_indptr`` and ``X_shape``, and the same for Y; and may have ``weight``, one
    number per row. Any other file is read by `tagalong.readers`: svmlight, for example. The names
    of its features must be column numbers.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    (X, Y) or (X, Y, weight)
        A matrix, targets, and sample weights if there are any.
    """
    if Path(path).suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            found = (_matrix(file, "X", path), _matrix(file, "Y", path))
            return (*found, file["weight"]) if "weight" in file else found
    from tagalong.readers import read

    with read(str(path)) as stream:
        return _matrix_of_items(list(stream))


def _matrix(file: Any, name: str, path: str | Path) -> Any:
    parts = [f"{name}_{part}" for part in ("data", "indices", "indptr", "shape")]
    if name in file:
        return file[name]
    if not all(part in file for part in parts):
        raise ValueError(f"{path}: it must have an array {name!r}, or {', '.join(parts)}")
    data, indices, indptr, shape = (file[part] for part in parts)
    return sp.csr_array((data, indices, indptr), shape=tuple(shape))


def _matrix_of_items(items: Sequence[Item]) -> tuple[Any, ...]:
    """Return the features and labels of items."""
    indptr, indices, values = [0], [], []
    for item in items:
        if item.labels is None:
            raise ValueError(f"{item.place}: the item has no labels")
        for name, value in item.features.items():
            if not name.isdecimal() or isinstance(value, str):
                raise ValueError(
                    f"{item.place}: feature {name!r} must be the number of a column, with a number "
                    "as its value; pass load=, a function that makes matrices from such files"
                )
            indices.append(int(name))
            values.append(value)
        indptr.append(len(indices))
    shape = (len(items), max(indices, default=0) + 1)
    X = sp.csr_array((np.array(values, np.float64), np.array(indices, np.int64), indptr), shape)
    X.sort_indices()
    labels = [item.labels for item in items]
    if any(item.weight != 1 for item in items):
        return X, labels, np.array([item.weight for item in items])
    return X, labels
