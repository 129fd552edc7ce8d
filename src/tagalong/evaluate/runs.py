"""Progressive validation: each item of a stream is predicted, then learnt."""

import time
from collections.abc import Callable, Hashable, Iterable, Sized
from typing import Any

import numpy as np

from tagalong.evaluate.inputs import plain_names, sliceable
from tagalong.evaluate.progress import Progress
from tagalong.evaluate.report import Report
from tagalong.learning.items import Item, ReadError
from tagalong.learning.labels import Labels

__all__ = ["chunk_size", "progressive"]

CHUNK = 256
SECONDS_BETWEEN_CALLS = 0.25


def progressive(
    learner: Any,
    stream: Any,
    *,
    k: int = 5,
    window: int = 1000,
    on_progress: Callable[[Report], object] | None = None,
    progress: Progress | None = None,
) -> Report:
    """Predict and then learn each item, and measure the predictions (progressive validation).

    The learner ends with the same bits as after ``partial_fit`` or ``learn_one``.

    Parameters
    ----------
    learner : LabelRanker, Tagger, or an object with ``watch`` and ``watch_one``
        The learner. It may have learnt other items before.
    stream : (X, Y), or an iterable of (x, y), (x, y, unknown) or Item
        A matrix with its targets, as for ``partial_fit``; or examples, as for ``learn_one``; or
        items, for a Tagger. An iterable is consumed item by item. A new learner takes the columns
        of an indicator matrix as its labels; otherwise labels are added when they first occur.
    k : int, default 5
        Number of top-ranked labels that precision at k and NDCG at k evaluate.
    window : int, default 1000
        Number of most recent rows that the recent measures cover.
    on_progress : callable, optional
        Called with a report of the run so far, at most four times per second.
    progress : Progress, optional
        The measures of an earlier run to continue. Its k and window replace the parameters. It
        is up to date even if the run is interrupted.

    Returns
    -------
    Report
        The measures of the run.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong import LabelRanker
    >>> from tagalong.evaluate import progressive
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 8))
    >>> Y = X[:, :4] > 0.5
    >>> report = progressive(LabelRanker(), (X, Y), window=100)
    >>> report.recent.average_precision > report.overall.average_precision > 0.9
    True
    """
    if progress is None:
        progress = Progress(k, window)
    reporter = _Reporter(learner, progress, on_progress)
    if isinstance(stream, tuple) and len(stream) == 2 and hasattr(stream[0], "shape"):
        _learn_matrices(learner, *stream, progress, reporter)
    else:
        _learn_examples(learner, stream, progress, reporter)
    return reporter.report()


class _Reporter:
    """Calls ``on_progress`` at limited frequency."""

    def __init__(
        self, learner: object, progress: Progress, on_progress: Callable[[Report], object] | None
    ):
        self._learner = learner
        self._progress = progress
        self._on_progress = on_progress
        self._due = time.monotonic() + SECONDS_BETWEEN_CALLS

    def report(self) -> Report:
        certificate = getattr(self._learner, "certificate_", None)
        drift = getattr(self._learner, "drift", None)
        grades = bool(getattr(self._learner, "has_grades", False))
        return self._progress.report(
            _label_names(self._learner), certificate, drift=drift, grades=grades
        )

    def report_if_due(self) -> None:
        if self._on_progress is not None and time.monotonic() >= self._due:
            self._on_progress(self.report())
            self._due = time.monotonic() + SECONDS_BETWEEN_CALLS


def _label_names(learner: object) -> list[Hashable]:
    """Return the labels of a Tagger or a ranker; an empty list before the first label."""
    if hasattr(learner, "labels"):
        return list(learner.labels)
    return plain_names(getattr(learner, "classes_", []))


def _learn_examples(
    learner: Any, stream: Iterable[object], progress: Progress, reporter: _Reporter
) -> None:
    if isinstance(stream, Sized):
        progress.expect(len(stream))
    for position, example in enumerate(stream):
        if isinstance(example, Item):
            if example.labels is None:
                raise ReadError(
                    example.place or f"stream: element {position}",
                    "the item has no labels; leave such items out",
                )
            progress.add(learner.watch(example), learner)
        elif isinstance(example, tuple) and len(example) in (2, 3):
            progress.add(learner.watch_one(*example), learner)
        else:
            raise ValueError(
                f"stream: element {position} is {example!r}; it must be (x, y), (x, y, unknown) or "
                "an Item; or stream must be a pair (X, Y) of a matrix and its targets"
            )
        reporter.report_if_due()


def _learn_matrices(learner: Any, X: Any, Y: Any, progress: Progress, reporter: _Reporter) -> None:
    X, Y = sliceable(X), sliceable(_as_indicator(Y))
    rows = X.shape[0]
    count = Y.shape[0] if hasattr(Y, "shape") else len(Y)
    if rows != count:
        raise ValueError(f"X has {rows} rows but Y has {count}")
    is_indicator = hasattr(Y, "shape") and len(Y.shape) == 2 and Y.shape[1] > 1
    is_new = not hasattr(learner, "classes_")
    classes = "grow" if is_new and not is_indicator else None
    progress.expect(rows)
    start = 0
    while start < rows:
        stop = min(rows, start + chunk_size(progress.items))
        try:
            rounds = learner.watch(X[start:stop], Y[start:stop], classes)
        except ValueError as error:
            error.add_note(f"in the rows from {start} to {stop - 1}; the rows before are learnt")
            raise
        progress.add_rounds(rounds, learner)
        reporter.report_if_due()
        start, classes = stop, None


def chunk_size(items: int) -> int:
    """Return the number of rows of the next chunk, which ends at a multiple of a power of two.

    The first chunks are small: the certificate is known at the end of a chunk only, and the curve
    of a short run needs it often.
    """
    size = min(CHUNK, 1 << max(0, (items >> 3).bit_length() - 1))
    return size - items % size


def _as_indicator(Y: object) -> Any:
    """Return lists that are rows of an indicator matrix as an array, other targets unchanged.

    This check needs all rows: a chunk of them can be ambiguous.
    """
    if not isinstance(Y, (list, tuple)) or not Y or not isinstance(Y[0], (list, np.ndarray)):
        return Y
    if not all(isinstance(y, (int, float, np.number)) and y in (0, 1) for y in Y[0]):
        return Y
    return np.asarray(Y) if Labels(grows=True).encode(list(Y)).kind == "indicator" else Y
