"""When a model is saved while it learns."""

import time

from tagalong.cli.run_state import Run
from tagalong.tagger import Tagger

__all__ = ["Saver"]

SECONDS_BETWEEN_SAVES = 60.0


class Saver:
    """Saves a model with the state of its run, now and then.

    Parameters
    ----------
    tagger : Tagger
        The model.
    run : Run
        Its run.
    path : str, optional
        The model file; without it nothing is saved.
    """

    def __init__(self, tagger: Tagger, run: Run, path: str | None):
        self._tagger = tagger
        self._run = run
        self._path = path
        self._due = time.monotonic() + SECONDS_BETWEEN_SAVES

    def save_if_due(self) -> None:
        """Save if the last time is long enough ago."""
        if self._path is not None and time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Save now, if there is a file to save to."""
        if self._path is None:
            return
        begun = time.monotonic()
        self._run.note(self._tagger)
        self._tagger.save(self._path)
        ended = time.monotonic()
        # A large model is saved less often: never more than a twentieth of the time.
        self._due = ended + max(SECONDS_BETWEEN_SAVES, 20 * (ended - begun))
