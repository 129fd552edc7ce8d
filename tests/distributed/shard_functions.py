"""Functions that the tests of shards run on workers."""

import os
import signal
from pathlib import Path

from tagalong.readers import Item


def some_items():
    return [
        Item("1", "the invoice is due", {}, ("money",)),
        Item("2", "a flight to Rome", {}, ("travel",)),
        Item("3", "the bank and the invoice", {}, ("money",)),
    ]


class KillsOnce:
    """Items, the first reading of which kills its process."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __call__(self):
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return some_items()
