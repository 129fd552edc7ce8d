"""Saving of the model during a run."""

import time

from tagalong.cli.run_state import Run
from tagalong.tagger import Tagger

__all__ = ["Saver"]

SECONDS_BETWEEN_SAVES = 60.0


class Saver:
    """Saves a model with the state of its run at regular intervals.

    Parameters
    ----------
    tagger : Tagger
        The model.
    run : Run
        Its run.
    path : str, optional
        The model file; if None, nothing is saved.
    """

    def __init__(self, tagger: Tagger, run: Run, path: str | None):
        self._tagger = tagger
        self._run = run
        self._path = path
        self._due = time.monotonic() + SECONDS_BETWEEN_SAVES

    def save_if_due(self) -> None:
        """Save if it is time."""
        if self._path is not None and time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Save now, if there is a model file."""
        if self._path is None:
            return
        start = time.monotonic()
        self._run.save_to_notes(self._tagger)
        self._tagger.save(self._path, private=self._run.is_private)
        end = time.monotonic()
        # Saving takes at most a twentieth of the time: a large model is saved less often.
        self._due = end + max(SECONDS_BETWEEN_SAVES, 20 * (end - start))
