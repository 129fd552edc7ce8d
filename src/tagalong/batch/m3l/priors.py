"""Priors on label correlations: the matrix R of M3L."""

import numpy as np
import numpy.typing as npt

from tagalong.batch.m3l.matrices import as_dense
from tagalong.learning.input_types import MatrixLike

__all__ = ["attribute_prior", "checked_prior", "cooccurrence_prior"]

Matrix = npt.NDArray[np.float64]

# Tolerated asymmetry relative to the largest entry, and tolerated negative eigenvalue relative to
# the largest one. A product computed in single precision has rounding errors of this size.
TOLERANCE = 1e-6


def attribute_prior(A: npt.ArrayLike, p: npt.ArrayLike | None = None) -> Matrix:
    r"""Return the prior :math:`R = \sum_c p(c)\, y_c y_c^T` of categories with known attributes.

    Parameters
    ----------
    A : array of shape (categories, attributes)
        Whether each category has each attribute, as 0 and 1 or as -1 and 1. The labels to learn
        are the attributes.
    p : array of shape (categories,), optional
        Expected frequency of each category, scaled to sum to 1 (default: all equal).

    Returns
    -------
    array of shape (attributes, attributes)
        The prior. It is singular if there are fewer categories than attributes, which is allowed.

    Examples
    --------
    >>> from tagalong import attribute_prior
    >>> attribute_prior([[1, 1, 0], [0, 1, 1]]).tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]
    """
    signs = as_signs(A, "A")
    if p is None:
        frequency = np.full(len(signs), 1 / len(signs))
    else:
        frequency = np.asarray(p, dtype=np.float64)
        if frequency.shape != (len(signs),):
            raise ValueError(
                f"p must have shape ({len(signs)},), one number per category, got shape "
                f"{frequency.shape}"
            )
        if not (np.isfinite(frequency).all() and (frequency >= 0).all() and frequency.sum() > 0):
            raise ValueError("p must have no negative or infinite numbers and a positive sum")
        frequency = frequency / frequency.sum()
    prior: Matrix = (signs.T * frequency) @ signs
    return prior


def as_signs(A: npt.ArrayLike, name: str) -> Matrix:
    """Return attributes, given as 0 and 1 or as -1 and 1, as -1 and 1."""
    signs = np.asarray(A, dtype=np.float64)
    if signs.ndim != 2 or 0 in signs.shape:
        raise ValueError(
            f"{name} must have one row per category and one column per attribute, got shape "
            f"{signs.shape}"
        )
    if not np.isin(signs, (-1, 0, 1)).all() or (
        (signs == 0).any() and (signs == -1).any()  # with -1 as "no", 0 has no meaning
    ):
        raise ValueError(f"all entries of {name} must be 0 or 1, or all must be -1 or 1")
    return np.where(signs > 0, 1.0, -1.0)


def cooccurrence_prior(counts: MatrixLike) -> Matrix:
    r"""Return the prior :math:`R_{lk} = n_{lk} / \sqrt{n_l n_k}` of labels that occur together.

    Parameters
    ----------
    counts : array of shape (labels, labels)
        Number of items with both labels; on the diagonal, number of items with the label. A label
        that never occurs is independent of all others.
    """
    both = as_dense(counts).astype(np.float64)
    if both.ndim != 2 or both.shape[0] != both.shape[1]:
        raise ValueError(
            f"counts must have one row and one column per label, got shape {both.shape}"
        )
    root = np.sqrt(both.diagonal())
    divisor = np.where(root > 0, root, 1.0)
    prior: Matrix = both / np.outer(divisor, divisor)
    np.fill_diagonal(prior, 1.0)
    return prior


def checked_prior(prior: MatrixLike, labels: int) -> Matrix:
    """Return a valid prior for this number of labels as an array; raise ValueError otherwise.

    It must be symmetric and positive semi-definite up to ``TOLERANCE``; it may be singular.
    """
    try:
        R = as_dense(prior).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"prior must be None, 'cooccurrence' or a matrix of numbers, got {prior!r}"
        ) from None
    if R.shape != (labels, labels):
        raise ValueError(
            f"prior must have shape ({labels}, {labels}), one row and one column per label, got "
            f"shape {R.shape}"
        )
    if not np.isfinite(R).all():
        row, column = np.argwhere(~np.isfinite(R))[0]
        raise ValueError(
            f"prior: row {row}, column {column} is {R[row, column]}; all entries must be finite"
        )
    largest = float(np.abs(R).max(initial=0.0))
    asymmetry = np.abs(R - R.T)
    if asymmetry.max(initial=0.0) > TOLERANCE * largest:
        row, column = np.unravel_index(int(asymmetry.argmax()), asymmetry.shape)
        raise ValueError(
            f"prior must be symmetric, but row {row}, column {column} is {R[row, column]:g} and "
            f"row {column}, column {row} is {R[column, row]:g}"
        )
    R = (R + R.T) / 2
    values = np.linalg.eigvalsh(R)
    if values[0] < -TOLERANCE * max(values[-1], -values[0]):
        raise ValueError(
            f"prior must be positive semi-definite, but its smallest eigenvalue is {values[0]:g}"
        )
    return R
