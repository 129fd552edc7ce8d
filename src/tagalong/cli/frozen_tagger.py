"""A tagger that predicts without learning."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.cli.errors import CommandError
from tagalong.cli.grades import check_grade
from tagalong.learning.examples import SparseRows
from tagalong.learning.items import Item
from tagalong.learning.places import PLACES_JUDGED, Places
from tagalong.learning.rounds import Round
from tagalong.tagger import Tagger

__all__ = ["FrozenTagger"]

BATCH = 256
"""Number of items that are judged in one native call."""


class FrozenTagger:
    """A tagger that predicts without learning, and the labels of the model and of the items.

    Parameters
    ----------
    tagger : Tagger
        The tagger.

    Attributes
    ----------
    labels : list
        The labels of the model, followed by other labels of the items.
    known : int
        Number of labels of the model.
    in_runs : bool
        Whether the labels that the model learnt last came in runs, so that nothing is sure.
    """

    def __init__(self, tagger: Tagger):
        self._tagger = tagger
        self.labels = tagger.labels
        self.known = len(self.labels)
        self.in_runs = False
        self._number = {label: number for number, label in enumerate(self.labels)}

    def predict(self, items: Iterable[Item]) -> Iterator[Round]:
        """Yield the scores of all labels for each item, with its relevant labels.

        Parameters
        ----------
        items : iterable of Item
            The items, with their labels.
        """
        remaining = iter(items)
        while batch := list(islice(remaining, BATCH)):
            yield from self._predict(batch)

    def _predict(self, items: list[Item]) -> list[Round]:
        rounds, pairs = [], []
        for item in items:
            try:
                if self._tagger.has_grades:
                    check_grade(item.labels or (), self.labels)
                pair = self._tagger.features.read(item, match=True)
                scores, cutoff = self._tagger.learner.score_one(pair)
            except ValueError as error:
                raise CommandError(f"{item.place or item.id}: {error}") from error
            rounds.append(self._round(item, scores, cutoff))
            pairs.append(pair)
        places = self._places(SparseRows.of_pairs(pairs))
        if places is None:
            return rounds
        return [replace(each, places=places[i : i + 1]) for i, each in enumerate(rounds)]

    def _round(self, item: Item, found: npt.NDArray[Any], cutoff: float) -> Round:
        for label in item.labels or ():
            if label not in self._number:
                self._number[label] = len(self.labels)
                self.labels.append(label)
        # -infinity means that a label does not exist; these labels exist from their first item on,
        # so they get the lowest finite score.
        scores = np.full(len(self.labels), np.finfo(found.dtype).min, dtype=found.dtype)
        scores[: self.known] = found
        relevant = sorted({self._number[label] for label in item.labels or ()})
        return Round(scores, cutoff, relevant, [])

    def _places(self, rows: SparseRows) -> Places | None:
        """Return the first places with their confidence; None if the learner has none."""
        tagger = self._tagger
        if tagger.learner.task != "labels" or not self.known:
            return None
        if tagger.learner.get_params().get("probability") is False:
            return None
        ties = tagger.history.count, tagger.history.last
        places = tagger.learner.find_places(rows, PLACES_JUDGED, ties)
        self.in_runs = self.in_runs or bool(places.in_runs.any())
        # The order in which the model learnt does not make these figures wrong.
        return replace(places, in_runs=np.zeros(len(places), bool))
