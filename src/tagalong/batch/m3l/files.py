"""Conversion of fitted M3L models to and from the contents of model files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.batch.m3l.fit import Fit
from tagalong.batch.m3l.kernels import Kernel
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
    for name in ("loss", "class_weight"):
        params[name] = _decoded(params[name])
    return params


def fit_from(header: Mapping[str, Any], arrays: model_files.Arrays) -> Fit:
    """Return the `Fit` from the contents of a file; raise ValueError if shapes do not match."""
    labels = Labels(map(model_files.decode_label, header["labels"]))
    numbers = header["numbers"]
    slope, intercept = numbers["slope"]
    return Fit(
        model=_model_from(header, arrays, len(labels)),
        labels=labels,
        single=header["single"],
        rows=int(numbers["rows"]),
        dual=arrays.get("dual"),
        place=None,
        dual_objective=float(numbers["dual_objective"]),
        duality_gap=float(numbers["duality_gap"]),
        passes=int(numbers["n_iter"]),
        curve=(slope, intercept),
    )


def _model_from(
    header: Mapping[str, Any], arrays: model_files.Arrays, labels: int
) -> LinearModel | KernelModel:
    columns = header["n_features_in"]
    if "weights" in arrays:
        features, weights = arrays["features"], arrays["weights"]
        if weights.shape != (len(features), labels) or (
            len(features) and not 0 <= features.min() <= features.max() < columns
        ):
            raise ValueError("its weights do not match its labels and features")
        return LinearModel(features, weights, columns)
    vectors: Any = arrays.get("vectors")
    support, coefficients = arrays["support"], arrays["coefficients"]
    if "vector_values" in arrays:
        vectors = sp.csr_array(
            (arrays["vector_values"], arrays["vector_indices"], arrays["vector_starts"]),
            shape=(len(support), columns),
        )
        vectors.check_format()
    if coefficients.shape != (len(support), labels) or (
        vectors is not None and vectors.shape != (len(support), columns)
    ):
        raise ValueError("its support vectors do not match its labels and features")
    return KernelModel(Kernel(*header["kernel"]), support, vectors, coefficients)


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
