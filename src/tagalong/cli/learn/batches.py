"""How many items are learnt in one call."""

from tagalong.cli.run_state import Run
from tagalong.cli.sources import is_live_stream
from tagalong.evaluate import Progress
from tagalong.tagger import Tagger

__all__ = ["BatchSize"]

MOST_TOGETHER = 256
MOST_SCORES = 1 << 18


class BatchSize:
    """How many items are learnt before anything else is due: figures, a signal, a save.

    Parameters
    ----------
    tagger : Tagger
        The model that learns.
    run : Run
        What is read, and the figures so far.
    """

    def __init__(self, tagger: Tagger, run: Run):
        self._tagger = tagger
        self._run = run
        # An item that somebody else is still writing is learnt as soon as it comes.
        is_live = any(map(is_live_stream, run.reading.sources))
        self._one_by_one = is_live or not tagger.learns_together

    def __call__(self) -> int:
        """Return the size of the next batch."""
        if self._one_by_one:
            return 1
        scores = len(self._tagger.labels)
        return max(1, min(MOST_TOGETHER, MOST_SCORES // max(1, scores), self._to_next_point()))

    def _to_next_point(self) -> int:
        progress = self._run.progress
        return progress.next_point if isinstance(progress, Progress) else 1
