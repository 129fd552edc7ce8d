"""Waiting for work in the background of a server, of which nothing tells the end."""

import time
from collections.abc import Callable

from tests.timeouts import TIMEOUT

SECONDS_BETWEEN_LOOKS = 0.02


def wait_until(is_so: Callable[[], object]) -> None:
    """Look again and again until something is so; only a server that hangs lets it fail."""
    end = time.monotonic() + TIMEOUT
    while not is_so():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(SECONDS_BETWEEN_LOOKS)
