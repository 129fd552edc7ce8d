"""What is known beforehand about how labels go together: the matrix R of M3L."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tagalong.batch.m3l.matrices import as_dense

__all__ = ["attribute_prior", "checked_prior", "cooccurrence_prior"]

Matrix = npt.NDArray[np.float64]

# How far a prior may be from symmetric, and its least eigenvalue below 0, in relation to its
# largest entry and eigenvalue: what rounding leaves of a product in single precision.
TOLERANCE = 1e-6


def attribute_prior(A: Any, p: Any = None) -> Matrix:
    r"""Return the prior :math:`R = \sum_c p(c)\, y_c y_c^T` of categories with known attributes.

    Parameters
    ----------
    A : array of shape (categories, attributes)
        Which category has which attribute, as 0 and 1 or as -1 and 1; the labels to be learnt are
        the attributes.
    p : array of shape (categories,), optional
        How frequent the categories are expected to be; equally by default. Scaled to sum to 1.

    Returns
    -------
    array of shape (attributes, attributes)
        Singular if there are fewer categories than attributes, which does no harm.

    Examples
    --------
    >>> from tagalong import attribute_prior
    >>> attribute_prior([[1, 1, 0], [0, 1, 1]]).tolist()
    [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]
    """
    signs = signs_of(A, "A")
    if p is None:
        share = np.full(len(signs), 1 / len(signs))
    else:
        share = np.asarray(p, dtype=np.float64)
        if share.shape != (len(signs),):
            raise ValueError(
                f"p must have shape ({len(signs)},), a number a category, got {share.shape}"
            )
        if not (np.isfinite(share).all() and (share >= 0).all() and share.sum() > 0):
            raise ValueError("p must have no negative numbers and a positive sum")
        share = share / share.sum()
    found: Matrix = (signs.T * share) @ signs
    return found


def signs_of(A: Any, name: str) -> Matrix:
    """Return attributes of categories as -1 and 1."""
    signs = np.asarray(A, dtype=np.float64)
    if signs.ndim != 2 or 0 in signs.shape:
        raise ValueError(f"{name} must have a row a category, a column an attribute")
    if not np.isin(signs, (-1, 0, 1)).all() or (
        (signs == 0).any() and (signs == -1).any()  # 0 would mean "no" here and nothing there
    ):
        raise ValueError(f"{name} must have 0 and 1, or -1 and 1, everywhere")
    return np.where(signs > 0, 1.0, -1.0)


def cooccurrence_prior(counts: Any) -> Matrix:
    r"""Return the prior :math:`R_{lk} = n_{lk} / \sqrt{n_l n_k}` of labels that occur together.

    Parameters
    ----------
    counts : array of shape (labels, labels)
        How many items have both labels; on the diagonal how many have the label at all. A label
        that never occurs is left to itself.
    """
    both = as_dense(counts).astype(np.float64)
    if both.ndim != 2 or both.shape[0] != both.shape[1]:
        raise ValueError(f"counts must have a row and a column a label, got shape {both.shape}")
    alone = np.sqrt(both.diagonal())
    safe = np.where(alone > 0, alone, 1.0)
    found: Matrix = both / np.outer(safe, safe)
    np.fill_diagonal(found, 1.0)
    return found


def checked_prior(prior: Any, labels: int) -> Matrix:
    """Return a matrix that may be a prior of so many labels; ValueError if it may not.

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
            f"prior must have shape ({labels}, {labels}), a row and a column a label, got {R.shape}"
        )
    if not np.isfinite(R).all():
        row, column = np.argwhere(~np.isfinite(R))[0]
        raise ValueError(f"prior: row {row}, column {column} is {R[row, column]}; must be finite")
    largest = float(np.abs(R).max(initial=0.0))
    odd = np.abs(R - R.T)
    if odd.max(initial=0.0) > TOLERANCE * largest:
        row, column = np.unravel_index(int(odd.argmax()), odd.shape)
        raise ValueError(
            f"prior must be symmetric, but row {row}, column {column} is {R[row, column]:g} and "
            f"row {column}, column {row} is {R[column, row]:g}"
        )
    R = (R + R.T) / 2
    values = np.linalg.eigvalsh(R)
    if values[0] < -TOLERANCE * max(values[-1], -values[0]):
        raise ValueError(
            f"prior must be positive semi-definite, but its least eigenvalue is {values[0]:g}"
        )
    return R
