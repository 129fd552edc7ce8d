"""Clients that send wrong tokens again and again are told to stop.

A token has 256 random bits: nobody can guess one, however fast the answers are. So this serves
programs that go on with a token that was removed, and the people who read their logs. Right tokens
are always let in. If wrong ones could lock an address out, one client behind a proxy could lock out
all the others. There is no delay either: requests that wait would take the places of others.
"""

import time
from collections.abc import Callable
from math import ceil

__all__ = ["WrongTokens"]


class WrongTokens:
    """Counts the wrong tokens of each client.

    Parameters
    ----------
    limit : int
        Number of wrong tokens in a period that are answered as such.
    seconds : float
        Length of the period.
    max_clients : int
        Number of clients to count. Further ones are counted after the longest known one is dropped.
    clock : callable
        A clock in seconds that never goes back.
    """

    def __init__(
        self,
        limit: int = 30,
        seconds: float = 60.0,
        *,
        max_clients: int = 1000,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._limit = limit
        self._seconds = seconds
        self._max_clients = max_clients
        self._clock = clock
        # The end of the period and the number of wrong tokens in it, oldest period first.
        self._clients: dict[str, tuple[float, int]] = {}

    def count(self, client: str) -> int:
        """Count a wrong token; return how many seconds the client has to wait, 0 for none.

        Parameters
        ----------
        client : str
            Address of the client.
        """
        now = self._clock()
        end, number = self._clients.get(client, (0.0, 0))
        if end <= now:
            self._clients.pop(client, None)  # to the end of the order
            end, number = now + self._seconds, 0
        self._clients[client] = end, number + 1
        if len(self._clients) > self._max_clients:
            del self._clients[next(iter(self._clients))]
        return ceil(end - now) if number >= self._limit else 0
