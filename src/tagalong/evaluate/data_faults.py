r"""Find data sets whose labels were mixed up when their files were made.

Two faults make every later figure void and show in no score. In **moved labels**, the columns of
the labels mean something else from some row on, for example because they were shifted by one. In
**labels among the features**, a feature is a copy of a label.

Both are tested against what a sound data set can do by chance, at the level `LEVEL` per search,
with Bonferroni's correction for the number of labels, cuts and features:

1. At seven cuts, and at the border of two given parts, the share of rows with each label before and
   after the cut is compared by Fisher's exact test, and the cut with the clearest change is looked
   at. Data in random order have no label whose share differs. Data that drift, or that are sorted,
   have some, so this alone is no fault.
2. For each of these labels, the rows after the cut are compared with the mean row of every label
   before the cut. A label has **stayed** if they are more similar to its own mean row than to that
   of any other. It has **moved** if they are more similar to that of another label, by a t-test,
   which was as frequent as this label is now. Drift changes shares, but leaves labels what they
   are. If labels that look like another one outnumber those that stayed beyond chance (a sign test,
   so it takes at least ten), labels have moved. In rows that are sorted by label it can escape.
3. A feature that occurs in exactly the rows of a label, in all rows or before or after one of the
   cuts, is a copy of it, unless the label is so rare that this can be chance. A feature that is in
   each row of a label as often as not equals a label of n rows with probability :math:`2^{-n}`.

Two given parts are searched three times: at their border, and each part alone with seven cuts of
its own. The border finds a test set whose columns are not those of the training set. It does not
find a fault inside the parts: if the columns are shifted from the middle of both parts on, each
half is a mix on either side of the border. Each part alone finds that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import stats

__all__ = ["LEVEL", "LabelAmongFeatures", "MovedLabels", "find_data_faults"]

LEVEL = 1e-3
"""The probability that a search reports a sound data set by chance."""

CUTS = 8  # parts of equal size, whose borders are the cuts
MOST_ROWS = 10_000  # compared with the mean rows of labels; a sample of more rows
SEED = 0

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class MovedLabels:
    """From ``row`` on, the columns of labels seem to mean other labels.

    Parameters
    ----------
    row : int
        The first row of the second part; the true place is near it.
    label : str
        The label for which it is clearest.
    resembles : str
        The label that it resembles from that row on.
    share_before, share_after, share_resembled : float
        The share of rows with ``label`` before and after, and with ``resembles`` before.
    moved, stayed : int
        The number of labels that resemble another one, and of those that resemble themselves, among
        the labels whose share has changed.
    """

    row: int
    label: str
    resembles: str
    share_before: float
    share_after: float
    share_resembled: float
    moved: int
    stayed: int

    def __str__(self) -> str:
        return (
            f"from row {self.row:,} on, labels seem to have moved: the rows of label "
            f"{self.label!r} ({self.share_before:.2%} of the rows before, {self.share_after:.2%} "
            f"after) look like those of label {self.resembles!r} before "
            f"({self.share_resembled:.2%}). Of the labels whose share changed, {self.moved} look "
            f"like another label and {self.stayed} like themselves"
        )


@dataclass(frozen=True)
class LabelAmongFeatures:
    """A feature occurs in exactly the rows of a label.

    Parameters
    ----------
    label, feature : str
        Their names.
    begin, end : int
        The first row of the part in which they are equal, and the row after its last.
    count : int
        The number of rows with the label in that part.
    """

    label: str
    feature: str
    begin: int
    end: int
    count: int

    def __str__(self) -> str:
        return (
            f"feature {self.feature!r} equals label {self.label!r} in rows {self.begin:,} to "
            f"{self.end - 1:,}: both occur in the same {self.count:,} rows"
        )


Fault = MovedLabels | LabelAmongFeatures


def find_data_faults(
    X: Any,
    Y: Any,
    *,
    labels: Sequence[str] | None = None,
    features: Sequence[str] | None = None,
    border: int | None = None,
) -> list[Fault]:
    """Return signs that the labels of a data set were mixed up; usually an empty list.

    Parameters
    ----------
    X : array or sparse matrix of shape (rows, n)
        Examples, in the order of the file.
    Y : array or sparse matrix of shape (rows, K)
        Their labels: nonzero where a label is relevant.
    labels, features : sequence of str, optional
        Their names; by default their numbers.
    border : int, optional
        The first row of the second of two parts, such as a test set below a training set. Then the
        parts are compared at the border, and each is searched alone. By default, all rows are one
        part, and the place of a fault is looked for.

    Examples
    --------
    >>> import numpy as np
    >>> from tagalong.evaluate import find_data_faults
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.random((2000, 30)) < rng.uniform(0.02, 0.3, size=30)
    >>> X = Y @ rng.normal(size=(30, 40)) + rng.normal(size=(2000, 40))
    >>> find_data_faults(X, Y)
    []
    >>> Y[1000:] = np.roll(Y[1000:], 1, axis=1)
    >>> [fault.row for fault in find_data_faults(X, Y)]
    [1000]
    """
    targets = sp.csr_array(Y).astype(bool).astype(np.int64)
    rows, K = targets.shape
    if X.shape[0] != rows:
        raise ValueError(f"X has {X.shape[0]} rows but Y has {rows}")
    if border is not None and not 0 < border < rows:
        raise ValueError(f"border must be between 0 and the {rows} rows, got {border!r}")
    label_names = list(map(str, range(K) if labels is None else labels))
    feature_names = list(map(str, range(X.shape[1]) if features is None else features))

    def search(begin: int, end: int, cuts: Sequence[int]) -> list[Fault]:
        if end - begin < CUTS or K == 0:
            return []
        part = X[begin:end], targets[begin:end]
        places = [cut - begin for cut in cuts]
        return _search(*part, places, label_names, feature_names, begin)

    if border is None:
        return search(0, rows, _cuts(0, rows))
    return _without_repetitions(
        [
            *search(0, rows, [border]),
            *search(0, border, _cuts(0, border)),
            *search(border, rows, _cuts(border, rows)),
        ]
    )


def _search(
    X: Any,
    targets: Any,
    cuts: Sequence[int],
    labels: Sequence[str],
    features: Sequence[str],
    offset: int,
) -> list[Fault]:
    """Search one part of the rows; ``offset`` is the number of its first row."""
    rows = targets.shape[0]
    cut = max(cuts, key=lambda at: _surprise(targets, at))
    moved = _moved_labels(X, targets, cut, len(cuts), labels)
    spans = [(0, rows), *((cut, rows) for cut in cuts), *((0, cut) for cut in reversed(cuts))]
    copies = _copies(X, targets, spans, labels, features)
    return [
        *([] if moved is None else [replace(moved, row=moved.row + offset)]),
        *(replace(copy, begin=copy.begin + offset, end=copy.end + offset) for copy in copies),
    ]


def _cuts(begin: int, end: int) -> list[int]:
    """Return the borders of parts of equal size."""
    return [begin + (end - begin) * part // CUTS for part in range(1, CUTS)]


def _without_repetitions(faults: list[Fault]) -> list[Fault]:
    """Keep the first of the faults that name the same label and feature."""
    kept: dict[tuple[str, str] | Fault, Fault] = {}
    for fault in faults:
        if isinstance(fault, LabelAmongFeatures):
            kept.setdefault((fault.label, fault.feature), fault)
        else:
            kept.setdefault(fault, fault)
    return list(kept.values())


def _counts(targets: Any, begin: int, end: int) -> Counts:
    return np.asarray(targets[begin:end].sum(axis=0)).ravel()


def _p_values(before: Counts, after: Counts, cut: int, rows: int) -> npt.NDArray[np.float64]:
    """Fisher's exact test that two shares are equal, one per label; two-sided, by doubling."""
    total = before + after
    least = stats.hypergeom.cdf(before, rows, total, cut)
    most = stats.hypergeom.sf(before - 1, rows, total, cut)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(least, most)))


