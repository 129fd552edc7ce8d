"""Training subsets whose labels go together otherwise than in the test set, and the right prior.

The paper says only that it drew such subsets. Here the agreement of a row with the correlations c
of all training labels is Σ_{l≠k} c_lk (y_l − p_l)(y_k − p_k), p being the labels' frequencies, and
rows are drawn from the share with the least agreement: labels that usually go together are apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong import attribute_prior

Array = npt.NDArray[Any]

PRIORS = ("signs", "correlations")


def correlations(Y: Array) -> Array:
    """Return the correlations of labels; one that is always or never there has none."""
    centred = Y - Y.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    safe = np.where(length > 0, length, 1.0)
    found = (centred / safe).T @ (centred / safe)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def agreement(Y: Array) -> Array:
    """Return how far each row's labels go together as they do in all rows."""
    c = correlations(Y)
    np.fill_diagonal(c, 0.0)
    centred = Y - Y.mean(axis=0)
    return np.asarray(((centred @ c) * centred).sum(axis=1))


def draw(Y: Array, rows: int, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return so many rows from the share that agrees least, and the rows that are left."""
    # Rows with the same labels agree alike: chance decides among them.
    order = np.lexsort((rng.random(len(Y)), agreement(Y)))
    pool = order[: max(rows, int(share * len(Y)))]
    taken = rng.choice(pool, rows, replace=False)
    return taken, np.setdiff1d(np.arange(len(Y)), taken)


def distance(Y: Array, other: Array) -> float:
    """Return how far apart the correlations are, a pair of labels (root mean square)."""
    apart = ~np.eye(Y.shape[1], dtype=bool)
    return float(np.sqrt(np.mean((correlations(Y) - correlations(other))[apart] ** 2)))


def prior_of(Y: Array, kind: str) -> Array:
    """Return R: the mean of y yᵀ over rows, as the paper has it for categories; or correlations."""
    return attribute_prior(Y) if kind == "signs" else correlations(Y)
