"""Who looks at which item at the moment. Nothing of this is stored."""

import time
from collections.abc import Callable

__all__ = ["SECONDS", "Viewers"]

SECONDS = 30.0
"""How long somebody counts as looking at an item."""
MAX_ITEMS = 10_000


class Viewers:
    """Remembers for some seconds who looks at an item.

    Parameters
    ----------
    clock : callable
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._until: dict[tuple[str, str], dict[str, float]] = {}

    def note(self, workspace: str, id: str, who: str) -> None:
        """Note that somebody looks at an item.

        Parameters
        ----------
        workspace, id : str
            The item.
        who : str
            The name of the token.
        """
        now = self._clock()
        if len(self._until) >= MAX_ITEMS:
            self._until = {
                item: viewers
                for item, viewers in self._until.items()
                if max(viewers.values()) > now
            }
        if len(self._until) < MAX_ITEMS:
            self._until.setdefault((workspace, id), {})[who] = now + SECONDS

    def of(self, workspace: str, id: str) -> list[str]:
        """Return who looks at an item, by name.

        Parameters
        ----------
        workspace, id : str
            The item.
        """
        now = self._clock()
        viewers = self._until.get((workspace, id), {})
        return sorted(who for who, until in viewers.items() if until > now)
