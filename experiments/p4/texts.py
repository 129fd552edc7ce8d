"""Generate a large data set with RCV1's statistics: label sets, words by label, lengths.

The full RCV1 is not available. A text gets the label set and the length of a randomly drawn real
text. Each of its words is drawn from the words of one of its labels or, with probability
``COMMON``, from the words of all texts. The weight of a word is its mean weight in the real texts
that contain it, and rows have unit length, as in RCV1. Otherwise words are independent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from experiments.p4.sets import Part

COMMON = 0.5


def generate(real: Part, rows: int, seed: int) -> Part:
    """Return ``rows`` texts with the statistics of real ones."""
    rng = np.random.default_rng(seed)
    X = sp.csr_matrix(real.X)
    counts = sp.csr_matrix((np.ones(X.nnz), X.indices, X.indptr), X.shape)
    labels = real.Y.shape[1]
    # One row of word counts per label, and a last row for all texts.
    by_label: Any = [sp.csr_matrix(real.Y.T) @ counts, sp.csr_matrix(counts.sum(axis=0))]
    word_counts = sp.vstack(by_label).tocsr()
    drawn = rng.integers(X.shape[0], size=rows)
    lengths = np.diff(X.indptr)[drawn]
    text = np.repeat(np.arange(rows), lengths)
    own = sp.csr_matrix(real.Y)
    own_count = np.diff(own.indptr)[drawn][text]
    pick = (rng.random(len(text)) * np.maximum(own_count, 1)).astype(np.int64)
    first = own.indptr[drawn][text]
    source = np.where(
        (own_count == 0) | (rng.random(len(text)) < COMMON),
        labels,
        own.indices[np.minimum(first + pick, own.nnz - 1)],
    )
    words = np.empty(len(text), dtype=np.int32)
    for label in np.unique(source):
        drawn_from_label = np.flatnonzero(source == label)
        row = word_counts[label]
        cumulative = np.cumsum(row.data)
        uniform = rng.random(len(drawn_from_label))
        places = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
        words[drawn_from_label] = row.indices[np.minimum(places, row.nnz - 1)]
    seen = np.asarray(counts.sum(axis=0)).ravel()
    weight = (np.asarray(X.sum(axis=0)).ravel() / np.maximum(seen, 1)).astype(np.float32)
    found = sp.csr_matrix((weight[words], (text, words)), (rows, X.shape[1]))
    found.data = weight[found.indices]  # a word that is drawn twice counts once
    return Part(normalize(found), real.Y[drawn])
