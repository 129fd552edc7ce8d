"""Training subsets whose label correlations differ from the test set's, and priors.

The paper only says that it drew such subsets. Here the agreement of a row with the correlations c
of all training labels is Σ_{l≠k} c_lk (y_l − p_l)(y_k − p_k), where p are the label frequencies.
Rows are drawn from the share with the lowest agreement, where labels that usually occur together
occur separately.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import attribute_prior

Array = npt.NDArray[Any]

PRIORS = ("signs", "correlations")


def correlations(Y: Array) -> Array:
    """Return the correlations of labels; a constant label has correlation 0 with the others."""
    centred = Y - Y.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    safe = np.where(length > 0, length, 1.0)
    found = (centred / safe).T @ (centred / safe)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def agreement(Y: Array) -> Array:
    """Return the agreement of each row's labels with the correlations over all rows."""
    c = correlations(Y)
    np.fill_diagonal(c, 0.0)
    centred = Y - Y.mean(axis=0)
    return np.asarray(((centred @ c) * centred).sum(axis=1))


def draw_subset(Y: Array, rows: int, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return ``rows`` row numbers from the share with the lowest agreement, and the others."""
    # Ties are frequent, as rows with the same labels have the same agreement: break them randomly.
    order = np.lexsort((rng.random(len(Y)), agreement(Y)))
    pool = order[: max(rows, int(share * len(Y)))]
    taken = rng.choice(pool, rows, replace=False)
    return taken, np.setdiff1d(np.arange(len(Y)), taken)


def distance(Y: Array, other: Array) -> float:
    """Return the root mean square difference of the correlations, over pairs of labels."""
    off_diagonal = ~np.eye(Y.shape[1], dtype=bool)
    return float(np.sqrt(np.mean((correlations(Y) - correlations(other))[off_diagonal] ** 2)))


def prior_of(Y: Array, kind: str) -> Array:
    """Return R: the mean of y yᵀ over rows (the paper's form for categories), or correlations."""
    return attribute_prior(Y) if kind == "signs" else correlations(Y)
