"""The weights of a model that is small enough for a dense ``coef_``."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp


class LinearModel(Protocol):
    @property
    def coef_(self) -> npt.NDArray[Any] | sp.csr_array: ...


def dense_coef(model: LinearModel) -> npt.NDArray[Any]:
    """Return ``coef_``, which must be an array and not a sparse matrix."""
    weights = model.coef_
    assert isinstance(weights, np.ndarray)
    return weights
