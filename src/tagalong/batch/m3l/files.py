"""Conversion of fitted M3L models to and from the contents of model files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong import parameters
from tagalong.batch.m3l.fit import Fit
from tagalong.batch.m3l.kernels import KERNELS, Kernel
from tagalong.batch.m3l.matrices import as_dense, is_sparse
from tagalong.batch.m3l.models import KernelModel, LinearModel
from tagalong.learning import model_files
from tagalong.learning.labels import Labels

__all__ = ["fit_from", "params_from", "to_parts"]

Array = npt.NDArray[Any]


def to_parts(
    params: dict[str, Any], columns: dict[str, Any], fit: Fit
) -> tuple[dict[str, Any], model_files.Arrays]:
    """Return the header and the arrays of an M3LClassifier.

    Parameters
    ----------
    params : dict
        The estimator's parameters.
    columns : dict
        The columns of the training data, as header fields.
    fit : Fit
        The result of training.
    """
    params = dict(params)
    # A file without newer parameters can be read by earlier versions, too.
    if params["constant"] == 0:
        del params["constant"]
    if params["solver"] == "auto":
        del params["solver"]
    arrays: model_files.Arrays = {}
    if callable(params["kernel"]):
        raise ValueError("a model whose kernel is a function cannot be saved: files hold no code")
    if params["prior"] is not None and not isinstance(params["prior"], str):
        arrays["prior"] = as_dense(params["prior"]).astype(np.float64)
        params["prior"] = None
    for name in ("loss", "class_weight"):
        params[name] = _encoded(params[name])
    if not isinstance(params["random_state"], (int, np.integer, type(None))):
        params["random_state"] = None
    model = fit.model
    header: dict[str, Any] = {
        "params": params,
        "labels": [model_files.encode_label(name) for name in fit.labels.names],
        "single": fit.single,
        **columns,
        "numbers": {
            "dual_objective": fit.dual_objective,
            "duality_gap": fit.duality_gap,
            "n_iter": fit.passes,
            "rows": fit.rows,
            "slope": list(fit.curve),
        },
    }
    if isinstance(model, LinearModel):
        arrays |= {"features": model.features, "weights": model.weights}
        if model.intercept is not None:
            arrays["intercept"] = model.intercept
        return header, arrays
    kernel = model.kernel
    header["kernel"] = [kernel.name, kernel.gamma, kernel.degree, kernel.coef0]
    arrays |= {"support": model.support, "coefficients": model.coefficients}
    if fit.dual is not None:
        arrays["dual"] = fit.dual
    if is_sparse(model.vectors):
        vectors = sp.csr_array(model.vectors)
        arrays |= {
            "vector_values": vectors.data,
            "vector_indices": vectors.indices,
            "vector_starts": vectors.indptr,
        }
    elif model.vectors is not None:
        arrays["vectors"] = model.vectors
    return header, arrays


def params_from(header: Mapping[str, Any], arrays: model_files.Arrays) -> dict[str, Any]:
    """Return the estimator's parameters from the contents of a file."""
    params = dict(header["params"])
    if "prior" in arrays:
        params["prior"] = arrays["prior"]
    elif not isinstance(params["prior"], str | None):
        raise ValueError(f"prior must be a name or an array, got {params['prior']!r}")
    for name in ("loss", "class_weight"):
        params[name] = _decoded(params[name])
    return params


def fit_from(header: Mapping[str, Any], arrays: model_files.Arrays) -> Fit:
    """Return the `Fit` from the contents of a file; raise ValueError if they are invalid."""
    labels = Labels(map(model_files.decode_label, header["labels"]))
    numbers = header["numbers"]
    slope, intercept = (parameters.real(number, "slope") for number in numbers["slope"])
    rows = parameters.integer(numbers["rows"], "rows", 0, 2**62)
    model = _model_from(header, arrays, len(labels), rows)
    dual = arrays.get("dual")
    if dual is not None and isinstance(model, KernelModel):
        _checked_numbers(arrays, "dual", (len(model.support), len(labels)))
    return Fit(
        model=model,
        labels=labels,
        single=parameters.flag(header["single"], "single"),
        rows=rows,
        dual=dual,
        place=None,
        dual_objective=parameters.real(numbers["dual_objective"], "dual_objective"),
        duality_gap=parameters.real(numbers["duality_gap"], "duality_gap"),
        passes=parameters.integer(numbers["n_iter"], "n_iter", 0, 2**62),
        curve=(slope, intercept),
    )


def _model_from(
    header: Mapping[str, Any], arrays: model_files.Arrays, labels: int, rows: int
) -> LinearModel | KernelModel:
    columns = parameters.integer(header["n_features_in"], "n_features_in", 0, 2**31)
    if "weights" in arrays:
        features = _checked_indices(arrays, "features", columns)
        weights = _checked_numbers(arrays, "weights", (len(features), labels))
        has_intercept = "intercept" in arrays
        intercept = _checked_numbers(arrays, "intercept", (labels,)) if has_intercept else None
        return LinearModel(features, weights, columns, intercept)
    support = _checked_indices(arrays, "support", rows)
    coefficients = _checked_numbers(arrays, "coefficients", (len(support), labels))
    kernel = _kernel_from(*header["kernel"])
    vectors: Any = None
    if "vector_values" in arrays:
        values = _checked_numbers(arrays, "vector_values", arrays["vector_values"].shape)
        parts = (values, arrays["vector_indices"], arrays["vector_starts"])
        vectors = sp.csr_array(parts, shape=(len(support), columns))
        vectors.check_format(full_check=True)
    elif "vectors" in arrays:
        vectors = _checked_numbers(arrays, "vectors", (len(support), columns))
    if (vectors is None) != (kernel.name == "precomputed"):
        raise ValueError("its support vectors do not fit its kernel")
    return KernelModel(kernel, support, vectors, coefficients)


def _kernel_from(name: Any, gamma: Any, degree: Any, coef0: Any) -> Kernel:
    return Kernel(
        parameters.choice(name, "kernel", KERNELS),
        parameters.positive(gamma, "gamma"),
        parameters.integer(degree, "degree", 1),
        parameters.real(coef0, "coef0"),
    )


def _checked_indices(arrays: model_files.Arrays, name: str, count: int) -> Array:
    """Return ascending numbers from 0 to count - 1."""
    found: Array = arrays[name]
    if found.ndim != 1 or found.dtype.kind != "i":
        raise ValueError(f"'{name}' must be an array of integers")
    if len(found) and not (found[0] >= 0 and found[-1] < count and (found[1:] > found[:-1]).all()):
        raise ValueError(f"'{name}' must have ascending numbers from 0 to {count - 1}")
    return found


def _checked_numbers(arrays: model_files.Arrays, name: str, shape: tuple[int, ...]) -> Array:
    found: Array = arrays[name]
    if found.shape != shape or found.dtype.kind != "f" or not np.isfinite(found).all():
        raise ValueError(f"'{name}' must be finite numbers of shape {shape}")
    return found


def _encoded(value: object) -> Any:
    """Return ``loss`` or ``class_weight`` as a JSON value; a mapping becomes a list of pairs."""
    if isinstance(value, Mapping):
        pairs = [[model_files.encode_label(key), _encoded(each)] for key, each in value.items()]
        return {"mapping": pairs}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _decoded(value: object) -> Any:
    if isinstance(value, dict):
        return {model_files.decode_label(key): _decoded(each) for key, each in value["mapping"]}
    return value
