"""The learning loop: read a batch, learn it, update the display, save."""

from collections.abc import Callable, Iterator, Sequence

from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learn.batches import BatchSize
from tagalong.cli.learn.destination import Destination, ItemLearner
from tagalong.cli.learn.drift_warning import DriftWarning
from tagalong.cli.learn.live_measures import LiveMeasures
from tagalong.cli.learn.order_warning import OrderWarning
from tagalong.cli.learn.reading_ahead import ReadingAhead
from tagalong.cli.learn.separator_warning import SeparatorWarning
from tagalong.cli.run_state import Run
from tagalong.learning.items import Item
from tagalong.readers.queries import Query, queries
from tagalong.readers.stream import Stream
from tagalong.tagger import Tagger
from tagalong.text.rows_ahead import RowsAheadPart

__all__ = ["LearningLoop"]


class LearningLoop:
    """Reads and learns all items of a run, with updates of the display and saves.

    Parameters
    ----------
    tagger : Tagger
        The model that learns.
    run : Run
        The sources, and the position in them.
    interrupts : Interrupts
        Records signals.
    measures : LiveMeasures
        Shows the measures.
    destination : Destination
        Learns the items, and saves what was learnt.
    order_warning : OrderWarning
        Warns if labels come in runs.
    drift_warning : DriftWarning
        Warns if the answers have changed.
    separator_warning : SeparatorWarning
        Warns if a separator may have split labels.
    show_reading : callable
        Shows how many items have been read, while they are read to be sorted.

    Attributes
    ----------
    skipped : int
        Number of items of the last pass that could not be read or learnt.
    problems : list of str
        The reasons.
    links : list of str
        Symbolic links that were left out of the last pass.
    """

    def __init__(
        self,
        tagger: Tagger,
        run: Run,
        interrupts: Interrupts,
        measures: LiveMeasures,
        destination: Destination,
        order_warning: OrderWarning,
        drift_warning: DriftWarning,
        separator_warning: SeparatorWarning,
        show_reading: Callable[[int], None],
    ):
        self.run = run
        self.skipped = 0
        self.problems: list[str] = []
        self.links: list[str] = []
        self._tagger = tagger
        self._interrupts = interrupts
        self._measures = measures
        self._destination = destination
        self._order_warning = order_warning
        self._drift_warning = drift_warning
        self._separator_warning = separator_warning
        self._show_reading = show_reading
        self._batch_size = BatchSize(tagger, run)
        self._start = run.number, run.position
        self._stream: Stream | ReadingAhead

    @property
    def has_learnt(self) -> bool:
        """Whether the run has learnt at least one label, or one query."""
        has_labels = self._tagger.ranks_documents or len(self._tagger.labels) > 0
        return self.run.progress.items > 0 and has_labels

    @property
    def has_progressed(self) -> bool:
        """Whether any item has been read since the start."""
        return (self.run.number, self.run.position) != self._start

    def run_to_end(self) -> None:
        """Read and learn the remaining passes; KeyboardInterrupt after a signal."""
        while True:
            self._one_pass()
            self._separator_warning.show()
            if self.run.number >= self.run.passes:
                return
            self.run.next_pass()

    def _one_pass(self) -> None:
        learner = self._destination.learner()
        with self.run.reading.open() as stream:
            self._stream = stream
            stream.on_read = self._show_reading
            items: Iterator[Item | Query] = (
                queries(stream) if self._tagger.ranks_documents else stream
            )
            try:
                self._skip_to_position(items)
                if self._batch_size.one_by_one:
                    self._learn_one_by_one(items, learner)
                else:
                    self._learn_batches(stream, learner)
            finally:
                # Each pass skips the same items; they are counted once.
                self.skipped = self._stream.skipped + self.run.refused
                self.problems = [*self._stream.errors, *learner.problems]
                self.links = self._stream.links

    def _skip_to_position(self, items: Iterator[Item | Query]) -> None:
        """Read the items that were learnt before the run stopped."""
        item: Item | Query | None = None
        for position in range(self.run.position):
            last, item = item, self._interrupts.next(items)
            if item is None:
                self.run.check_position(last, position)
        self.run.check_position(item, self.run.position)

    def _learn_one_by_one(self, items: Iterator[Item | Query], learner: ItemLearner) -> None:
        """Learn the remaining items of this pass, each before the next one is read."""
        while self._left() != 0:
            item = self._interrupts.next(items)
            if item is None:
                return
            self._learn([item], None, learner)

    def _learn_batches(self, stream: Stream, learner: ItemLearner) -> None:
        """Learn the remaining items of this pass in batches, which another thread reads."""
        features = self._tagger.features if learner.uses_rows else None
        with ReadingAhead(stream, features, self._left()) as ahead:
            self._stream = ahead
            while True:
                batch = self._interrupts.call(ahead.take, self._batch_size())
                if not batch.items:
                    return
                self._learn(batch.items, batch.rows, learner)

    def _left(self) -> int | None:
        """Return the number of items up to the limit; None if there is none."""
        limit = self.run.reading.limit
        return None if limit is None else max(0, limit - self.run.position)

    def _learn(
        self,
        items: Sequence[Item | Query],
        ahead: Sequence[RowsAheadPart] | None,
        learner: ItemLearner,
    ) -> None:
        """Learn items, then update the display and save if it is time."""
        self.run.is_private |= self._stream.is_private
        learner.learn(items, ahead)
        self._separator_warning.count(items)
        self._order_warning.show_if(_labels_come_in_runs(self._tagger))
        self._drift_warning.show_if_new(self._tagger.drift)
        if self._interrupts.signal:
            raise KeyboardInterrupt
        self._measures.show_if_due()
        self._destination.save_if_due()


def _labels_come_in_runs(tagger: Tagger) -> bool:
    """Whether the learner reports that labels come in runs."""
    return tagger.labels_come_in_runs
