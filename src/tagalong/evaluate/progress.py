"""The measures of a run while it proceeds."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from tagalong import _native as core
from tagalong import parameters
from tagalong.evaluate.answer_progress import LABELS_OF_A_ROW, AnswerProgress
from tagalong.evaluate.curve import Curve, Sums, point
from tagalong.evaluate.measures import SUMS, Measures
from tagalong.evaluate.relabelling import relabelled
from tagalong.evaluate.report import Report
from tagalong.evaluate.saved_state import State, state_from_json, state_to_json
from tagalong.learning.certificates import AnyCertificate
from tagalong.learning.drift import Drift
from tagalong.learning.rounds import Round, Rounds

__all__ = ["Progress"]

LARGEST_K = 2**24
_NATIVE_ARRAYS = ("totals", "recent", "recent_marks", "recent_mark_ends", "per_label")


class Progress:
    """Measures rounds as they arrive, over the whole run and over its recent rows.

    The measures depend on the rounds and their order only: rounds one by one and in batches of
    any size give the same bits.

    Parameters
    ----------
    k : int, default 5
        Number of top-ranked labels that precision at k and NDCG at k evaluate.
    window : int, default 1000
        Number of most recent rows that the recent measures cover.

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
    0.3
    """

    def __init__(self, k: int = 5, window: int = 1000):
        k, window = parameters.integer(k, "k", 1), parameters.integer(window, "window", 1)
        if k > LARGEST_K:  # it takes memory at once
            raise ValueError(f"k must be at most {LARGEST_K}, got {k}")
        self._measures = core.Measures(k, window)
        self._answers = AnswerProgress(window)
        self._curve = Curve()
        self._items = 0

    @property
    def k(self) -> int:
        """Number of top-ranked labels that precision at k and NDCG at k evaluate."""
        return self._measures.k

    @property
    def window(self) -> int:
        """Number of most recent rows that the recent measures cover."""
        return self._measures.window

    @property
    def items(self) -> int:
        """Number of rounds so far."""
        return self._items

    @property
    def next_point(self) -> int:
        """Number of rounds up to the next point of the curve."""
        return self._curve.next_after(self._items) - self._items

    def expect(self, items: int) -> None:
        """Announce a number of further rounds; this saves time and does not change the report.

        Parameters
        ----------
        items : int
            Number of further rounds.
        """
        self._curve.expect(self._items + items)

    def add(self, round: Round, learner: object = None) -> None:
        """Add one round.

        Parameters
        ----------
        round : Round
            The prediction and the relevant labels.
        learner : object, optional
            The learner that has just learnt the round. The curve records its ``certificate_``,
            if it has one.
        """
        self._measures.observe_one(round.scores, round.relevant, round.unknown, round.cutoff)
        self._answers.add(round)
        self._items += 1
        if self._curve.is_due(self._items):
            self._curve.add(self._point(_certificate(learner)))

    def add_rounds(self, rounds: Rounds, learner: object = None) -> None:
        """Add a batch of rounds.

        Parameters
        ----------
        rounds : Rounds
            The prediction and the relevant labels.
        learner : object, optional
            The learner that has just learnt the rounds. Its certificate is known only after the
            last round, so with large batches the curve has the certificate at few points.
        """
        scores = np.ascontiguousarray(rounds.scores)
        start, rows = 0, len(scores)
        while start < rows:  # up to the next point of the curve
            stop = min(rows, start + self._curve.next_after(self._items) - self._items)
            self._measures.observe(
                scores[start:stop],
                rounds.relevant.row_slice(start, stop),
                rounds.unknown.row_slice(start, stop),
                rounds.cutoffs[start:stop],
            )
            self._answers.add_rounds(rounds, start, stop)
            self._items += stop - start
            start = stop
            if self._curve.is_due(self._items):
                self._curve.add(self._point(_certificate(learner) if stop == rows else None))

    def _point(self, certificate: AnyCertificate | None) -> list[float]:
        now = point(self._items, *self._figures(), certificate)
        self._answers.fill_point(now)
        return now

    def _figures(self) -> tuple[tuple[Sums, float], tuple[Sums, float]]:
        """Return the sums and the macro-F1 of all rows and of the recent rows."""
        measures = self._measures
        return (
            (measures.totals(), measures.macro_f1()),
            (measures.recent(), measures.recent_macro_f1()),
        )

    def report(
        self,
        labels: Sequence[Hashable] | None = None,
        certificate: AnyCertificate | None = None,
        one_label: bool = False,
        frozen: bool = False,
        drift: Drift | None = None,
        grades: bool = False,
    ) -> Report:
        """Return the measures so far.

        Parameters
        ----------
        labels : sequence of labels, optional
            Names of the labels, in the order of their numbers; by default the numbers.
        certificate : Certificate, optional
            The certificate of the learner.
        one_label : bool, default False
            Whether the learner says that items have one label each. The report says so too if all
            rounds have exactly one relevant label.
        frozen : bool, default False
            Whether the model did not learn from the rounds.
        drift : Drift, optional
            The last change of the answers that the learner noticed.
        grades : bool, default False
            Whether the labels are grades, from the lowest to the highest in the order of their
            numbers. The report then has the mean absolute error of the first suggestions.
        """
        counts = self._measures.per_label()
        names = tuple(range(len(counts)) if labels is None else labels)
        if len(names) < len(counts):
            raise ValueError(
                f"labels must name all {len(counts)} labels of the rounds, got {len(names)} names"
            )
        padded = np.zeros((len(names), 3), np.int64)
        padded[: len(counts)] = counts
        overall, recent = self._figures()
        self._answers.count_waiting()
        now = point(self._items, overall, recent, certificate)
        self._answers.fill_point(now)
        answers = self._answers.report(names, self._curve.answer_counts(now), frozen)
        rounds = answers.coverage.overall
        return Report(
            items=self._items,
            k=self.k,
            window=self.window,
            overall=Measures.from_sums(*overall),
            recent=Measures.from_sums(*recent),
            labels=names,
            counts=padded,
            curve=self._curve.columns(now),
            certificate=certificate,
            answers=answers,
            one_label=one_label or grades or 0 < self._items == rounds.one,
            frozen=frozen,
            drift=drift,
            grades=grades,
        )

    def state(self) -> State:
        """Return the state as a dict of ``arrays`` and ``numbers``, both by name."""
        self._answers.count_waiting()  # completes the points of the curve
        native, curve = self._measures.state(), self._curve.state()
        arrays = {**native["arrays"], **curve["arrays"], **self._answers.state()}
        numbers = {"k": self.k, "window": self.window, "items": self._items}
        return {"arrays": arrays, "numbers": {**numbers, **curve["numbers"]}}

    def restore(self, state: State) -> Self:
        """Replace the state by that of another run.

        Parameters
        ----------
        state : mapping
            The result of ``state``.

        Raises
        ------
        ValueError
            If the state is invalid. In that case the object is unchanged.
        """
        restored = _restored(state)
        self.__dict__.update(restored.__dict__)
        return self

    def relabel(self, numbers: Sequence[int | None]) -> Self:
        """Give the labels other numbers, after labels were merged or forgotten in the learner.

        The counts of labels that become one are added, and those of labels that are gone are
        dropped, so that macro-F1 and macro recall are those of the labels that are left. Nothing
        is measured again: all other figures stay as they are, and so does the curve. A first
        suggestion that was wrong stays wrong, even if its label and the right one become one
        label; only the pair is no longer listed among the confused labels.

        Parameters
        ----------
        numbers : sequence of int or None
            For each label of the rounds so far its new number; None if the label is gone.

        Raises
        ------
        ValueError
            If a number is missing or invalid. In that case the object is unchanged.

        Examples
        --------
        >>> from tagalong import LabelRanker
        >>> from tagalong.evaluate import Progress
        >>> ranker, progress = LabelRanker(), Progress()
        >>> for words, label in [({"rent": 1}, "home"), ({"flight": 1}, "travel")] * 3:
        ...     progress.add(ranker.watch_one(words, label))
        >>> ranker.forget_labels(["home"])
        >>> progress.relabel([None, 0]).report(labels=["travel"]).counts[:, 2].tolist()
        [3]
        """
        return self.restore(relabelled(self.state(), numbers))

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return state_to_json(self.state())

    @classmethod
    def from_json(cls, saved: object) -> Self:
        """Return the object that ``to_json`` describes; ValueError if that is damaged.

        Parameters
        ----------
        saved : object
            The result of ``to_json``.
        """
        return cls().restore(state_from_json(saved))

    def __getstate__(self) -> State:
        return self.state()  # native objects cannot be copied or pickled

    def __setstate__(self, state: State) -> None:
        self.restore(state)


def _restored(state: State) -> Progress:
    """Return a new object with a state, after full validation of the state."""
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
            raise ValueError(f"items is {items}, but totals cover another number of rows")
        native = {name: arrays[name] for name in _NATIVE_ARRAYS}
        new._measures.restore({"arrays": native, "numbers": {"next": items % new.window}})
        new._curve.restore(state)
        new._answers.restore(arrays, items)
        labels = len(arrays["per_label"])
        if len(arrays.get("label_answers", ())) > labels:
            raise ValueError("label_answers has more labels than per_label")
        if "recent_answers" in arrays:
            named = arrays["recent_answers"][:, LABELS_OF_A_ROW]
            if not -1 <= named.min(initial=-1) <= named.max(initial=-1) < labels:
                raise ValueError("recent_answers names a label that does not exist")
        new._items = items
    except (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError) as error:
        raise ValueError(f"invalid state of a run: {error!r}") from error
    except ValueError as error:
        raise ValueError(f"invalid state of a run: {error}") from error
    return new


def _certificate(learner: object) -> AnyCertificate | None:
    """Return the certificate of a learner; None before its first round."""
    return getattr(learner, "certificate_", None)
