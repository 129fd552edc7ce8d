"""Streams of items to file, in seeded random orders, and mailboxes with made-up senders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.streams import Stream, load, newsgroup_posts
from tagalong.features import TextFeatures
from tagalong.learning.examples import SparseRows
from tagalong.readers import Item, read

ORDERS = 5
"""Number of random orders of each stream."""

MOST_GROUPS = 3
"""A made-up author writes mostly to one group, or to two or three."""

FAITHFUL = 0.9
"""Share of the posts that come from an author of the group."""

POSTS_PER_AUTHOR = 6
"""Mean number of posts per made-up author. A few write much, most write little."""


@dataclass(frozen=True)
class FilingStream:
    """Rows of features in the order in which they arrive, each with its labels.

    Parameters
    ----------
    name : name of the stream.
    rows : the features.
    labels : the labels of each row.
    one_label : whether every row has exactly one label.
    """

    name: str
    rows: SparseRows
    labels: list[tuple[str, ...]]
    one_label: bool

    def __len__(self) -> int:
        return len(self.labels)

    def row(self, number: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
        """The features of one row and their values."""
        begin, end = self.rows.indptr[number : number + 2]
        return self.rows.indices[begin:end], self.rows.values[begin:end]

    def part(self, begin: int, end: int) -> SparseRows:
        """The features of some successive rows."""
        indptr = self.rows.indptr[begin : end + 1]
        inside = slice(indptr[0], indptr[-1])
        return SparseRows(indptr - indptr[0], self.rows.indices[inside], self.rows.values[inside])

    def take(self, numbers: npt.NDArray[np.int64]) -> FilingStream:
        """Some of the rows, in the order of their numbers."""
        starts, lengths = self.rows.indptr[numbers], np.diff(self.rows.indptr)[numbers]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        inside = np.repeat(starts - indptr[:-1], lengths) + np.arange(indptr[-1])
        rows = SparseRows(indptr, self.rows.indices[inside], self.rows.values[inside])
        return replace(self, rows=rows, labels=[self.labels[i] for i in numbers])

    def csr(self) -> sp.csr_matrix:
        """The rows as a matrix."""
        columns = int(self.rows.indices.max(initial=-1)) + 1
        parts = (self.rows.values, self.rows.indices, self.rows.indptr)
        return sp.csr_matrix(parts, shape=(len(self), columns))


def names() -> list[str]:
    """The names of the streams."""
    return list(_LOADERS)


def filing_stream(name: str, order: int, limit: int | None = None) -> FilingStream:
    """One of the streams in one of its orders.

    Parameters
    ----------
    name : one of ``names()``.
    order : number of the order, the seed of its permutation.
    limit : maximum number of rows (default: all).
    """
    whole = _in_file_order(name)
    numbers = np.random.default_rng([order, len(whole)]).permutation(len(whole))
    return whole.take(numbers[:limit])


def sorted_by_label(stream: FilingStream) -> FilingStream:
    """The rows sorted by their first label, as in folder after folder."""
    return stream.take(np.argsort([labels[0] for labels in stream.labels], kind="stable"))


@cache
def _in_file_order(name: str) -> FilingStream:
    return _LOADERS[name]()


def from_items(name: str, items: Sequence[Item]) -> FilingStream:
    """A stream of texts, with the features that a tagger gives them by default."""
    rows = TextFeatures().read_texts(items)
    if rows is None:
        raise ValueError(f"{name}: the items must consist of text only")
    labels = [item.labels or () for item in items]
    return FilingStream(name, rows, labels, all(len(one) == 1 for one in labels))


def mailbox(items: Sequence[Item], seed: int = 0) -> list[Item]:
    """The posts as mails whose senders are made up, each with groups of its own."""
    rng = np.random.default_rng(seed)
    groups = sorted({str(item.labels[0]) for item in items if item.labels})
    authors = max(1, len(items) // POSTS_PER_AUTHOR)
    activity = 1.0 / np.arange(1, authors + 1)  # Zipf's law
    writes_to = np.zeros((len(groups), authors))
    for author in range(authors):
        count = min(len(groups), int(rng.integers(1, MOST_GROUPS + 1)))
        writes_to[rng.choice(len(groups), count, replace=False), author] = activity[author]
    # A group without authors takes anyone.
    writes_to[writes_to.sum(axis=1) == 0] = activity
    writes_to /= writes_to.sum(axis=1, keepdims=True)
    anyone = activity / activity.sum()
    found = []
    for item in items:
        assert item.labels
        own = rng.random() < FAITHFUL
        chances = writes_to[groups.index(str(item.labels[0]))] if own else anyone
        author = int(rng.choice(authors, p=chances))
        text = {"from": f"writer{author}@host{author % 97}.example", "body": str(item.text)}
        found.append(replace(item, text=text))
    return found


def _newsgroups() -> FilingStream:
    return from_items("newsgroups", newsgroup_posts())


def _mailbox() -> FilingStream:
    return from_items("mailbox", mailbox(newsgroup_posts()))


def module_items() -> list[Item]:
    """Docstrings of the standard library, each with its module as the only label."""
    items = []
    for item in read("pydocs:"):
        modules = [label for label in item.labels or () if not label.startswith("kind:")]
        items.append(replace(item, labels=(modules[-1],)))
    return items


def _pydocs() -> FilingStream:
    return from_items("pydocs", module_items())


def from_stream(stream: Stream) -> FilingStream:
    """A stream of matrices as rows with label names."""
    X, Y = sp.csr_matrix(stream.X), stream.Y
    X.sort_indices()
    rows = SparseRows(
        X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float64)
    )
    labels = [
        tuple(stream.labels[i] for i in Y.indices[Y.indptr[row] : Y.indptr[row + 1]])
        for row in range(stream.rows)
    ]
    return FilingStream(stream.name, rows, labels, one_label=False)


def _from_matrix(name: str) -> FilingStream:
    return from_stream(load(name))


_LOADERS: dict[str, Callable[[], FilingStream]] = {
    "newsgroups": _newsgroups,
    "mailbox": _mailbox,
    "pydocs": _pydocs,
    **{name: partial(_from_matrix, name) for name in ("debtags", "rcv1", "bibtex")},
}
