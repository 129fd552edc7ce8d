"""The learning loop: read a batch, learn it, update the display, save."""

from collections.abc import Callable, Iterator

from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learn.batches import BatchSize
from tagalong.cli.learn.drift_warning import DriftWarning
from tagalong.cli.learn.live_measures import LiveMeasures
from tagalong.cli.learn.order_warning import OrderWarning
from tagalong.cli.learn.pass_learner import PassLearner
from tagalong.cli.learn.saving import Saver
from tagalong.cli.learn.separator_warning import SeparatorWarning
from tagalong.cli.run_state import Run
from tagalong.learning.items import Item
from tagalong.readers.queries import Query, queries
from tagalong.readers.stream import Stream
from tagalong.tagger import Tagger

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
    saver : Saver
        Saves the model.
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
        saver: Saver,
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
        self._saver = saver
        self._order_warning = order_warning
        self._drift_warning = drift_warning
        self._separator_warning = separator_warning
        self._show_reading = show_reading
        self._batch_size = BatchSize(tagger, run)
        self._start = run.number, run.position
        self._stream: Stream

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
        learner = PassLearner(self._tagger, self.run)
        with self.run.reading.open() as stream:
            self._stream = stream
            stream.on_read = self._show_reading
            items: Iterator[Item | Query] = (
                queries(stream) if self._tagger.ranks_documents else stream
            )
            try:
                self._skip_to_position(items)
                self._learn_all(items, learner)
            finally:
                # Each pass skips the same items; they are counted once.
                self.skipped = stream.skipped + self.run.refused
                self.problems = [*stream.errors, *learner.problems]
                self.links = stream.links

    def _skip_to_position(self, items: Iterator[Item | Query]) -> None:
        """Read the items that were learnt before the run stopped."""
        item: Item | Query | None = None
        for position in range(self.run.position):
            last, item = item, self._interrupts.next(items)
            if item is None:
                self.run.check_position(last, position)
        self.run.check_position(item, self.run.position)

    def _learn_all(self, items: Iterator[Item | Query], learner: PassLearner) -> None:
        """Learn the remaining items of this pass in batches."""
        batch: list[Item | Query] = []
        size = self._batch_size()
        try:
            while not self._reaches_limit(len(batch)):
                item = self._interrupts.next(items)
                if item is None:
                    break
                batch.append(item)
                if len(batch) >= size:
                    self._learn(batch, learner)
                    size = self._batch_size()
        finally:  # also learn the items that were read before a signal or an error
            self._learn(batch, learner)

    def _reaches_limit(self, waiting: int) -> bool:
        limit = self.run.reading.limit
        return limit is not None and self.run.position + waiting >= limit

    def _learn(self, batch: list[Item | Query], learner: PassLearner) -> None:
        """Learn a batch and empty it, then update the display and save if it is time."""
        if not batch:
            return
        # Empty the batch first, so that nothing is learnt twice if learning fails.
        items, batch[:] = list(batch), []
        self.run.is_private |= self._stream.is_private
        learner.learn(items)
        self._separator_warning.count(items)
        self._order_warning.show_if(_labels_come_in_runs(self._tagger))
        self._drift_warning.show_if_new(self._tagger.drift)
        if self._interrupts.signal:
            raise KeyboardInterrupt
        self._measures.show_if_due()
        self._saver.save_if_due()


def _labels_come_in_runs(tagger: Tagger) -> bool:
    """Whether the learner reports that labels come in runs."""
    return tagger.labels_come_in_runs
