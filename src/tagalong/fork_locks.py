"""Locks that no other thread holds when the process is forked.

A fork copies locks, but not the threads that hold them: in the new process such a lock would never
be released. Therefore a fork waits for these locks. The locks of the native core do the same.
"""

import os
import threading
from weakref import WeakSet

__all__ = ["fork_safe_lock"]

BRIEFLY = 0.05  # seconds; longer than most changes, so that all locks need not be free at once

_all_locks: WeakSet[threading.RLock] = WeakSet()
_list_lock = threading.RLock()


class _Held(threading.local):
    """The locks that this thread has acquired for a fork."""

    def __init__(self) -> None:
        self.locks: list[threading.RLock] = []


_held = _Held()


def fork_safe_lock() -> threading.RLock:
    """Return a new reentrant lock for which a fork waits."""
    lock = threading.RLock()
    with _list_lock:
        _all_locks.add(lock)
    return lock


def _acquire_all() -> None:
    """Acquire all locks. While this thread waits long for one, it holds no other.

    Otherwise a thread that holds the awaited lock could in turn wait for one of the others.
    """
    busy = _acquire_until_busy()
    while busy is not None:
        _release_all()
        busy.acquire()
        _held.locks.append(busy)
        busy = _acquire_until_busy()


def _acquire_until_busy() -> "threading.RLock | None":
    """Acquire the locks, briefly waiting for each; return the first one that stays busy."""
    if not _list_lock.acquire(timeout=BRIEFLY):
        return _list_lock
    _held.locks.append(_list_lock)
    for lock in list(_all_locks):
        if not lock.acquire(timeout=BRIEFLY):
            return lock
        _held.locks.append(lock)
    return None


def _release_all() -> None:
    while _held.locks:
        _held.locks.pop().release()


os.register_at_fork(before=_acquire_all, after_in_parent=_release_all, after_in_child=_release_all)
