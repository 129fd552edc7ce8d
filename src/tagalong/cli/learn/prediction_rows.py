"""Rows of a table of predictions: what was suggested before an item was learnt, and its labels."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.learning.items import Item
from tagalong.learning.places import PLACES_JUDGED, Places
from tagalong.learning.rounds import Round, Rounds
from tagalong.tables.columns import Column, Row, id_of, suggestion_columns
from tagalong.tagger import SURE, Tagger

__all__ = ["prediction_columns", "prediction_rows", "round_row"]


def prediction_columns(places: int) -> list[Column]:
    """Return the columns: those of suggestions, the true labels, whether the first place is right.

    Parameters
    ----------
    places : int
        Number of suggestions per row, at most 10.
    """
    return [
        *suggestion_columns(min(places, PLACES_JUDGED)),
        Column("labels", "labels"),
        Column("right", "flag"),
    ]


def prediction_rows(
    items: Sequence[Item], rounds: Rounds, tagger: Tagger, places: int
) -> Iterator[Row]:
    """Yield a row for each item of a batch of rounds.

    Parameters
    ----------
    items : sequence of Item
        The learnt items.
    rounds : Rounds
        The predictions before each of them was learnt.
    tagger : Tagger
        The model, for the names and targets of labels.
    places : int
        Number of suggestions per row, at most 10.
    """
    maker = _RowMaker(tagger, places)
    if rounds.places is not None:
        yield from maker.from_places(items, rounds.places)
        return
    for item, scores, cutoff in zip(items, rounds.scores, rounds.cutoffs.tolist(), strict=True):
        yield maker.from_scores(item, scores, cutoff)


def round_row(item: Item, found: Round, tagger: Tagger, places: int) -> Row:
    """Return the row of one item.

    Parameters
    ----------
    item : Item
        The learnt item.
    found : Round
        The prediction before it was learnt.
    tagger : Tagger
        The model, for the names and targets of labels.
    places : int
        Number of suggestions per row, at most 10.
    """
    maker = _RowMaker(tagger, places)
    if found.places is not None:
        return next(maker.from_places([item], found.places))
    if found.shown is not None:
        return maker.from_labels(item, found.shown, len(found.shown))
    return maker.from_scores(item, found.scores, found.cutoff)


class _RowMaker:
    """Makes rows with the present names and targets of the labels."""

    def __init__(self, tagger: Tagger, places: int):
        self._names = tagger.learner.labels.names
        self._targets = tagger.min_precision
        self._places = min(places, PLACES_JUDGED)

    def from_places(self, items: Sequence[Item], places: Places) -> Iterator[Row]:
        """Yield the rows of items whose first places are known."""
        k = self._places
        for item, numbers, probabilities, assured, chosen, whole, known in zip(
            items,
            places.labels[:, :k].tolist(),
            places.probabilities[:, :k].tolist(),
            places.assured[:, :k].tolist(),
            places.chosen[:, :k].sum(axis=1).tolist(),
            places.whole.tolist(),
            places.known.tolist(),
            strict=True,
        ):
            labels = [self._names[number] for number in numbers if number >= 0]
            cells: list[object] = []
            for label, probability, most in zip(labels, probabilities, assured, strict=False):
                cells += [label, probability, self._is_sure(label, most)]
            yield self._row(item, labels, cells, [chosen, whole, known])

    def _is_sure(self, label: Any, assured: float) -> bool:
        target = self._targets.get(label, SURE)
        return target != "never" and assured >= float(target)

    def from_scores(self, item: Item, scores: npt.NDArray[Any], cutoff: float) -> Row:
        """Return the row of a learner without probabilities: labels only."""
        order = np.argsort(-scores, kind="stable")[: self._places]
        numbers = [number for number in order.tolist() if np.isfinite(scores[number])]
        return self.from_labels(item, numbers, int((scores[numbers] >= cutoff).sum()))

    def from_labels(self, item: Item, numbers: Sequence[int], chosen: int) -> Row:
        """Return the row of an item for which these labels were suggested, best first."""
        labels = [self._names[number] for number in numbers[: self._places]]
        cells: list[object] = [cell for label in labels for cell in (label, None, None)]
        return self._row(item, labels, cells, [min(chosen, len(labels)), None, None])

    def _row(
        self,
        item: Item,
        labels: Sequence[object],
        cells: list[object],
        whole_item: list[object],
    ) -> Row:
        right = list(item.labels or ())
        return [
            id_of(item),
            *cells,
            *[None] * (3 * self._places - len(cells)),
            *whole_item,
            right,
            labels[0] in right if labels else None,
        ]
