"""The number of items that are learnt in one native call."""

from tagalong.cli.run_state import Run
from tagalong.cli.sources import is_live_stream
from tagalong.evaluate import Progress
from tagalong.tagger import Tagger

__all__ = ["BatchSize"]

MAX_BATCH = 256
MAX_SCORES = 1 << 18  # largest product of items and labels in a batch


class BatchSize:
    """The size of the next batch. Updates of the display, signals and saves wait for its end.

    Parameters
    ----------
    tagger : Tagger
        The model that learns.
    run : Run
        The sources, and the measures so far.

    Attributes
    ----------
    one_by_one : bool
        Whether every item is learnt before the next one is read.
    """

    def __init__(self, tagger: Tagger, run: Run):
        self._tagger = tagger
        self._run = run
        # Items of a live stream are learnt as soon as they arrive.
        is_live = any(map(is_live_stream, run.reading.sources))
        self.one_by_one = is_live or not tagger.learns_together

    def __call__(self) -> int:
        """Return the size of the next batch."""
        if self.one_by_one:
            return 1
        labels = len(self._tagger.labels)
        return max(1, min(MAX_BATCH, MAX_SCORES // max(1, labels), self._to_next_point()))

    def _to_next_point(self) -> int:
        """Return the number of items up to the next point of the curve of measures."""
        if not self._run.is_first_pass:  # nothing is measured
            return MAX_BATCH
        progress = self._run.progress
        return progress.next_point if isinstance(progress, Progress) else 1
