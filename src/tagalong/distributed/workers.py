"""The processes that do the work: a Dask cluster, or an executor of the standard library.

The functions that run on workers are plain functions of plain values. What they return can stay
where it was computed: :meth:`Workers.submit` returns a handle, and a handle may be an argument of
the next call.
"""

import os
import pickle
import shutil
import signal
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterable
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
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

__all__ = ["WorkerLost", "Workers", "local_workers", "run_tasks", "workers_of"]

ATTEMPTS = 20  # of a task whose worker was lost; a task that kills its worker must end, too
TASKS_PER_WORKER = 4  # submitted ahead, so that no worker waits for the next task
VALUES_KEPT = 4  # by each worker process, of those that were sent to all


class WorkerLost(Exception):
    """A worker ended, or was cut off, before it returned the result; the task can be repeated."""


class Workers(ABC):
    """The interface to a cluster. Handles come from `send` and `submit`."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Number of workers, at the moment."""

    @abstractmethod
    def send(self, value: Any) -> Any:
        """Send a value to every worker, once; return its handle."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a worker call a function; return the handle of the result.

        Handles among the arguments are replaced by the values they stand for. The function must
        return the same for the same arguments: it is called again if its worker is lost.
        """

    def submit_all(
        self, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Have workers call a function for each tuple of arguments; return the handles.

        A call whose worker is lost is repeated.
        """
        return [self.submit(function, *each) for each in arguments]

    def keep(self, handle: Any) -> Any:
        """Return a handle of a result that many calls will need: it is not sent with each call."""
        return handle

    @abstractmethod
    def wait_for_any(self, handles: Collection[Any]) -> list[Any]:
        """Wait until at least one of these calls has ended; return those that have."""

    @abstractmethod
    def result(self, handle: Any) -> Any:
        """Wait for a result and fetch it.

        Raises
        ------
        WorkerLost
            The worker was lost, more often than the cluster itself repeats a task.
        """

    @abstractmethod
    def cancel(self, handles: Iterable[Any]) -> None:
        """Give up calls that have not begun; their results are not needed."""


class DaskWorkers(Workers):
    """The workers of a Dask cluster. A result stays on its worker until it is fetched."""

    def __init__(self, client: Any) -> None:
        self._client = client

    @property
    def count(self) -> int:
        """Number of workers, at the moment."""
        return len(self._client.scheduler_info(n_workers=-1)["workers"])

    def send(self, value: Any) -> Any:
        """Send a value to every worker; workers that join later fetch it from another one."""
        return _SentByDask(self._client, value)

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a worker call a function, preferably the one that holds the arguments."""
        here = [one.future() if isinstance(one, _SentByDask) else one for one in args]
        return self._client.submit(function, *here, pure=False)

    def compute(self, delayed: list[Any]) -> list[Any]:
        """Have the workers compute values that Dask has delayed; return their handles."""
        handles: list[Any] = self._client.compute(delayed)
        return handles

    def wait_for_any(self, handles: Collection[Any]) -> list[Any]:
        """Wait until at least one of these calls has ended; return those that have."""
        from distributed import as_completed

        ended: list[Any] = as_completed(handles, loop=self._client.loop).next_batch()  # type: ignore[no-untyped-call]
        return ended

    def result(self, handle: Any) -> Any:
        """Wait for a result and fetch it."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            return handle.result()
        except KilledWorker as error:
            raise WorkerLost(f"workers were lost while they worked on a task: {error}") from error
        except CancelledError as error:
            raise WorkerLost("what a task needs was lost with its worker") from error

    def cancel(self, handles: Iterable[Any]) -> None:
        """Give up calls that have not begun."""
        self._client.cancel(list(handles))


class _SentByDask:
    """A value on all workers, which is sent again if all that had it are gone."""

    def __init__(self, client: Any, value: Any) -> None:
        self._client = client
        self._value = value
        self._future: Any = None

    def future(self) -> Any:
        while self._future is None or self._future.status != "finished":
            self._client.wait_for_workers(1)  # there may be none at the moment
            with suppress(OSError):  # all were lost meanwhile
                # In a list, because the elements of a list are sent one by one.
                [self._future] = self._client.scatter([self._value], broadcast=True, hash=False)
        return self._future


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
    """

    def __init__(
        self,
        make: Callable[[], Executor],
        count: int,
        stop: Callable[[], None] | None = None,
    ) -> None:
        self._make = make
        self._stop = stop
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
        if isinstance(self._executor, ThreadPoolExecutor):
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
        except BrokenExecutor:
            self._executor.shutdown(wait=False)
            self._executor = self._make()
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


def workers_of(client: Any) -> Workers:
    """Return the workers of a Dask client or of an executor.

    Raises
    ------
    TypeError
        It is neither.
    """
    if isinstance(client, Workers):
        return client
    if isinstance(client, Executor):
        return ExecutorWorkers(lambda: client, os.cpu_count() or 1)  # it does not tell its number
    if hasattr(client, "scatter") and hasattr(client, "scheduler_info"):
        return DaskWorkers(client)
    raise TypeError(
        "client must be a dask.distributed.Client or a concurrent.futures.Executor, "
        f"got {type(client).__name__}"
    )


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


@dataclass(frozen=True)
class Outcome:
    """The result of one task.

    Attributes
    ----------
    task
        The task, as it was given.
    result
        What the function returned.
    repeated : int
        How often it was submitted again because its worker was lost.
    """

    task: Any
    result: Any
    repeated: int


def run_tasks(
    workers: Workers, function: Callable[..., Any], tasks: Iterable[Any], *common: Any
) -> Generator[Outcome, None, None]:
    """Call ``function(task, *common)`` for every task; yield outcomes in the order they come in.

    A task whose worker was lost is submitted again. A few tasks are submitted ahead, so there may
    be any number. If the caller stops, or a task fails, tasks that have not begun are given up.

    Raises
    ------
    WorkerLost
        A task lost its worker too often. It is probably the cause.
    """
    waiting: dict[Any, tuple[Any, int]] = {}
    remaining = iter(tasks)

    def submit(task: Any, repeated: int) -> None:
        waiting[workers.submit(function, task, *common)] = (task, repeated)

    try:
        while True:
            most = TASKS_PER_WORKER * max(1, workers.count)  # asks the scheduler of a cluster
            for task in islice(remaining, max(0, most - len(waiting))):
                submit(task, 0)
            if not waiting:
                return
            for handle in workers.wait_for_any(waiting.keys()):
                task, repeated = waiting.pop(handle)
                try:
                    result = workers.result(handle)
                except WorkerLost as error:
                    if repeated + 1 >= ATTEMPTS:
                        raise WorkerLost(f"given up after {ATTEMPTS} attempts: {error}") from error
                    submit(task, repeated + 1)
                else:
                    yield Outcome(task, result, repeated)
    finally:
        workers.cancel(waiting)
