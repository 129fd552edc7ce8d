"""Figures of a run that goes on: what `progressive` keeps while it learns."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from tagalong import _native as core
from tagalong import parameters
from tagalong.evaluate.curve import Curve, Sums, point
from tagalong.evaluate.measures import SUMS, Measures
from tagalong.evaluate.report import Report
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.rounds import Round, Rounds

__all__ = ["Progress"]

State = dict[str, dict[str, Any]]

_NATIVE_ARRAYS = ("totals", "recent", "recent_marks", "recent_mark_ends", "per_label")


class Progress:
    """Counts rounds as they come, over the whole run and over its last rows.

    The figures depend on the rounds and their order alone: one by one and in batches of any
    size they agree to the last bit.

    Parameters
    ----------
    k : int, default 5
        How many places precision at k and NDCG at k look at.
    window : int, default 1000
        How many rows the recent figures look back.

    Examples
    --------
    >>> from tagalong import LabelRanker
    >>> from tagalong.evaluate import Progress
    >>> ranker, progress = LabelRanker(), Progress()
    >>> for words, label in [({"rent": 1}, "home"), ({"flight": 1}, "travel")] * 3:
    ...     progress.add(ranker.watch_one(words, label), ranker)
    >>> progress.items
    6
    >>> progress.report(labels=["home", "travel"]).overall.one_error
    0.4
    """

    def __init__(self, k: int = 5, window: int = 1000):
        self._begin(parameters.integer(k, "k", 1), parameters.integer(window, "window", 1))

    def _begin(self, k: int, window: int) -> None:
        self._measures = core.Measures(k, window)
        self._curve = Curve()
        self._counted = 0

    @property
    def k(self) -> int:
        """How many places precision at k and NDCG at k look at."""
        return self._measures.k

    @property
    def window(self) -> int:
        """How many rows the recent figures look back."""
        return self._measures.window

    @property
    def items(self) -> int:
        """How many rounds have been counted."""
        return self._counted

    @property
    def next_point(self) -> int:
        """How many more rounds there are up to the next point of the curve."""
        return self._curve.next_after(self._counted) - self._counted

    def expect(self, items: int) -> None:
        """Say how many more rounds there will be; saves time, and changes no figure in the end.

        Parameters
        ----------
        items : int
            How many are still to come.
        """
        self._curve.expect(self._counted + items)

    def add(self, round: Round, learner: Any = None) -> None:
        """Count one round.

        Parameters
        ----------
        round : Round
            What was predicted, and the labels that turned out to be right.
        learner : object, optional
            Who has just learnt it: the curve notes its ``certificate_``, if it has one.
        """
        self._measures.observe_one(round.scores, round.relevant, round.unknown, round.cutoff)
        self._counted += 1
        if self._curve.is_due(self._counted):
            self._curve.add(self._point(_certificate(learner)))

    def add_rounds(self, rounds: Rounds, learner: Any = None) -> None:
        """Count a batch of rounds.

        Parameters
        ----------
        rounds : Rounds
            What was predicted, and the labels that turned out to be right.
        learner : object, optional
            Who has just learnt them. Its certificate is known after the last of them only, so a
            curve of large batches has few points of it.
        """
        scores = np.ascontiguousarray(rounds.scores)
        start, rows = 0, len(scores)
        while start < rows:  # up to the next point of the curve
            stop = min(rows, start + self._curve.next_after(self._counted) - self._counted)
            self._measures.observe(
                scores[start:stop],
                rounds.relevant.row_slice(start, stop),
                rounds.unknown.row_slice(start, stop),
                rounds.cutoffs[start:stop],
            )
            self._counted += stop - start
            start = stop
            if self._curve.is_due(self._counted):
                self._curve.add(self._point(_certificate(learner) if stop == rows else None))

    def _point(self, certificate: AnyCertificate | None) -> list[float]:
        return point(self._counted, *self._figures(), certificate)

    def _figures(self) -> tuple[tuple[Sums, float], tuple[Sums, float]]:
        """Return the sums and the macro-F1 of all rows and of the last ones."""
        measures = self._measures
        return (
            (measures.totals(), measures.macro_f1()),
            (measures.recent(), measures.recent_macro_f1()),
        )

    def report(
        self, labels: Sequence[Hashable] | None = None, certificate: AnyCertificate | None = None
    ) -> Report:
        """Return the figures so far.

        Parameters
        ----------
        labels : sequence of labels, optional
            Their names, in the order of their numbers; the numbers themselves if left out.
        certificate : Certificate, optional
            What the learner can prove by now.
        """
        counts = self._measures.per_label()
        names = tuple(range(len(counts)) if labels is None else labels)
        if len(names) < len(counts):
            raise ValueError(
                f"labels must name all {len(counts)} labels that were met, got {len(names)} names"
            )
        padded = np.zeros((len(names), 3), np.int64)
        padded[: len(counts)] = counts
        overall, recent = self._figures()
        return Report(
            items=self._counted,
            k=self.k,
            window=self.window,
            overall=Measures.from_sums(*overall),
            recent=Measures.from_sums(*recent),
            labels=names,
            counts=padded,
            curve=self._curve.columns(point(self._counted, overall, recent, certificate)),
            certificate=certificate,
        )

    def state(self) -> State:
        """Return everything, as ``arrays`` by name and ``numbers`` by name."""
        native, curve = self._measures.state(), self._curve.state()
        arrays = {**native["arrays"], **curve["arrays"]}
        numbers = {"k": self.k, "window": self.window, "items": self._counted}
        return {"arrays": arrays, "numbers": {**numbers, **curve["numbers"]}}

    def restore(self, state: State) -> Self:
        """Go on where another run stopped; what was counted here before is dropped.

        Parameters
        ----------
        state : mapping
            What ``state`` returned.

        Raises
        ------
        ValueError
            If the state is not one; nothing has changed then.
        """
        restored = _restored(state)
        self.__dict__.update(restored.__dict__)
        return self


def _restored(state: State) -> Progress:
    """Return a new object with a state, checked so far that nothing can go wrong later."""
    try:
        arrays, numbers = state["arrays"], state["numbers"]
        items = parameters.integer(numbers["items"], "items", 0)
        new = Progress(numbers["k"], numbers["window"])
        kept = min(items, new.window)
        shapes = {"totals": (len(SUMS),), "recent": (kept, len(SUMS))}
        for name, shape in shapes.items():
            if np.shape(arrays[name]) != shape:
                raise ValueError(f"{name} must have shape {shape}, got {np.shape(arrays[name])}")
        if arrays["totals"][SUMS.index("rows")] != items:
            raise ValueError(f"items is {items}, but totals are of another number of rows")
        native = {name: arrays[name] for name in _NATIVE_ARRAYS}
        new._measures.restore({"arrays": native, "numbers": {"next": items % new.window}})
        new._curve.restore(state)
        new._counted = items
    except (KeyError, TypeError, IndexError, RuntimeError) as error:
        raise ValueError(f"not the state of a run: {error!r}") from error
    except ValueError as error:
        raise ValueError(f"not the state of a run: {error}") from error
    return new


def _certificate(learner: Any) -> AnyCertificate | None:
    """Return what a learner can prove; before it has learnt anything, it has nothing to prove."""
    return getattr(learner, "certificate_", None)
