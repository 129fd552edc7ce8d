"""The learning loop: read a batch, learn it, do what is due, pass after pass."""

from collections.abc import Iterator
from typing import Any

from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learn.batches import BatchSize
from tagalong.cli.learn.figures import LiveFigures
from tagalong.cli.learn.rounds import Rounds
from tagalong.cli.learn.saving import Saver
from tagalong.cli.run_state import Run
from tagalong.learning.items import Item
from tagalong.readers.queries import Query, queries
from tagalong.tagger import Tagger

__all__ = ["LearningLoop"]


class LearningLoop:
    """Takes a run to its end, with figures and saves on the way.

    Parameters
    ----------
    tagger : Tagger
        The model that learns.
    run : Run
        What is read, and how far it has been read.
    interrupts : Interrupts
        Tells whether a signal came.
    figures : LiveFigures
        Shows how the run goes.
    saver : Saver
        Saves the model.

    Attributes
    ----------
    skipped : int
        How many items of the last pass could not be read or learnt.
    problems : list of str
        What was wrong with them.
    """

    def __init__(
        self, tagger: Tagger, run: Run, interrupts: Interrupts, figures: LiveFigures, saver: Saver
    ):
        self.run = run
        self.skipped = 0
        self.problems: list[str] = []
        self._tagger = tagger
        self._interrupts = interrupts
        self._figures = figures
        self._saver = saver
        self._batch_size = BatchSize(tagger, run)
        self._begin = run.number, run.position

    @property
    def has_moved(self) -> bool:
        """Whether there is anything new to keep."""
        return (self.run.number, self.run.position) != self._begin

    def run_to_end(self) -> None:
        """Read and learn, pass after pass; KeyboardInterrupt if a signal came."""
        while True:
            self._one_pass()
            if self.run.number >= self.run.passes:
                return
            self.run.next_pass()

    def _one_pass(self) -> None:
        rounds = Rounds(self._tagger, self.run)
        with self.run.reading.open() as stream:
            items: Any = queries(stream) if self._tagger.ranks_documents else stream
            try:
                self._find_place(items)
                self._learn_all(items, rounds)
            finally:
                # The same items are met in each pass: they count once.
                self.skipped = stream.skipped + self.run.refused
                self.problems = [*stream.errors, *rounds.problems]

    def _find_place(self, items: Iterator[Item | Query]) -> None:
        """Read up to where the run stopped."""
        item: Item | Query | None = None
        for position in range(self.run.position):
            last, item = item, self._interrupts.next(items)
            if item is None:
                self.run.check_place(last, position)
        self.run.check_place(item, self.run.position)

    def _learn_all(self, items: Iterator[Item | Query], rounds: Rounds) -> None:
        """Learn what is left of this pass, batch after batch."""
        batch: list[Item | Query] = []
        size = self._batch_size()
        try:
            while not self._reaches_limit(len(batch)):
                item = self._interrupts.next(items)
                if item is None:
                    break
                batch.append(item)
                if len(batch) >= size:
                    self._learn(batch, rounds)
                    size = self._batch_size()
        finally:  # what was read before a signal or an error came counts
            self._learn(batch, rounds)

    def _reaches_limit(self, waiting: int) -> bool:
        limit = self.run.reading.limit
        return limit is not None and self.run.position + waiting >= limit

    def _learn(self, batch: list[Item | Query], rounds: Rounds) -> None:
        """Learn a batch, empty it, and do what is due then."""
        if not batch:
            return
        # Emptied first: if learning fails, nothing may be learnt twice.
        items, batch[:] = list(batch), []
        rounds.learn(items)
        if self._interrupts.signal:
            raise KeyboardInterrupt
        self._figures.show_if_due()
        self._saver.save_if_due()
