"""News of a workspace, for those who watch it: new events, and short-lived messages."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["News", "Watcher"]

Message: TypeAlias = tuple[str, dict[str, Any]]
MAX_MESSAGES = 100


class Watcher:
    """Somebody who watches a workspace.

    Attributes
    ----------
    is_closed : bool
        Whether there will be no more news.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self._messages: list[Message] = []
        self._changed = asyncio.Event()

    def wake(self, message: Message | None = None) -> None:
        """Let the watcher look for new events, and tell it a message.

        Parameters
        ----------
        message : (str, dict), optional
            A kind and JSON values. If nobody fetches messages, the oldest are dropped.
        """
        if message is not None:
            self._messages = [*self._messages[1 - MAX_MESSAGES :], message]
        self._changed.set()

    def messages(self) -> list[Message]:
        """Return the messages since the last time."""
        found, self._messages = self._messages, []
        return found

    async def wait(self, seconds: float) -> bool:
        """Wait for news; return False if there are none for some seconds.

        Parameters
        ----------
        seconds : float
            How long to wait.
        """
        try:
            await asyncio.wait_for(self._changed.wait(), seconds)
        except TimeoutError:
            return False
        self._changed.clear()
        return True


class News:
    """Tells all watchers of a workspace that something happened."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._watchers: set[Watcher] = set()
        self._is_due = False

    def watch(self) -> tuple[Watcher, Callable[[], None]]:
        """Return a new watcher, and the function that ends watching."""
        watcher = Watcher()
        self._watchers.add(watcher)
        return watcher, lambda: self._watchers.discard(watcher)

    def committed(self, tip: int) -> None:
        """Tell that events were stored; called from any thread.

        Parameters
        ----------
        tip : int
            The number of the last event.
        """
        if not self._is_due:  # many commits wake the watchers once
            self._is_due = True
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._is_due = False
        for watcher in self._watchers:
            watcher.wake()

    def tell(self, kind: str, values: dict[str, Any]) -> None:
        """Tell all watchers a message that is not stored.

        Parameters
        ----------
        kind : str
            The kind of message.
        values : dict
            JSON values.
        """
        for watcher in self._watchers:
            watcher.wake((kind, values))

    def close(self) -> None:
        """Tell all watchers that there will be no more news."""
        for watcher in self._watchers:
            watcher.is_closed = True
            watcher.wake()
