"""Streams from the model of P3: relevance is drawn with the probability of a true margin."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Stream(NamedTuple):
    X: Array
    Y: npt.NDArray[np.int64]
    P: Array  # the true probabilities


def true_stream(
    seed: int, rows: int, features: int, labels: int, loss: str = "square", scale: float = 1.0
) -> Stream:
    """Unit rows; each label is relevant with the probability of its true margin."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    U = rng.normal(size=(labels, features))
    U *= scale / np.linalg.norm(U, axis=1, keepdims=True)
    margins = X @ U.T
    P = (1 + margins) / 2 if loss == "square" else 1 / (1 + np.exp(-margins))
    return Stream(X, (rng.random(P.shape) < P).astype(np.int64), P)


def sparse_rows(seed: int, rows: int, features: int, labels: int) -> Stream:
    """Rows with few features each, so that features appear one after another."""
    stream = true_stream(seed, rows, features, labels)
    rng = np.random.default_rng(seed + 1)
    X = stream.X * (rng.random(stream.X.shape) < 0.3)
    X[0] = 0.0  # a row without features counts as a round
    return stream._replace(X=X)
