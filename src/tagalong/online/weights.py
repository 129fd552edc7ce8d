"""A learner's weights as one matrix."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.online.ranker import OnlineRanker

__all__ = ["weight_matrix"]

# A dense matrix of more numbers than this would surprise: it becomes sparse.
DENSE_COEF_LIMIT = 50_000_000


def weight_matrix(ranker: OnlineRanker) -> npt.NDArray[Any] | sp.csr_array:
    """Return the weights that predict, (K, n); sparse when large."""
    found = ranker._native.weights()
    features, weights, unseen = found["features"], found["weights"], found["unseen"]
    own = features >= 0  # the constant feature is none of the user's
    features, weights = features[own], weights[own]
    declared, labels = ranker._settings["n_features"], len(ranker._labels)
    n = max(declared, int(features.max(initial=-1)) + 1, getattr(ranker, "n_features_in_", 0))
    size = n * labels
    if size <= DENSE_COEF_LIMIT:
        dense = np.zeros((labels, n), dtype=weights.dtype)
        # Declared features have weight before they are met, in the entropic geometry.
        dense[:, :declared] = unseen[:, None]
        dense[:, features] = weights.T
        return np.asarray(dense)
    if unseen.any():
        raise ValueError(
            f"coef_ would have {size:,} numbers, none of them zero in the entropic geometry"
        )
    rows, columns = np.nonzero(weights)
    return sp.csr_array((weights[rows, columns], (columns, features[rows])), shape=(labels, n))
