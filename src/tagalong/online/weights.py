"""Conversion of native weights to the matrix ``coef_`` and to a dict."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native as core

__all__ = [
    "FeatureCounts",
    "coef_matrix",
    "intercept",
    "native_coef_matrix",
    "weights_as_dict",
    "without_constant_feature",
]

# `coef_` is sparse if a dense matrix would have more entries than this.
MAX_DENSE_ENTRIES = 50_000_000


class FeatureCounts(NamedTuple):
    """The number of features: from the parameter ``n_features``, and from the learnt matrices."""

    by_parameter: int
    by_matrix: int


def weights_as_dict(found: core.FeatureWeights) -> dict[str, npt.NDArray[Any]]:
    """Return ``features``, ``weights`` and, if it exists, the weight of ``unseen`` features."""
    out = {"features": found.features, "weights": found.weights}
    return out if found.unseen is None else {**out, "unseen": found.unseen}


def without_constant_feature(
    found: core.FeatureWeights,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the features and their weights, (features, K), without the constant feature."""
    others = found.features >= 0
    return found.features[others], found.weights[others]


def intercept(found: core.FeatureWeights, constant: float) -> npt.NDArray[Any]:
    """Return the contribution of the constant feature to the scores, (K,).

    Parameters
    ----------
    found : FeatureWeights
        The weights of a native learner.
    constant : float
        The value of the constant feature; 0 if there is none.
    """
    weights = found.weights[found.features == -1]
    if len(weights) > 0:
        return np.asarray(constant * weights[0])
    if found.unseen is None or constant == 0:
        return np.zeros(found.weights.shape[1], dtype=found.weights.dtype)
    return np.asarray(constant * found.unseen)


def coef_matrix(
    features: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    counts: FeatureCounts,
    unseen: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any] | sp.csr_array:
    """Return weights (features, K) as a matrix (K, n), sparse if it is large.

    Parameters
    ----------
    features : array of int
        The features that have weights.
    weights : array of shape (features, K)
        Their weights.
    counts : FeatureCounts
        The declared numbers of features; n is at least each of them.
    unseen : array of shape (K,), optional
        The weights of declared features that no example had; zero by default.
    """
    n, labels = max(*counts, int(features.max(initial=-1)) + 1), weights.shape[1]
    size = n * labels
    if size <= MAX_DENSE_ENTRIES:
        dense = np.zeros((labels, n), dtype=weights.dtype)
        if unseen is not None:
            dense[:, : counts.by_parameter] = unseen[:, None]
        dense[:, features] = weights.T
        return np.asarray(dense)
    if unseen is not None and unseen.any():
        raise ValueError(
            f"coef_ would have {size:,} entries, none of them zero in the entropic geometry; the "
            f"limit is {MAX_DENSE_ENTRIES:,}"
        )
    rows, columns = np.nonzero(weights)
    return sp.csr_array((weights[rows, columns], (columns, features[rows])), shape=(labels, n))


def native_coef_matrix(
    found: core.FeatureWeights, counts: FeatureCounts
) -> npt.NDArray[Any] | sp.csr_array:
    """Return a native learner's prediction weights as a matrix (K, n)."""
    return coef_matrix(*without_constant_feature(found), counts, found.unseen)
