"""Custom class-dependent features, as a user might write them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Pair = tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]


@dataclass
class Affinity:
    """`FolderAffinity` in Python: it learns, and has all optional methods."""

    often: float = 0.2
    seldom: float = 0.02
    common: float = 2.0
    rare: float = -1.0
    n_features: int | None = None
    messages: dict[Any, int] = field(default_factory=dict)
    counts: dict[Any, dict[int, int]] = field(default_factory=dict)

    def rows(self, x: Pair, labels: Sequence[Any]) -> sp.csr_array:
        words = x[0].tolist()
        values = np.zeros((len(labels), len(words)))
        for r, label in enumerate(labels):
            n, counts = self.messages.get(label, 0), self.counts.get(label, {})
            for i, word in enumerate(words if n else []):
                seen = counts.get(word, 0)
                if seen >= self.often * n:
                    values[r, i] = self.common
                elif seen < self.seldom * n:
                    values[r, i] = self.rare
        at = np.arange(len(labels) + 1) * len(words)
        indices = np.tile(x[0].astype(np.int64), len(labels))
        shape = (len(labels), self.n_features or 2**31)
        return sp.csr_array((values.ravel(), indices, at), shape=shape)

    def learn(self, x: Pair, labels: Sequence[Any]) -> None:
        for label in labels:
            self.messages[label] = self.messages.get(label, 0) + 1
            counts = self.counts.setdefault(label, {})
            for word in x[0].tolist():
                counts[word] = counts.get(word, 0) + 1

    def relabel(self, changes: Mapping[Any, Any]) -> None:
        taken = [
            (new, self.messages.pop(old, 0), self.counts.pop(old, {}))
            for old, new in changes.items()
        ]
        for new, messages, counts in taken:
            if new is None:
                continue
            self.messages[new] = self.messages.get(new, 0) + messages
            own = self.counts.setdefault(new, {})
            for word, count in counts.items():
                own[word] = own.get(word, 0) + count

    def get_state(self) -> dict[str, Any]:
        known = list(self.messages)
        pairs = [(i, w, c) for i, y in enumerate(known) for w, c in self.counts[y].items()]
        return {
            "known": known,
            "messages": np.array([self.messages[label] for label in known], dtype=np.int64),
            "counts": np.array(pairs, dtype=np.int64).reshape(-1, 3),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        known = state["known"]
        self.messages = dict(zip(known, state["messages"].tolist(), strict=True))
        self.counts = {label: {} for label in known}
        for i, word, count in state["counts"].tolist():
            self.counts[known[i]][word] = count


@dataclass
class Kesler:
    """Kesler's construction: each label has its own copy of x, hence its own weights."""

    labels: int = 128

    def rows(self, x: Pair, labels: Sequence[Any]) -> sp.csr_array:
        indices, values = x
        ids = [indices.astype(np.int64) * self.labels + r for r in range(len(labels))]
        at = np.arange(len(labels) + 1) * len(indices)
        shape = (len(labels), 2**31)
        return sp.csr_array((np.tile(values, len(labels)), np.concatenate(ids), at), shape=shape)


@dataclass
class Table:
    """Features from a table: a label has one row of a matrix, times the first value of x."""

    table: npt.NDArray[Any]

    @property
    def n_features(self) -> int:
        return int(self.table.shape[1])

    def rows(self, x: Pair, labels: Sequence[Any]) -> Any:
        return self.table[: len(labels)] * x[1][0]


class Broken:
    """Features that are invalid from a given example on: an object to return or to raise."""

    def __init__(self, answer: Any, after: int = 0, learns: bool = False):
        self.answer, self.after, self.asked = answer, after, 0
        if learns:
            self.learn = self.note

    def note(self, x: Pair, labels: Sequence[Any]) -> None:
        """Stand-in for ``learn``: does nothing."""

    def rows(self, x: Pair, labels: Sequence[Any]) -> Any:
        self.asked += 1
        if x[1][0] <= self.after:
            return np.eye(len(labels))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(len(labels)) if callable(self.answer) else self.answer
