"""How often and how long a call is tried: exponential back-off with jitter, bounded in time."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tagalong.client.errors import ServerError

__all__ = ["LostError", "Patience", "Timing", "seconds_to_wait"]

FIRST_WAIT = 0.1
LONGEST_WAIT = 5.0
SHARE_OF_ONE_TRY = 1 / 3
"""How much of the time of a call one try may wait without any progress."""


class LostError(Exception):
    """A try that failed in a way that may pass.

    Parameters
    ----------
    error : ServerError
        The error, if there is no time left to try again.
    wait : float
        Number of seconds for which the server asks.
    at_once : bool
        Whether the next try needs no wait: an idle connection had ended meanwhile.
    """

    def __init__(self, error: ServerError, wait: float = 0.0, *, at_once: bool = False):
        super().__init__(str(error))
        self.error = error
        self.wait = wait
        self.at_once = at_once


@dataclass(frozen=True)
class Timing:
    """The clock of a client, which tests replace.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds; it never goes back.
    sleep : callable
        Waits for a number of seconds.
    jitter : callable
        Returns a random number from 0 to 1, so that clients do not all come back at once.
    """

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random


class Patience:
    """The time of one call, over all of its tries.

    Parameters
    ----------
    seconds : float
        The time.
    timing : Timing
        The clock.
    on_wait : callable, optional
        Called before each wait with the error and the number of seconds.
    """

    def __init__(
        self,
        seconds: float,
        timing: Timing,
        on_wait: Callable[[ServerError, float], None] | None = None,
    ):
        self._seconds = seconds
        self._timing = timing
        self._on_wait = on_wait
        self.renew()

    def renew(self) -> None:
        """Start anew, after a success."""
        self._end = self._timing.clock() + self._seconds
        self._next_wait = FIRST_WAIT

    @property
    def left(self) -> float:
        """Number of seconds that are left."""
        return self._end - self._timing.clock()

    @property
    def for_one_try(self) -> float:
        """Number of seconds that the next try may wait without any progress."""
        return max(0.001, min(self._seconds * SHARE_OF_ONE_TRY, self.left))

    def wait_after(self, lost: LostError) -> None:
        """Wait until the next try; the error itself if there is no time for one.

        Parameters
        ----------
        lost : LostError
            The failure of the last try.
        """
        if lost.at_once and self.left > 0:
            return
        jittered = self._next_wait * (0.5 + 0.5 * self._timing.jitter())
        wait = max(jittered, lost.wait)
        if wait >= self.left:
            raise lost.error
        self._next_wait = min(2 * self._next_wait, LONGEST_WAIT)
        if self._on_wait is not None:
            self._on_wait(lost.error, wait)
        self._timing.sleep(wait)


def seconds_to_wait(header: str | None) -> float:
    """Return the seconds of a header ``Retry-After``; 0 without a valid one.

    Parameters
    ----------
    header : str, optional
        A number of seconds, or a date.
    """
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
