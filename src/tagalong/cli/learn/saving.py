"""Learning into a model file, which is saved during the run."""

import os
import time
from typing import Any

from tagalong.cli.learn.pass_learner import PassLearner
from tagalong.cli.output import size_text
from tagalong.cli.run_state import Run
from tagalong.tagger import Tagger

__all__ = ["ModelFile"]

SECONDS_BETWEEN_SAVES = 60.0


class ModelFile:
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

    needs_labels = True

    def __init__(self, tagger: Tagger, run: Run, path: str | None):
        self._tagger = tagger
        self._run = run
        self._path = path
        self._due = time.monotonic() + SECONDS_BETWEEN_SAVES

    def learner(self) -> PassLearner:
        """Return the learner of the next pass."""
        return PassLearner(self._tagger, self._run)

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

    def saved_line(self) -> str | None:
        """Return where the model was saved."""
        if self._path is None:
            return None
        return f"model saved to {self._path} ({size_text(os.path.getsize(self._path))})"

    def unlabelled_line(self, count: int) -> str:
        """Return what became of items without labels."""
        return f"{count:,} items without labels were ignored"

    def interruption(self, run: Run) -> str:
        """Return what became of an interrupted run, and how to go on."""
        where = f"after {run.position:,} items of pass {run.number}"
        if self._path is None:
            return f"interrupted {where}; nothing is saved, as there is no --model"
        return (
            f"interrupted {where}; saved. To resume: tagalong learn --model {self._path} --resume"
        )

    def resume_hint(self, run: Run) -> str | None:
        """Return how to go on after an error; None if nothing is saved."""
        if self._path is None:
            return None
        return (
            f"{run.position:,} items are learnt and saved in {self._path}; correct the error and "
            "use --resume, or use --resume --on-error skip"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return values for the JSON result."""
        return {"model": self._path}