def _surprise(targets: Any, cut: int) -> float:
    """Return how much the shares of all labels differ before and after a cut."""
    rows = targets.shape[0]
    p = _p_values(_counts(targets, 0, cut), _counts(targets, cut, rows), cut, rows)
    return -float(np.log(np.maximum(p, 1e-300)).sum())


def _moved_labels(
    X: Any, targets: Any, cut: int, cuts: int, names: Sequence[str]
) -> MovedLabels | None:
    rows, K = targets.shape
    before, after = _counts(targets, 0, cut), _counts(targets, cut, rows)
    level = LEVEL / (K * cuts)
    changed = np.flatnonzero(_p_values(before, after, cut, rows) < level)
    comparable = changed[(before[changed] > 1) & (after[changed] > 1)]
    if not len(comparable):
        return None
    likeness, sampled = _likeness(X, targets, cut, before)
    stayed, moved = 0, []
    for k in comparable:
        own = sampled[:, k].nonzero()[0]
        if len(own) < 2:
            continue
        gains = likeness[own] - likeness[own][:, [k]]
        others = (np.arange(K) != k) & (before > 1)
        means = gains.mean(axis=0)
        if (means[others] < 0).all():
            stayed += 1
            continue
        spread = gains.std(axis=0, ddof=1) / np.sqrt(len(own))
        t = np.divide(means, spread, out=np.zeros(K), where=spread > 0)
        as_frequent = _p_values(before, np.full(K, after[k]), cut, rows) >= level
        t[~(others & as_frequent)] = -np.inf
        best = int(np.argmax(t))
        if stats.t.sf(t[best], len(own) - 1) < LEVEL / (len(comparable) * K):
            moved.append((float(t[best]), int(k), best))
    if not moved or stats.binom.sf(len(moved) - 1, len(moved) + stayed, 0.5) >= LEVEL:
        return None
    _, k, best = max(moved)
    return MovedLabels(
        row=cut,
        label=names[k],
        resembles=names[best],
        share_before=before[k] / cut,
        share_after=after[k] / (rows - cut),
        share_resembled=before[best] / cut,
        moved=len(moved),
        stayed=stayed,
    )


