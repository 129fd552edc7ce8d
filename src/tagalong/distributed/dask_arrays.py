"""Dask arrays as shards: blocks of rows that stay on the workers."""

from collections.abc import Sequence
from typing import Any

from tagalong.distributed.dask_workers import DaskWorkers
from tagalong.distributed.interface import Workers

__all__ = ["blocks_of_rows", "dask_workers", "is_dask_array"]


def is_dask_array(value: Any) -> bool:
    """Whether a value is a Dask array."""
    return hasattr(value, "to_delayed") and hasattr(value, "chunks")


def dask_workers(workers: Workers, what: str) -> DaskWorkers:
    """Return the workers of a Dask cluster; TypeError if they are others.

    Parameters
    ----------
    workers : Workers
        The workers.
    what : str
        What needs them, as the beginning of a message.
    """
    if not isinstance(workers, DaskWorkers):
        raise TypeError(f"{what}, so client must be a dask.distributed.Client")
    return workers


def blocks_of_rows(workers: Workers, names: Sequence[str], arrays: Sequence[Any]) -> list[Any]:
    """Return the handles of the blocks of rows of arrays: a tuple for each block.

    Parameters
    ----------
    workers : Workers
        The workers of a Dask cluster; TypeError if they are others.
    names : sequence of str
        The names of the arrays, for messages.
    arrays : sequence of arrays
        The arrays. Those after the first one get its blocks of rows. All blocks have all columns.
    """
    cluster = dask_workers(workers, f"{names[0]} is a Dask array")
    for name, array in zip(names, arrays, strict=True):
        if not is_dask_array(array):
            raise TypeError(
                f"{names[0]} is a Dask array, so {name} must be one, too: dask.array.from_array "
                "makes one"
            )
    chunks = arrays[0].chunks[0]
    aligned = [
        _in_blocks(array, name, chunks, names[0]) for name, array in zip(names, arrays, strict=True)
    ]
    blocks = len(chunks)
    delayed = [list(array.to_delayed().ravel()) for array in aligned]
    handles = cluster.compute([block for each in delayed for block in each])
    columns = [handles[at * blocks : (at + 1) * blocks] for at in range(len(arrays))]
    return list(zip(*columns, strict=True))


def _in_blocks(array: Any, name: str, chunks: tuple[Any, ...], first: str) -> Any:
    """Return a Dask array whose blocks are the given blocks of rows, with all columns."""
    if any(size != size for size in (*chunks, *array.chunks[0])):  # NaN: sizes are not known
        if len(array.chunks[0]) != len(chunks):
            raise ValueError(
                f"{name} has {len(array.chunks[0])} blocks of rows but {first} has {len(chunks)}; "
                "as their sizes are not known, compute_chunk_sizes() must be called first"
            )
        return array.rechunk({1: -1}) if array.ndim > 1 and array.numblocks[1] > 1 else array
    if array.shape[0] != sum(chunks):
        raise ValueError(f"{first} has {sum(chunks)} rows but {name} has {array.shape[0]}")
    wanted = {0: chunks} if array.ndim == 1 else {0: chunks, 1: -1}
    return array.rechunk(wanted)
