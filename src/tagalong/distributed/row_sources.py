"""Where the rows of a row-wise fit come from: files, a Dask array, or a matrix in memory.

Rows of files and of Dask arrays are loaded by the workers and never pass through the client.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagalong.distributed.label_parts import cut
from tagalong.distributed.row_shards import check
from tagalong.distributed.workers import DaskWorkers, Workers
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
        The rows. A source is what `load` takes; the path of a file by default.
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
    if _is_dask(X):
        return _from_dask(workers, X, Y, sample_weight, wanted)
    if _are_sources(X) or load is not load_shard:
        if Y is not None or sample_weight is not None:
            raise ValueError(
                "X is a list of sources, so Y and sample_weight must be None: the sources have them"
            )
        groups = [list(X[first:last]) for first, last in _cut(len(X), wanted, shards, "sources")]
        return workers.submit_all(
            _load_sources, [(number, group, load) for number, group in enumerate(groups)]
        )
    if Y is None:
        raise ValueError("Y must be given, unless X is a list of files")
    if _is_dask(Y):
        raise TypeError("Y is a Dask array, so X must be one, too")
    count = X.shape[0] if hasattr(X, "shape") else len(X)
    whole = workers.send((X, Y, sample_weight))
    parts = _cut(count, wanted, shards, "rows")
    return workers.submit_all(
        _take_rows, [(number, whole, *part) for number, part in enumerate(parts)]
    )


def _cut(count: int, wanted: int, asked: int | None, what: str) -> list[tuple[int, int]]:
    if count == 0:
        raise ValueError(f"X has no {what}")
    if asked is not None and asked > count:
        raise ValueError(f"shards must be at most {count}, the number of {what}, got {asked}")
    return cut(count, wanted)


def _is_dask(value: Any) -> bool:
    return hasattr(value, "to_delayed") and hasattr(value, "chunks")


def _are_sources(X: Any) -> bool:
    """Return whether X is a list of files."""
    return isinstance(X, (list, tuple)) and any(isinstance(each, (str, Path)) for each in X)


def _from_dask(workers: Workers, X: Any, Y: Any, weights: Any, wanted: int) -> list[Any]:
    if not isinstance(workers, DaskWorkers):
        raise TypeError("X is a Dask array, so client must be a dask.distributed.Client")
    given = [X, Y] if weights is None else [X, Y, weights]
    for name, array in zip(("Y", "sample_weight"), given[1:], strict=False):
        if not _is_dask(array):
            raise TypeError(
                f"X is a Dask array, so {name} must be one, too: dask.array.from_array makes one"
            )
    aligned = [_in_blocks_of_rows(array, X.chunks[0], at) for at, array in enumerate(given)]
    blocks = len(X.chunks[0])
    delayed = [list(array.to_delayed().ravel()) for array in aligned]
    handles = workers.compute([block for each in delayed for block in each])
    columns = [handles[at * blocks : (at + 1) * blocks] for at in range(len(given))]
    parts = cut(blocks, wanted)
    return workers.submit_all(
        _join_blocks,
        [
            (number, len(given), *(block for each in columns for block in each[first:last]))
            for number, (first, last) in enumerate(parts)
        ],
    )


def _in_blocks_of_rows(array: Any, chunks: tuple[Any, ...], at: int) -> Any:
    """Return a Dask array whose blocks are the given blocks of rows, with all columns."""
    name = ("X", "Y", "sample_weight")[at]
    if any(size != size for size in (*chunks, *array.chunks[0])):  # NaN: sizes are not known
        if len(array.chunks[0]) != len(chunks):
            raise ValueError(
                f"{name} has {len(array.chunks[0])} blocks of rows but X has {len(chunks)}; as "
                "their sizes are not known, compute_chunk_sizes() must be called first"
            )
        return array.rechunk({1: -1}) if array.ndim > 1 and array.numblocks[1] > 1 else array
    if array.shape[0] != sum(chunks):
        raise ValueError(f"X has {sum(chunks)} rows but {name} has {array.shape[0]}")
    wanted = {0: chunks} if array.ndim == 1 else {0: chunks, 1: -1}
    return array.rechunk(wanted)


def _take_rows(number: int, whole: tuple[Any, Any, Any], first: int, last: int) -> Any:
    X, Y, weights = whole
    part = slice(first, last)
    rows = X.iloc[part] if hasattr(X, "iloc") else X[part]
    targets = Y.iloc[part] if hasattr(Y, "iloc") else Y[part]
    return check(number, rows, targets, None if weights is None else np.asarray(weights)[part])


def _join_blocks(number: int, arrays: int, *blocks: Any) -> Any:
    size = len(blocks) // arrays
    return check(number, *(_stack(blocks[at * size : (at + 1) * size]) for at in range(arrays)))


def _load_sources(number: int, sources: Sequence[Any], load: Load) -> Any:
    loaded = [load(source) for source in sources]
    if any(not isinstance(each, tuple) or len(each) not in (2, 3) for each in loaded):
        raise ValueError("load must return (X, Y) or (X, Y, sample_weight)")
    if len({len(each) for each in loaded}) > 1:
        raise ValueError(f"shard {number}: only some of the sources have sample weights")
    return check(number, *(_stack(list(parts)) for parts in zip(*loaded, strict=True)))


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
