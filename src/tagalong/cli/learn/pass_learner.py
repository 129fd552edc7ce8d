"""Learning of the items of one pass: predict, learn, count."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tagalong.cli.errors import CommandError
from tagalong.cli.flags import keywords_as_flags
from tagalong.cli.grades import check_grade
from tagalong.cli.learn.predictions import PredictionFile
from tagalong.cli.learners import LEARNER_FLAGS
from tagalong.cli.run_state import Run, make_list_losses
from tagalong.learning.items import Item
from tagalong.learning.protocols import shows_lists
from tagalong.learning.rounds import Round
from tagalong.readers.queries import Query
from tagalong.tagger import Tagger
from tagalong.text.rows_ahead import RowsAheadPart

__all__ = ["PassLearner"]


class PassLearner:
    """Learns the items of one pass, and counts them in the run.

    Parameters
    ----------
    tagger : Tagger
        The model that learns.
    run : Run
        The run with its counts and measures.

    Attributes
    ----------
    problems : list of str
        The reasons why the learner refused items.
    """

    uses_rows = True

    def __init__(self, tagger: Tagger, run: Run):
        self.problems: list[str] = []
        self._tagger = tagger
        self._run = run

    def learn(
        self, items: Sequence[Item | Query], ahead: Sequence[RowsAheadPart] | None = None
    ) -> None:
        """Learn items, in one native call if possible; the result is the same.

        Parameters
        ----------
        items : sequence of Item or Query
            The items.
        ahead : sequence of RowsAheadPart, optional
            The features of the items with labels, if they were read already.
        """
        if self._learn_together(items, ahead):
            return
        for item in items:
            self._learn_one(item)
            self._run.count([item])

    def _learn_together(
        self, items: Sequence[Item | Query], ahead: Sequence[RowsAheadPart] | None
    ) -> bool:
        """Learn items in one native call; False if they must be learnt one by one."""
        if len(items) < 2:
            return False
        labelled = [item for item in items if isinstance(item, Item) and item.labels is not None]
        # Measures and confidence come from the first pass only; later passes change weights.
        judged = self._run.is_first_pass
        rounds = (
            self._tagger.watch_together(labelled, judged=judged, ahead=ahead) if labelled else None
        )
        if rounds is None:
            return False
        if judged:
            progress: Any = self._run.progress
            progress.add_rounds(rounds, self._tagger)
            if (predictions := self._predictions()) is not None:
                predictions.add_rounds(labelled, rounds)
        self._run.unlabelled += len(items) - len(labelled)
        self._run.count(items)
        return True

    def _learn_one(self, item: Item | Query) -> None:
        if item.labels is None:
            self._run.unlabelled += 1
            return
        tagger = self._tagger
        try:
            if tagger.has_grades:
                check_grade(item.labels, tagger.labels)
            found = (
                tagger.watch_query(item)
                if isinstance(item, Query)
                else tagger.watch(item, judged=self._run.is_first_pass)
            )
        except ValueError as error:
            self._refuse(item, error)
            return
        if not self._run.is_first_pass:
            return
        progress: Any = self._run.progress
        progress.add(found, tagger)
        predictions = self._predictions()
        if not isinstance(found, Round):
            return
        if predictions is not None and isinstance(item, Item):
            predictions.add(item, found)
        if found.shown is not None:
            self._count_list(found, found.shown)

    def _predictions(self) -> PredictionFile | None:
        """Return the file of predictions; None after the first pass, which knows the items."""
        return self._run.predictions if self._run.number == 1 else None

    def _refuse(self, item: Item | Query, error: ValueError) -> None:
        """Count an item that cannot be learnt; CommandError unless such items are skipped."""
        place = item.place or item.id
        problem = keywords_as_flags(str(error), LEARNER_FLAGS)
        problem = problem if problem.startswith(place) else f"{place}: {problem}"
        if self._run.reading.on_error == "stop":
            raise CommandError(problem) from error
        self._run.refused += 1
        self.problems.append(problem)

    def _count_list(self, found: Round, shown: list[int]) -> None:
        """Count the losses of a list that a learner from partial feedback has shown."""
        run, learner = self._run, self._tagger.learner
        if run.lists is None:
            run.lists = make_list_losses(self._tagger, run.progress.window)
        known = int(np.isfinite(found.scores).sum())
        limit = learner.max_labels if shows_lists(learner) else None
        slots = min(known, limit or known)
        run.lists.add(shown, found.relevant, found.unknown, slots=slots)
