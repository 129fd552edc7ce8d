"""A learner's weights as one matrix."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import _native as core

__all__ = [
    "FeatureCounts",
    "coef_matrix",
    "weight_matrix",
    "weights_as_dict",
    "without_constant_feature",
]

# `coef_` is sparse if a dense matrix would have more entries than this.
MAX_DENSE_ENTRIES = 50_000_000


class FeatureCounts(NamedTuple):
    """How many features a learner has been told about: by its parameters, by its matrices."""

    by_parameter: int
    by_matrix: int


def weights_as_dict(found: core.FeatureWeights) -> dict[str, npt.NDArray[Any]]:
    """Return ``features``, ``weights`` and, where there are such, those of ``unseen`` features."""
    out = {"features": found.features, "weights": found.weights}
    return out if found.unseen is None else {**out, "unseen": found.unseen}


def without_constant_feature(
    found: core.FeatureWeights,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the features that have weights and these, (features, K), without the constant one."""
    own = found.features >= 0
    return found.features[own], found.weights[own]


def coef_matrix(
    features: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    declared: FeatureCounts,
    unseen: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any] | sp.csr_array:
    """Return weights, (features, K), as a matrix (K, n); sparse when large.

    Parameters
    ----------
    features : array of int
        The features that have weights.
    weights : array of shape (features, K)
        Their weights.
    declared : FeatureCounts
        How many features the learner knows of.
    unseen : array of shape (K,), optional
        The weight of a declared feature that was not met; zero by default.
    """
    n, labels = max(*declared, int(features.max(initial=-1)) + 1), weights.shape[1]
    size = n * labels
    if size <= MAX_DENSE_ENTRIES:
        dense = np.zeros((labels, n), dtype=weights.dtype)
        if unseen is not None:
            dense[:, : declared.by_parameter] = unseen[:, None]
        dense[:, features] = weights.T
        return np.asarray(dense)
    if unseen is not None and unseen.any():
        raise ValueError(
            f"coef_ would have {size:,} numbers, none of them zero in the entropic geometry"
        )
    rows, columns = np.nonzero(weights)
    return sp.csr_array((weights[rows, columns], (columns, features[rows])), shape=(labels, n))


def weight_matrix(
    found: core.FeatureWeights, declared: FeatureCounts
) -> npt.NDArray[Any] | sp.csr_array:
    """Return the weights that predict, as a native learner gives them, as a matrix (K, n)."""
    return coef_matrix(*without_constant_feature(found), declared, found.unseen)
