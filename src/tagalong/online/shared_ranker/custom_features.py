"""A native ranker whose class-dependent features come from a user's Python object.

With `FolderAffinity` the native core computes the block of an example's features; here the object
computes it. All further steps use the same native code. The object is never called while the native
lock is held: another thread may wait for that lock while it holds the GIL, which would be a
deadlock.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tagalong import _native as core
from tagalong.fork_locks import fork_safe_lock
from tagalong.learning.examples import Pair, as_matrix
from tagalong.learning.input_types import Indices, Values
from tagalong.online.native import RankerWrapper, new_native
from tagalong.online.shared_ranker.label_features import declared_features, has_method
from tagalong.online.shared_ranker.returned_rows import checked_label_rows, describe_bad_values

__all__ = ["CustomFeaturesRanker"]

# Validation caches the blocks of a batch up to this size. Learning computes the others again.
BLOCK_CACHE_BYTES = 64 * 2**20

Names = Sequence[Hashable]
Scores = npt.NDArray[Any]


class CustomFeaturesRanker(RankerWrapper[core.SharedRanker32]):
    """A ranker with the interface of a native ranker and features from a user's object.

    Parameters
    ----------
    settings : dict
        The settings of the native ranker.
    features : LabelFeatures
        The object that makes the features. It may learn from examples.
    names : callable
        Returns the labels in the order of their numbers.
    """

    def __init__(self, settings: dict[str, Any], features: Any, names: Callable[[], Names]):
        self._features = features
        self._class_name = type(features).__name__
        self._declared = declared_features(features)
        native = new_native(
            (core.SharedRanker32, core.SharedRanker64),
            {**settings, "n_features": self._declared or 0},
            python_only=("own_features",),
        )
        # A ranker and its blocks have the same precision, which the type hints cannot express.
        super().__init__(cast(core.SharedRanker32, native))
        wide = settings["dtype"] == "float64"
        self._block_class = cast(
            type[core.LabelBlock32], core.LabelBlock64 if wide else core.LabelBlock32
        )
        self._dtype = np.dtype(settings["dtype"])
        self._names = names
        self._learns = has_method(features, "learn")
        # Features that learn must not change while a round uses them.
        self._round_lock: AbstractContextManager[object] = (
            fork_safe_lock() if self._learns else nullcontext()
        )
        self._block_cache: tuple[core.Matrix | None, list[core.LabelBlock32]] = (None, [])

    def check_batch(
        self,
        x: core.Matrix,
        names: Names,
        known: int,
        relevant: core.LabelRows,
        unknown: core.LabelRows,
    ) -> None:
        """Raise ValueError if the features of some row are invalid.

        Features that learn depend on the rows before, so they are validated row by row instead.
        """
        self._block_cache = (None, [])
        if self._learns:
            return
        cached: list[core.LabelBlock32] = []
        bytes_left = BLOCK_CACHE_BYTES
        for i, count, _, _ in _rounds(known, relevant, unknown):
            block = self._block(self._core.finished_row(x, i), names[:count], f"row {i}")
            bytes_left -= block.bytes
            if bytes_left >= 0:
                cached.append(block)
        self._block_cache = (x, cached)

    def check_one(self, indices: Indices, values: Values, names: Names) -> None:
        """Raise ValueError if the features of an example are invalid."""
        with self._round_lock:
            self._block(self._core.finished_pairs(indices, values), names)

    def learn(
        self,
        x: core.Matrix,
        relevant: core.LabelRows,
        unknown: core.LabelRows,
        weights: npt.NDArray[np.float64] | None = None,
        scores: Scores | None = None,
        cutoffs: npt.NDArray[np.float64] | None = None,
        stands_for: float = 1.0,
        places: core.PlaceArrays | None = None,
    ) -> None:
        """Learn the rows; write scores, cut-off and places before each row, if arrays are given."""
        cached_matrix, cached = self._block_cache
        self._block_cache = (None, [])
        if cached_matrix is not x:
            cached = []
        names = self._names()
        for i, count, relevant_labels, unknown_labels in _rounds(self.labels, relevant, unknown):
            weight = 1.0 if weights is None else float(weights[i])
            with self._round_lock:
                row = self._core.finished_row(x, i)
                block = (
                    cached[i] if i < len(cached) else self._block(row, names[:count], f"row {i}")
                )
                row_scores, cutoff = self._round(
                    row, block, relevant_labels, unknown_labels, weight, stands_for, places, i
                )
            if scores is not None:
                scores[i, :count] = row_scores
            if cutoffs is not None:
                cutoffs[i] = cutoff

    def predict_then_learn_one(
        self,
        indices: Indices,
        values: Values,
        relevant: list[int],
        unknown: list[int],
        weight: float,
        stands_for: float,
        places: core.PlaceArrays | None,
        /,
    ) -> tuple[Scores, float]:
        """Learn one example; return the scores and the cut-off before learning."""
        x = self._core.finished_pairs(indices, values)
        count = max([self.labels - 1, *relevant, *unknown]) + 1
        with self._round_lock:
            block = self._block(x, self._names()[:count])
            return self._round(x, block, relevant, unknown, weight, stands_for, places)

    def score_one(self, indices: Indices, values: Values, /) -> tuple[Scores, float]:
        """Return the scores of one example and the cut-off."""
        with self._round_lock:
            return self._core.score_block(self._block_of_pairs(indices, values))

    def rank_one(self, indices: Indices, values: Values, k: int, /) -> list[int]:
        """Return the k best labels of one example; all labels if k < 0."""
        with self._round_lock:
            return self._core.rank_block(self._block_of_pairs(indices, values), k)

    def explain_one(
        self, indices: Indices, values: Values, label: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64], float]:
        """Return an example's features, their contributions to the label's score, and the score."""
        with self._round_lock:
            return self._core.explain_block(self._block_of_pairs(indices, values), label)

    def score(self, x: core.Matrix) -> tuple[Scores, float]:
        """Return scores (rows, labels) and the cut-off."""
        names = self._names()[: self.labels]
        out = np.empty((x.shape[0], len(names)), dtype=self._dtype)
        cutoff = 0.0
        for i in range(len(out)):
            with self._round_lock:
                block = self._block(self._core.finished_row(x, i), names, f"row {i}")
                out[i], cutoff = self._core.score_block(block)
        return out, cutoff

    def rank(self, x: core.Matrix, k: int) -> npt.NDArray[np.int32]:
        """Return the k best labels of each row; all labels if k < 0."""
        names = self._names()[: self.labels]
        count = len(names) if k < 0 else min(k, len(names))
        out = np.empty((x.shape[0], count), dtype=np.int32)
        for i in range(len(out)):
            with self._round_lock:
                block = self._block(self._core.finished_row(x, i), names, f"row {i}")
                out[i] = self._core.rank_block(block, count)
        return out

    def judge(
        self,
        x: core.Matrix,
        k: int,
        count: npt.NDArray[np.int64] | None = None,
        last: npt.NDArray[np.int64] | None = None,
    ) -> core.PlaceArrays:
        """Return the first k places of each row; all labels if k < 0."""
        names = self._names()[: self.labels]
        out = core.PlaceArrays(x.shape[0], len(names) if k < 0 else min(k, len(names)))
        for i in range(x.shape[0]):
            with self._round_lock:
                block = self._block(self._core.finished_row(x, i), names, f"row {i}")
                scores, _ = self._core.score_block(block)
                self._core.judge_scores(scores, block.known, out, i, count, last)
        return out

    def certificate(self) -> core.SharedCertificate:
        """Return the counts, the dual value and the cut-off."""
        return self._core.certificate()

    def recompute_dual(self) -> float:
        """Return the dual value, recomputed from the stored weights."""
        return self._core.recompute_dual()

    def _round(
        self,
        x: Pair,
        block: core.LabelBlock32,
        relevant: list[int],
        unknown: list[int],
        weight: float,
        stands_for: float,
        places: core.PlaceArrays | None,
        row: int | None = None,
    ) -> tuple[Scores, float]:
        # The block exists already. The features learn first: if they raise, the weights are
        # unchanged.
        if self._learns and weight > 0:
            names = self._names()
            with self._failure_noted("learn", "x" if row is None else f"row {row}"):
                self._features.learn(x, [names[label] for label in sorted(relevant)])
        return self._core.learn_block(
            block, relevant, unknown, weight, stands_for, places, row or 0
        )

    def _block_of_pairs(self, indices: Indices, values: Values) -> core.LabelBlock32:
        x = self._core.finished_pairs(indices, values)
        return self._block(x, self._names()[: self.labels])

    def _block(self, x: Pair, names: Names, place: str = "x") -> core.LabelBlock32:
        """Return the features of an example as a block; ValueError if they are invalid."""
        if not names:
            return self._block_class(core.Matrix.dense(np.empty((0, 0))))
        with self._failure_noted("rows", place):
            given = self._features.rows(x, names)
        where = f"{self._class_name}.rows, {place}"
        rows = checked_label_rows(given, len(names), self._declared, where)
        try:
            return self._block_class(as_matrix(rows))
        except core.InputError as error:
            raise ValueError(f"{where}: {describe_bad_values(rows, names) or error}") from None

    @contextmanager
    def _failure_noted(self, method: str, place: str) -> Iterator[None]:
        """Add the method and the example to an exception of the user's code."""
        try:
            yield
        except Exception as error:
            error.add_note(f"raised by {self._class_name}.{method}, {place}")
            raise


def _rounds(
    known: int, relevant: core.LabelRows, unknown: core.LabelRows
) -> Iterator[tuple[int, int, list[int], list[int]]]:
    """Yield per row: its number, the number of labels so far, its relevant and unknown labels."""
    for i in range(len(relevant.indptr) - 1):
        row_relevant, row_unknown = (
            rows.indices[rows.indptr[i] : rows.indptr[i + 1]].tolist()
            for rows in (relevant, unknown)
        )
        known = max([known - 1, *row_relevant, *row_unknown]) + 1
        yield i, known, row_relevant, row_unknown
