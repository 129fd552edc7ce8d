"""A faster start of commands: no idle threads, no garbage collection."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_blas_threads", "without_garbage_collection"]

_THREADS = "OPENBLAS_NUM_THREADS"


@contextmanager
def without_blas_threads(active: bool = True) -> Iterator[None]:
    """Let numpy, if it is loaded in this block, start no threads for matrix products.

    Threads that wait for work use as much processor time as the import of numpy.

    Parameters
    ----------
    active : bool
        Whether to do so; False for commands that compute large matrix products.
    """
    if not active or _THREADS in os.environ:
        yield
        return
    os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[_THREADS]


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Suspend garbage collection, and exempt the objects that exist at the end of the block.

    Modules and their functions stay until the process ends. Visiting them again and again, while
    items are read, would find nothing.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
