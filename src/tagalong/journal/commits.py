"""Group commit: requests that arrive while another one is committed share the next commit.

A commit waits for the disk. One thread commits the requests of all threads that wait, so that they
wait for the disk once.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from tagalong.journal.errors import StorageError
from tagalong.journal.store import JournalStore

__all__ = ["Commits"]

T = TypeVar("T")


class _Request:
    """A piece of work that waits to be committed."""

    __slots__ = ("error", "is_done", "result", "work")

    def __init__(self, work: Callable[[], Any]):
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_done = False

    def fail(self, error: BaseException) -> None:
        self.error, self.is_done = error, True


class Commits:
    """Commits requests of many threads in order.

    Parameters
    ----------
    store : JournalStore
        The journal.
    before : callable
        Called before each transaction; what it raises is the error of every request.
    on_commit : callable
        Called after each commit, before the requests are acknowledged.
    on_refusal : callable
        Called after a request was refused, whose changes are not part of the commit.
    on_failure : callable
        Called after a commit that failed; what was derived from it has to be read again.
    """

    def __init__(
        self,
        store: JournalStore,
        before: Callable[[], None],
        on_commit: Callable[[], None],
        on_refusal: Callable[[], None],
        on_failure: Callable[[], None],
    ):
        self._store = store
        self._before = before
        self._on_commit = on_commit
        self._on_refusal = on_refusal
        self._on_failure = on_failure
        self._waiting: list[_Request] = []
        self._is_busy = False
        self._is_closed = False
        self._process = os.getpid()
        self._changed = threading.Condition()

    def submit(self, work: Callable[[], T]) -> T:
        """Do work in a transaction, and return its result when it is on the disk.

        Parameters
        ----------
        work : callable
            It writes to the journal. If it raises an error, nothing that it wrote is committed.
        """
        request = _Request(work)
        with self._changed:
            self._check_open()
            self._waiting.append(request)
            self._changed.wait_for(lambda: request.is_done or not self._is_busy)
            if not request.is_done:
                self._is_busy = True
                requests, self._waiting = self._waiting, []
        if not request.is_done:
            try:
                self._commit(requests)
            finally:
                self._release()
        if request.error is not None:
            raise request.error
        return cast(T, request.result)

    def _release(self) -> None:
        with self._changed:
            self._is_busy = False
            self._changed.notify_all()

    def _check_open(self) -> None:
        if self._process != os.getpid():
            raise StorageError(
                "another process has the workspace open; a process made by fork opens its own"
            )
        if self._is_closed:
            raise StorageError("the workspace is closed; open it again")

    def close(self) -> None:
        """Commit what waits, and nothing more: later requests are refused at once."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: not self._is_busy and not self._waiting)

    @property
    def is_closed(self) -> bool:
        """Whether no further request is committed."""
        return self._is_closed

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Commit nothing during the block, which may use the journal itself."""
        with self._changed:
            self._check_open()
            self._changed.wait_for(lambda: not self._is_busy)
            self._check_open()  # it may have been closed meanwhile
            self._is_busy = True
        try:
            self._before()
            yield
        finally:
            self._release()

    def _commit(self, requests: list[_Request]) -> None:
        accepted: list[_Request] = []
        try:
            self._before()
            with self._store.transaction():
                for request in requests:
                    if self._do(request):
                        accepted.append(request)
        except BaseException as error:
            # Every request has its own error, as each thread adds its traceback to it.
            for request in requests:
                if not request.is_done:
                    request.fail(_copy(error))
            self._on_failure()
            if not isinstance(error, Exception):
                raise
            return
        try:
            self._on_commit()
        finally:  # they are on the disk, whatever happens now
            for request in accepted:
                request.is_done = True

    def _do(self, request: _Request) -> bool:
        """Do the work of one request; return False if it was refused."""
        try:
            with self._store.part():
                request.result = request.work()
        except StorageError:  # the whole transaction is lost
            raise
        except Exception as error:
            self._on_refusal()
            request.fail(error)
            return False
        return True


def _copy(error: BaseException) -> BaseException:
    if isinstance(error, StorageError):
        return type(error)(*error.args)
    if isinstance(error, Exception):
        return error
    return StorageError("interrupted; whether it was stored is not known")