def _likeness(
    X: Any, targets: Any, cut: int, before: Counts
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Compare rows after the cut with the mean row of each label before it.

    Returns inner products with the mean rows, scaled to length 1, (rows, K), and the targets of
    these rows. Both parts are centred; dense columns are also standardised.
    """
    rows = targets.shape[0]
    chosen = np.arange(cut, rows)
    if len(chosen) > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(SEED).choice(chosen, MOST_ROWS, replace=False))
    X = _as_csr(X) if sp.issparse(X) else _standardised(X)
    means: Any = targets[:cut].T @ X[:cut]
    if sp.issparse(X):
        means = means.toarray()
    centre = np.asarray(X[:cut].mean(axis=0)).ravel()
    means = means / np.maximum(before, 1)[:, None] - centre
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    means = np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0)
    later = X[chosen]
    products = later @ means.T - np.asarray(later.mean(axis=0)).ravel() @ means.T
    return np.asarray(products), targets[chosen].toarray()


def _as_csr(X: Any) -> sp.csr_array:
    return sp.csr_array(X, dtype=np.float64)


def _standardised(X: npt.ArrayLike) -> npt.NDArray[np.float64]:
    dense = np.asarray(X, dtype=np.float64)
    spread = dense.std(axis=0)
    return np.asarray((dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _copies(
    X: Any,
    targets: Any,
    spans: Sequence[tuple[int, int]],
    labels: Sequence[str],
    features: Sequence[str],
) -> list[LabelAmongFeatures]:
    """Return the features that equal a label; for each pair only the first span."""
    rows, K = targets.shape
    present = _presence(X)
    # Sums of random numbers over the rows of a column: equal columns have equal sums.
    keys = np.random.default_rng(SEED).integers(0, 2**64, rows, dtype=np.uint64)
    fewest = np.log2(K * max(1, X.shape[1]) * len(spans) / LEVEL)
    found: dict[tuple[int, int], LabelAmongFeatures] = {}
    for begin, end in spans:
        counts = _counts(targets, begin, end)
        label_sums = targets[begin:end].astype(np.uint64).T @ keys[begin:end]
        feature_sums = present[begin:end].T @ keys[begin:end]
        columns: dict[int, list[int]] = {}
        for j in np.flatnonzero(np.isin(feature_sums, label_sums)).tolist():
            columns.setdefault(int(feature_sums[j]), []).append(j)
        for k in np.flatnonzero((counts >= fewest) & (counts < end - begin)).tolist():
            for j in columns.get(int(label_sums[k]), ()):
                fault = LabelAmongFeatures(labels[k], features[j], begin, end, int(counts[k]))
                found.setdefault((k, j), fault)
    return list(found.values())


def _presence(X: Any) -> sp.csr_array:
    """Return 1 where a feature is not 0; of a dense column with two values, where it is larger."""
    present: Any
    if sp.issparse(X):
        present = _as_csr(X).copy()
        present.eliminate_zeros()
    else:
        dense = np.asarray(X)
        high, low = dense.max(axis=0), dense.min(axis=0)
        two_valued = ((dense == high) | (dense == low)).all(axis=0) & (low < high)
        present = sp.csr_array((dense == high) & two_valued)
    ones = np.ones(present.nnz, dtype=np.uint64)
    return sp.csr_array((ones, present.indices, present.indptr), shape=present.shape)
