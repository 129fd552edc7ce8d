"""A learner's weights as one matrix."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.online.ranker import OnlineRanker

__all__ = ["matrix_of", "own_weights", "weight_matrix"]

# A dense matrix of more numbers than this would surprise: it becomes sparse.
DENSE_COEF_LIMIT = 50_000_000


def own_weights(found: dict[str, Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the features that have weights and these, (features, K), without the constant one."""
    own = found["features"] >= 0
    return found["features"][own], found["weights"][own]


def width_of(ranker: OnlineRanker, features: npt.NDArray[Any]) -> int:
    """Return how many columns the weights of a ranker have."""
    declared, seen = ranker._settings["n_features"], getattr(ranker, "n_features_in_", 0)
    return max(int(declared), int(seen), int(features.max(initial=-1)) + 1)


def matrix_of(
    ranker: OnlineRanker,
    features: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    unseen: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any] | sp.csr_array:
    """Return weights, (features, K), as a matrix (K, n); sparse when large.

    Parameters
    ----------
    ranker : OnlineRanker
        Whose weights they are.
    features : array of int
        The features that have weights.
    weights : array of shape (features, K)
        Their weights.
    unseen : array of shape (K,), optional
        The weight of a declared feature that was not met; zero by default.
    """
    n, labels = width_of(ranker, features), weights.shape[1]
    size = n * labels
    if size <= DENSE_COEF_LIMIT:
        dense = np.zeros((labels, n), dtype=weights.dtype)
        if unseen is not None:
            dense[:, : ranker._settings["n_features"]] = unseen[:, None]
        dense[:, features] = weights.T
        return np.asarray(dense)
    if unseen is not None and unseen.any():
        raise ValueError(
            f"coef_ would have {size:,} numbers, none of them zero in the entropic geometry"
        )
    rows, columns = np.nonzero(weights)
    return sp.csr_array((weights[rows, columns], (columns, features[rows])), shape=(labels, n))


def weight_matrix(ranker: OnlineRanker) -> npt.NDArray[Any] | sp.csr_array:
    """Return the weights that predict, (K, n); sparse when large."""
    found = ranker._native.weights()
    return matrix_of(ranker, *own_weights(found), found["unseen"])
