"""The workers of a Dask cluster."""

import platform
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from uuid import uuid4

from tagalong.distributed.environments import (
    FACTS,
    Place,
    WorkerError,
    check_versions,
    installed_version,
)
from tagalong.distributed.interface import ClusterLost, WorkerLost, Workers

__all__ = ["DaskWorkers"]

SECONDS_BETWEEN_LOOKS = 5.0
"""How often it is looked whether there are workers, while nothing ends."""
SECONDS_BETWEEN_ATTEMPTS = 0.1
"""How often it is looked whether the client is connected again."""


class DaskWorkers(Workers):
    """The workers of a Dask cluster. A result stays on its worker until it is fetched.

    Parameters
    ----------
    client : Client
        The client of the cluster. WorkerError if its scheduler or a worker has another version of
        Tagalong, or none.
    on_wait : callable, optional
        Called with a sentence whenever no worker is left, and the work waits for one. By default a
        warning says so.
    """

    def __init__(self, client: Any, on_wait: Callable[[str], None] | None = None) -> None:
        self._client = client
        self._address: str = getattr(client.scheduler, "address", "") or "the scheduler"
        self._on_wait = partial(warnings.warn, stacklevel=2) if on_wait is None else on_wait
        self._is_waiting = False
        self._workers: set[str] = set()
        self._losses: Counter[str] = Counter()  # by the key of a task
        with self._named_losses():
            self._check()

    def _check(self) -> None:
        client = self._client
        found: dict[Place, Any] = {}
        scheduler = Place("the scheduler", self._address)
        try:
            found[scheduler] = client.run_on_scheduler(eval, FACTS)
        except ImportError as error:
            found[scheduler] = error
        for address, facts in client.run(eval, FACTS, on_error="return").items():
            found[Place("the worker", address)] = facts
        check_versions(found)

    @contextmanager
    def _named_losses(self) -> Iterator[None]:
        """Raise ClusterLost if the connection to the scheduler is lost."""
        from distributed.client import ClosedClientError

        try:
            yield
        except (OSError, ClosedClientError) as error:
            raise self._lost() from error
        while self._client.status == "connecting":  # again; the client gives up after a while
            time.sleep(SECONDS_BETWEEN_ATTEMPTS)
        if self._client.status != "running":
            raise self._lost()

    def _lost(self) -> ClusterLost:
        return ClusterLost(
            f"the connection to the scheduler {self._address} was lost: it has ended, or cannot be "
            "reached any more; start it and its workers again, and then this work"
        )

    @property
    def count(self) -> int:
        """Number of workers, at the moment."""
        with self._named_losses():
            workers = set(self._client.scheduler_info(n_workers=-1)["workers"])
            for address in self._workers - workers:
                self._count_losses(address)
        self._workers = workers
        if workers:
            self._is_waiting = False
        elif not self._is_waiting:
            self._is_waiting = True
            self._on_wait(
                f"the cluster {self._address} has no workers, waiting for one: dask worker "
                f"{self._address} --nthreads 1"
            )
        return len(workers)

    def _count_losses(self, address: str) -> None:
        """Note the tasks that a lost worker had been given, or whose results it had."""
        for _, event in self._client.get_events(address):
            if event.get("action") == "remove-worker":
                self._losses.update(event["processing-tasks"])
                self._losses.update(event["lost-computed-tasks"])

    def repeated(self, handle: Any) -> int:
        """Return how often a call was given to another worker, or its result computed again."""
        return self._losses[handle.key]

    def send(self, value: Any) -> Any:
        """Send a value to every worker; workers that join later fetch it from another one."""
        return _SentByDask(self, self._client, value)

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a worker call a function, preferably the one that holds the arguments."""
        here = [one.future() if isinstance(one, _SentByDask) else one for one in args]
        # The scheduler learns from the names of keys how long tasks take.
        key = f"{getattr(function, '__name__', 'call')}-{uuid4().hex}"
        with self._named_losses(), warnings.catch_warnings():
            # Values that must outlive all workers travel with the task, however large they are.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._client.submit(
                call_on_same_version, installed_version(), function, *here, pure=False, key=key
            )

    def compute(self, delayed: list[Any]) -> list[Any]:
        """Have the workers compute values that Dask has delayed; return their handles."""
        with self._named_losses():
            handles: list[Any] = self._client.compute(delayed)
        return handles

    def wait_for_any(self, handles: Collection[Any]) -> list[Any]:
        """Wait until at least one of these calls has ended; return those that have."""
        from distributed import as_completed

        ended: list[Any] = []
        while not ended:
            with self._named_losses(), suppress(TimeoutError):
                done = as_completed(handles, loop=self._client.loop, timeout=SECONDS_BETWEEN_LOOKS)  # type: ignore[no-untyped-call]
                ended = done.next_batch()  # type: ignore[no-untyped-call]
            if not ended:
                _ = self.count  # says so if there are none
        return ended

    def result(self, handle: Any) -> Any:
        """Wait for a result and fetch it."""
        from distributed import KilledWorker

        self.wait_for_any([handle])
        try:
            return handle.result()
        except KilledWorker as error:
            raise WorkerLost(f"workers were lost while they worked on a task: {error}") from error
        except CancelledError as error:
            with self._named_losses():
                pass
            raise WorkerLost("what a task needs was lost with its worker") from error
        except (ImportError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "deserialization" not in str(error):
                raise
            reason = error if error.__cause__ is None else error.__cause__
            raise WorkerError(
                f"a worker or the scheduler cannot load what a task needs ({reason}): install "
                f"Tagalong {installed_version()} and all other code of the tasks on all machines"
            ) from error

    def cancel(self, handles: Iterable[Any]) -> None:
        """Give up calls that have not begun."""
        with suppress(ClusterLost), self._named_losses():
            self._client.cancel(list(handles))

    def wait_for_workers(self) -> None:
        """Wait until there is a worker."""
        while not self.count:
            with self._named_losses(), suppress(TimeoutError):
                self._client.wait_for_workers(1, timeout=SECONDS_BETWEEN_LOOKS)


def call_on_same_version(version: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on a worker, which may have joined after the versions were checked.

    Parameters
    ----------
    version : str
        The version of the client.
    function : callable
        The function.
    args
        Its arguments.
    """
    own = installed_version()
    if own != version:
        raise WorkerError(
            f"the worker on {platform.node()} has Tagalong {own}, and this is Tagalong {version}: "
            "install the same version on all machines"
        )
    return function(*args)


class _SentByDask:
    """A value on all workers, which is sent again if all that had it are gone."""

    def __init__(self, workers: DaskWorkers, client: Any, value: Any) -> None:
        self._workers = workers
        self._client = client
        self._value = value
        self._future: Any = None

    def future(self) -> Any:
        while self._future is None or self._future.status != "finished":
            self._workers.wait_for_workers()  # there may be none at the moment
            with suppress(OSError):  # all were lost meanwhile
                # In a list, because the elements of a list are sent one by one.
                [self._future] = self._client.scatter([self._value], broadcast=True, hash=False)
        return self._future
