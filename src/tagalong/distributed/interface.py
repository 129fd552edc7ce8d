"""The interface to the processes that do the work, whatever they are.

The functions that run on workers are plain functions of plain values. What they return can stay
where it was computed: :meth:`Workers.submit` returns a handle, and a handle may be an argument of
the next call.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any

__all__ = ["ATTEMPTS", "ClusterLost", "WorkerLost", "Workers"]

ATTEMPTS = 20  # of a task whose worker was lost; a task that kills its worker must end, too


class WorkerLost(Exception):
    """A worker ended, or was cut off, before it returned the result; the task can be repeated."""


class ClusterLost(Exception):
    """All workers are gone for good, or nobody gives them work any more: nothing can go on."""


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

    def share(self, value: Any) -> Any:
        """Return a handle of a value that many calls need, and that is never lost with a worker."""
        [handle] = self.submit_all(_itself, [(value,)])
        return self.keep(handle)

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
        ClusterLost
            Nobody can repeat it.
        """

    def repeated(self, handle: Any) -> int:
        """Return how often the cluster itself gave a call to another worker, as far as is known."""
        return 0

    @abstractmethod
    def cancel(self, handles: Iterable[Any]) -> None:
        """Give up calls that have not begun; their results are not needed."""


def _itself(value: Any) -> Any:
    return value
