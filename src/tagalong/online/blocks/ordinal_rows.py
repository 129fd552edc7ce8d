"""The reduction of ordinal regression to blocks of rows (P2, Section 3.2)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["OrdinalRows"]


@dataclass(frozen=True)
class OrdinalRows:
    """The rows of a block learner for rows x of n features and grades 0 ... k - 1.

    The row of threshold j is z = (x, -e_j). If ``signed`` is False, the learner has the weights
    (w, thresholds) of these columns. If it is True, the learner's weights cannot be negative; the
    rows are (z_1, -z_1, z_2, -z_2, ...), and a weight is the difference of the learner's weights of
    two columns. In this order the sums of equal weights cancel exactly, so that all scores of a new
    learner are 0.

    Parameters
    ----------
    features : int
        n.
    thresholds : int
        k - 1.
    signed : bool
        Whether each column has a second one with the opposite sign.
    """

    features: int
    thresholds: int
    signed: bool

    @property
    def columns(self) -> int:
        """The number of columns of the learner's rows."""
        return (self.features + self.thresholds) * (2 if self.signed else 1)

    def blocks(self, X: sp.csr_array, rows: npt.NDArray[np.int64]) -> sp.csr_array:
        """Return the learner's rows for some rows of X, block by block.

        Parameters
        ----------
        X : csr_array of shape (rows, n)
            All rows.
        rows : array of int
            The numbers of the rows whose blocks are needed.
        """
        copies = X[np.repeat(rows, self.thresholds)]
        ones = sp.csr_array(
            (
                np.full(copies.shape[0], -1, dtype=X.dtype),
                np.tile(np.arange(self.thresholds, dtype=np.int32), len(rows)),
                np.arange(copies.shape[0] + 1, dtype=np.int32),
            ),
            shape=(copies.shape[0], self.thresholds),
        )
        return self._both_signs(copies, ones)

    def scored(self, X: sp.csr_array) -> sp.csr_array:
        """Return rows whose scores are those of X, without thresholds.

        Parameters
        ----------
        X : csr_array of shape (rows, n)
            Rows.
        """
        return self._both_signs(X, sp.csr_array((X.shape[0], self.thresholds), dtype=X.dtype))

    def _both_signs(self, left: sp.csr_array, right: sp.csr_array) -> sp.csr_array:
        z = sp.csr_array(sp.hstack([left, right], format="csr"))
        if not self.signed:
            return z
        values = np.stack([z.data, -z.data], axis=1).ravel()
        first = 2 * z.indices.astype(np.int64)
        columns = np.stack([first, first + 1], axis=1).ravel().astype(z.indices.dtype)
        return sp.csr_array((values, columns, 2 * z.indptr), shape=(z.shape[0], 2 * z.shape[1]))

    def weights(self, learnt: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return w and the thresholds, (n,) and (k - 1,), from the learner's weights.

        Parameters
        ----------
        learnt : array of shape (columns,)
            The weights of the block learner.
        """
        found = learnt[::2] - learnt[1::2] if self.signed else learnt
        return found[: self.features], found[self.features :]
