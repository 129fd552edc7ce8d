"""Group commit: requests that arrive while another one is committed share the next commit.

A commit waits for the disk. One thread commits the requests of all threads that wait, so that they
wait for the disk once. Then one of those who have come meanwhile commits.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from tagalong.journal.errors import StorageError
from tagalong.journal.store import JournalStore

__all__ = ["Commits"]

T = TypeVar("T")


class _Request:
    """A piece of work that waits to be committed."""

    __slots__ = ("error", "is_done", "result", "turn", "work")

    def __init__(self, work: Callable[[], Any], turn: "_Turn"):
        self.work = work
        self.turn = turn
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_done = False

    def fail(self, error: BaseException) -> None:
        self.error, self.is_done = error, True


class _Turn:
    """Lets one thread wait until its requests are done, or until it is the one that commits.

    Each thread is woken for itself: if all were woken after each commit, most of them would only
    find out that they have to wait on.
    """

    __slots__ = ("_come", "commits")

    def __init__(self) -> None:
        self.commits = False
        self._come = threading.Lock()
        self._come.acquire()

    def wait(self) -> None:
        self._come.acquire()

    def come(self) -> None:
        self._come.release()


class Commits:
    """Commits requests of many threads in order.

    Parameters
    ----------
    store : JournalStore
        The journal.
    before : callable
        Called before each transaction; what it raises is the error of every request.
    on_commit : callable
        Called after each commit, before the requests are acknowledged. An exception in it changes
        nothing about what is stored, so no request gets it.
    on_refusal : callable
        Called after a request was refused, whose changes are not part of the commit.
    on_failure : callable
        Called after a commit that failed; what was derived from it has to be read again.
    on_problem : callable
        Called with an exception of `on_commit`.
    """

    def __init__(
        self,
        store: JournalStore,
        before: Callable[[], None],
        on_commit: Callable[[], None],
        on_refusal: Callable[[], None],
        on_failure: Callable[[], None],
        on_problem: Callable[[Exception], None],
    ):
        self._store = store
        self._before = before
        self._on_commit = on_commit
        self._on_refusal = on_refusal
        self._on_failure = on_failure
        self._on_problem = on_problem
        self._waiting: list[_Request] = []
        self._is_busy = False
        self._is_closed = False
        self._pausing = 0
        self._process = os.getpid()
        self._changed = threading.Condition()

    def submit(self, work: Callable[[], T]) -> T:
        """Do work in a transaction, and return its result when it is on the disk.

        Parameters
        ----------
        work : callable
            It writes to the journal. If it raises an error, nothing that it wrote is committed.
        """
        (result,) = self.submit_together([work])
        if isinstance(result, BaseException):
            raise result
        return result

    def submit_together(self, works: Sequence[Callable[[], T]]) -> list[T | BaseException]:
        """Do several pieces of work in one transaction, each as ``submit`` does.

        Parameters
        ----------
        works : sequence of callables
            The work.

        Returns
        -------
        list of object or BaseException
            For each the result, when all are on the disk, or its error.
        """
        if not works:
            return []
        turn = _Turn()
        requests = [_Request(work, turn) for work in works]
        with self._changed:
            try:
                self._check_open()
            except StorageError as error:
                return [_copy(error) for _ in works]
            self._waiting += requests
            if not self._is_busy and not self._pausing:
                turn.commits = self._is_busy = True
        if not turn.commits:
            self._wait(turn)
        if turn.commits:
            self._commit_waiting()
        return [
            cast(T, request.result) if request.error is None else request.error
            for request in requests
        ]

    def _wait(self, turn: _Turn) -> None:
        try:
            turn.wait()
        except BaseException:  # Ctrl-C: others must not wait for this thread
            with self._changed:
                self._waiting = [each for each in self._waiting if each.turn is not turn]
                if turn.commits:
                    self._pass_on()
            raise

    def _commit_waiting(self) -> None:
        """Commit the requests of all that wait, and let the next thread commit."""
        with self._changed:
            requests, self._waiting = self._waiting, []
        try:
            self._commit(requests)
        finally:
            with self._changed:
                self._pass_on()
            for turn in {request.turn for request in requests}:
                if not turn.commits:
                    turn.come()

    def _pass_on(self) -> None:
        """Let another thread commit: one that pauses commits, or one of those who wait."""
        if self._waiting and not self._pausing:
            turn = self._waiting[0].turn
            turn.commits = True
            turn.come()
        else:
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
            self._begin_pause()
        try:
            self._before()
            yield
        finally:
            with self._changed:
                self._pass_on()

    def _begin_pause(self) -> None:
        """Wait until nobody commits; those who come meanwhile commit after the pause."""
        self._pausing += 1
        try:
            self._changed.wait_for(lambda: not self._is_busy)
            self._check_open()  # it may have been closed meanwhile
        except BaseException:
            self._pausing -= 1
            if not self._is_busy:
                self._is_busy = True
                self._pass_on()
            raise
        self._pausing -= 1
        self._is_busy = True

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
        except Exception as error:
            self._on_problem(error)
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
