"""Workers that are processes or threads: an executor of the standard library, or one like it."""

import os
import pickle
import shutil
import signal
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

from tagalong.distributed.interface import ATTEMPTS, ClusterLost, WorkerLost, Workers

__all__ = ["ExecutorWorkers", "local_workers", "workers_of_executor"]

VALUES_KEPT = 4  # by each worker process, of those that were sent to all


class ExecutorWorkers(Workers):
    """The workers of an executor. Results come back, and go out again as arguments.

    Parameters
    ----------
    make : callable
        Makes the executor. One that is broken, because a process was killed, is made again.
    count : int
        Number of workers.
    stop : callable, optional
        Ends all processes of the executor, whatever they do.
    by_value : bool
        Whether what is sent to all workers travels with each call, as they may be on other machines
        and see no file of this one.
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        count: int,
        stop: Callable[[], None] | None = None,
        by_value: bool = False,
    ) -> None:
        self._make = make
        self._stop = stop
        self._by_value = by_value
        self._executor = make()
        self._count = count
        self._folder = tempfile.mkdtemp(prefix="tagalong-")
        self._delete_folder = weakref.finalize(self, shutil.rmtree, self._folder, True)
        self._sent = 0

    @property
    def count(self) -> int:
        """Number of workers."""
        return self._count

    def send(self, value: Any) -> Any:
        """Write a value to a file that every process reads once; threads share the value itself."""
        if self._by_value or isinstance(self._executor, ThreadPoolExecutor):
            return _Shared(value)
        self._sent += 1
        path = Path(self._folder) / f"{self._sent}.pickle"
        path.write_bytes(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
        return _InFile(str(path))

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a worker call a function; wait for the arguments that are not computed yet."""
        here = [self.result(one) if isinstance(one, Future) else one for one in args]
        try:
            return self._executor.submit(_call, function, here)
        except BrokenExecutor as error:
            anew = self._make()
            if anew is self._executor:  # the caller's own
                raise ClusterLost(
                    f"a process of the {type(anew).__name__} ended ({error}), and no executor can "
                    "go on after that: make a new one and call again"
                ) from error
            self._executor.shutdown(wait=False)
            self._executor = anew
            return self._executor.submit(_call, function, here)

    def submit_all(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Have workers call a function for each tuple of arguments, and wait for the results.

        Raises
        ------
        WorkerLost
            A call lost its worker too often. It is probably the cause.
        """
        calls = [list(each) for each in arguments]
        handles = [self.submit(function, *each) for each in calls]
        for at, each in enumerate(calls):
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    self.result(handles[at])
                    break
                except WorkerLost as error:
                    if attempt == ATTEMPTS:
                        raise WorkerLost(f"given up after {ATTEMPTS} attempts: {error}") from error
                    handles[at] = self.submit(function, *each)
        return handles

    def keep(self, handle: Any) -> Any:
        """Write a result to a file that every process reads once; threads share it."""
        return self.send(self.result(handle))

    def wait_for_any(self, handles: Collection[Any]) -> list[Any]:
        """Wait until at least one of these calls has ended; return those that have."""
        ended = wait(handles, return_when=FIRST_COMPLETED).done
        return [one for one in handles if one in ended]  # in their order

    def result(self, handle: Any) -> Any:
        """Wait for a result."""
        try:
            return handle.result()
        except BrokenExecutor as error:
            raise WorkerLost(f"a worker process ended: {error}") from error

    def cancel(self, handles: Iterable[Any]) -> None:
        """Give up calls that have not begun."""
        for one in handles:
            one.cancel()

    def close(self) -> None:
        """End the processes, and delete what was sent."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._delete_folder()

    def __enter__(self) -> "ExecutorWorkers":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._stop is not None:  # nobody wants the results any more
            self._stop()
        self.close()


@dataclass(frozen=True)
class _Shared:
    """A value that threads share."""

    value: Any


@dataclass(frozen=True)
class _InFile:
    """A value in a file, for the processes of this machine."""

    path: str


@lru_cache(maxsize=VALUES_KEPT)
def _read_once(path: str) -> Any:
    return pickle.loads(Path(path).read_bytes())  # written by this program, into a private folder


def _call(function: Callable[..., Any], args: list[Any]) -> Any:
    """Call a function with the values that were sent, in a worker."""
    return function(*map(_value_of, args))


def _value_of(argument: Any) -> Any:
    if isinstance(argument, _InFile):
        return _read_once(argument.path)
    return argument.value if isinstance(argument, _Shared) else argument


def workers_of_executor(executor: Executor) -> ExecutorWorkers:
    """Return the workers of a caller's executor.

    Raises
    ------
    TypeError
        It is the executor of a Dask client, which gives no access to what the client can do.
    """
    if type(executor).__module__.partition(".")[0] == "distributed":
        raise TypeError("client must be the dask.distributed.Client itself, not its executor")
    # Other executors, such as those of MPI, may have processes on other machines.
    local = isinstance(executor, (ThreadPoolExecutor, ProcessPoolExecutor))
    count = os.cpu_count() or 1  # it does not tell its number
    return ExecutorWorkers(lambda: executor, count, by_value=not local)


def local_workers(count: int) -> ExecutorWorkers:
    """Return processes on this machine, to be used as a context; a killed one is replaced.

    They end with this process, and at once if an error or Ctrl-C ends the context.
    """
    context = get_context("spawn")  # a fork of a process with threads can hang
    until, alive = context.Pipe(duplex=False)

    def make() -> Executor:
        return ProcessPoolExecutor(count, context, _end_with_parent, (until,))

    return ExecutorWorkers(make, count, alive.close)


def _end_with_parent(until: Connection) -> None:
    """Leave Ctrl-C to the parent; end this process when the parent ends or closes its pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait_for_end() -> None:
        with suppress(EOFError, OSError):
            until.recv_bytes()
        os.kill(os.getpid(), signal.SIGKILL)

    Thread(target=wait_for_end, name="end with parent", daemon=True).start()
