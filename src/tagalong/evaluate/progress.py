"""Figures of a run that goes on: what `progressive` keeps while it learns."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong import parameters
from tagalong.certificate import Certificate
from tagalong.evaluate.curve import Curve, Sums, point
from tagalong.evaluate.measures import SUMS, Measures, macro_f1
from tagalong.evaluate.recent_labels import RecentLabels
from tagalong.evaluate.report import Report
from tagalong.labels import LabelRows
from tagalong.online.rounds import Round, Rounds

__all__ = ["Progress"]

State = dict[str, dict[str, Any]]

_TOGETHER = 128

_NATIVE_ARRAYS = ("totals", "recent", "per_label")


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
        self._recent_labels = RecentLabels(window)
        self._curve = Curve()
        self._counted = 0
        self._pending: list[Round] = []
        self._certificates: dict[int, Certificate] = {}

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
        return self._counted + len(self._pending)

    def expect(self, items: int) -> None:
        """Say how many more rounds there will be; saves time, and changes no figure in the end.

        Parameters
        ----------
        items : int
            How many are still to come.
        """
        self._flush()
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
        self._pending.append(round)
        self._note(self.items, learner)
        if len(self._pending) == _TOGETHER:
            self._flush()

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
        self._flush()
        self._note(self._counted + len(rounds.scores), learner)
        self._count(rounds)

    def _note(self, items: int, learner: Any) -> None:
        """Keep the certificate for the curve, if there is to be a point at so many items."""
        if learner is not None and self._curve.is_due(items):
            # Before it has learnt anything, a learner has none.
            certificate = getattr(learner, "certificate_", None)
            if certificate is not None:
                self._certificates[items] = certificate

    def _flush(self) -> None:
        """Count the rounds that came one by one; together they cost less."""
        if self._pending:
            rounds = _together(self._pending)
            self._pending = []
            self._count(rounds)

    def _count(self, rounds: Rounds) -> None:
        scores = np.ascontiguousarray(rounds.scores)
        sizes = _label_counts(scores, rounds.relevant, rounds.unknown)
        self._recent_labels.add(scores, rounds.relevant, rounds.unknown, rounds.cutoffs)
        start, rows = 0, len(scores)
        while start < rows:
            stop = min(rows, start + self._curve.next_after(self._counted) - self._counted)
            labels = scores.shape[1]
            if sizes is not None:
                labels = int(sizes[start])
                stop = min(stop, int(np.searchsorted(sizes, labels, side="right")))
            self._measures.observe(
                np.ascontiguousarray(scores[start:stop, :labels]),
                rounds.relevant.indptr[start : stop + 1],
                rounds.relevant.indices,
                rounds.unknown.indptr[start : stop + 1],
                rounds.unknown.indices,
                rounds.cutoffs[start:stop],
            )
            self._counted += stop - start
            start = stop
            if self._curve.is_due(self._counted):
                certificate = self._certificates.get(self._counted)
                self._curve.add(point(self._counted, *self._figures(), certificate))
        self._certificates.clear()

    def _label_counts(self) -> npt.NDArray[np.int64]:
        counts: npt.NDArray[np.int64] = self._measures.state()["arrays"]["per_label"]
        return counts

    def _figures(self) -> tuple[tuple[Sums, float], tuple[Sums, float]]:
        """Return the sums and the macro-F1 of all rows and of the last ones."""
        counts = self._label_counts()
        lately = self._recent_labels.counts(len(counts), self._counted)
        return (
            (self._measures.totals(), macro_f1(counts)),
            (self._measures.recent(), macro_f1(lately)),
        )

    def report(
        self, labels: Sequence[Hashable] | None = None, certificate: Certificate | None = None
    ) -> Report:
        """Return the figures so far.

        Parameters
        ----------
        labels : sequence of labels, optional
            Their names, in the order of their numbers; the numbers themselves if left out.
        certificate : Certificate, optional
            What the learner can prove by now.
        """
        self._flush()
        counts = self._label_counts()
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
        self._flush()
        native, curve = self._measures.state(), self._curve.state()
        ago, codes = self._recent_labels.entries()
        arrays = {**native["arrays"], **curve["arrays"], "recent_ago": ago, "recent_codes": codes}
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
        ago, codes = np.asarray(arrays["recent_ago"]), np.asarray(arrays["recent_codes"])
        highest = 3 * len(arrays["per_label"])
        if ago.shape != codes.shape or codes.min(initial=0) < 0 or codes.max(initial=-1) >= highest:
            raise ValueError(f"recent_codes must be from 0 to {highest - 1}, one for each age")
        if ago.min(initial=1) < 1 or ago.max(initial=1) > new.window or (np.diff(ago) > 0).any():
            raise ValueError(f"recent_ago must fall, from {new.window} at most to 1 at least")
        native = {name: arrays[name] for name in _NATIVE_ARRAYS}
        new._measures.restore({"arrays": native, "numbers": {"next": items % new.window}})
        new._recent_labels.restore(items, ago, codes)
        new._curve.restore(state)
        new._counted = items
    except (KeyError, TypeError, IndexError, RuntimeError) as error:
        raise ValueError(f"not the state of a run: {error!r}") from error
    except ValueError as error:
        raise ValueError(f"not the state of a run: {error}") from error
    return new


def _label_counts(
    scores: npt.NDArray[Any], relevant: LabelRows, unknown: LabelRows
) -> npt.NDArray[np.int64] | None:
    """Return how many labels there were at each row, or None if always all of them.

    Labels are numbered in the order in which they appear; before that they score -infinity.
    """
    rows, labels = scores.shape
    if rows == 0 or labels == 0 or scores[0, -1] > -np.inf:
        return None
    there = scores > -np.inf
    sizes = np.where(there.any(axis=1), labels - there[:, ::-1].argmax(axis=1), 0)
    for named in (relevant, unknown):
        row = np.repeat(np.arange(rows), np.diff(named.indptr))
        np.maximum.at(sizes, row, named.indices[: len(row)].astype(np.int64) + 1)
    return np.minimum(np.maximum.accumulate(sizes), labels)


def _together(rounds: list[Round]) -> Rounds:
    """Return single rounds as a batch; labels that came later score -infinity in earlier ones."""
    labels = max(len(round.scores) for round in rounds)
    scores = np.full((len(rounds), labels), -np.inf, rounds[0].scores.dtype)
    for row, round in zip(scores, rounds, strict=True):
        row[: len(round.scores)] = round.scores
    unknown = [round.unknown for round in rounds]
    return Rounds(
        scores,
        np.array([round.cutoff for round in rounds]),
        LabelRows.from_lists(round.relevant for round in rounds),
        LabelRows.from_lists(unknown) if any(unknown) else LabelRows.empty(len(rounds)),
    )
