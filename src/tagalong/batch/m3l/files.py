"""M3L's part of model files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tagalong.batch.m3l.kernels import Kernel
from tagalong.batch.m3l.matrices import as_dense, is_sparse
from tagalong.batch.m3l.models import KernelModel, LinearModel
from tagalong.learning import model_files
from tagalong.learning.estimators import columns_of, restore_columns
from tagalong.learning.labels import Labels, label_array

__all__ = ["by_label", "params_from", "restore", "to_file"]

Array = npt.NDArray[Any]


def by_label(dual: Array, place: Array | None) -> Array:
    """Return dual variables as (rows, labels), from blocks of lanes if labels have places."""
    if place is None:
        return dual
    lanes = dual.shape[2]
    out = np.empty((dual.shape[1], len(place)), dtype=dual.dtype)
    for label, at in enumerate(place):
        out[:, label] = dual[at // lanes, :, at % lanes]
    return out


def to_file(model: Any) -> tuple[dict[str, Any], model_files.Arrays]:
    """Return the header and the arrays of an M3LClassifier."""
    params = dict(model.get_params())
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
    found = model._model
    header: dict[str, Any] = {
        "params": params,
        "labels": [model_files.encode_label(name) for name in model._labels.names],
        "single": model._single,
        **columns_of(model),
        "numbers": {
            "dual_objective": model.dual_objective_,
            "duality_gap": model.duality_gap_,
            "n_iter": model.n_iter_,
            "rows": model._rows,
            "slope": list(model._slope),
        },
    }
    if isinstance(found, LinearModel):
        arrays |= {"features": found.features, "weights": found.weights}
        return header, arrays
    kernel = found.kernel
    header["kernel"] = [kernel.name, kernel.gamma, kernel.degree, kernel.coef0]
    arrays |= {"support": found.support, "coefficients": found.coefficients, "dual": model._dual}
    if is_sparse(found.vectors):
        vectors = sp.csr_array(found.vectors)
        arrays |= {
            "vector_values": vectors.data,
            "vector_indices": vectors.indices,
            "vector_starts": vectors.indptr,
        }
    elif found.vectors is not None:
        arrays["vectors"] = found.vectors
    return header, arrays


def params_from(header: Mapping[str, Any], arrays: model_files.Arrays) -> dict[str, Any]:
    """Return the parameters that a file kept."""
    params = dict(header["params"])
    if "prior" in arrays:
        params["prior"] = arrays["prior"]
    for name in ("loss", "class_weight"):
        params[name] = _decoded(params[name])
    return params


def restore(model: Any, header: Mapping[str, Any], arrays: model_files.Arrays) -> None:
    """Tell an M3LClassifier what a file kept of its training."""
    model._labels = Labels(map(model_files.decode_label, header["labels"]))
    model.classes_ = label_array(model._labels.names)
    model._single = header["single"]
    restore_columns(model, header)
    numbers = header["numbers"]
    model.dual_objective_ = float(numbers["dual_objective"])
    model.duality_gap_ = float(numbers["duality_gap"])
    model.n_iter_ = int(numbers["n_iter"])
    model._rows = int(numbers["rows"])
    model._slope = tuple(numbers["slope"])
    model._dual, model._place = arrays.get("dual"), None
    columns, labels = header["n_features_in"], len(model._labels)
    if "weights" in arrays:
        features, weights = arrays["features"], arrays["weights"]
        if weights.shape != (len(features), labels) or (
            len(features) and not 0 <= features.min() <= features.max() < columns
        ):
            raise ValueError("its weights do not fit its labels and features")
        model._model = LinearModel(features, weights, columns)
        return
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
        raise ValueError("its support vectors do not fit its labels and features")
    model._model = KernelModel(Kernel(*header["kernel"]), support, vectors, coefficients)


def _encoded(value: Any) -> Any:
    """Return costs and weights of classes in terms of JSON; mappings as pairs."""
    if isinstance(value, Mapping):
        pairs = [[model_files.encode_label(key), _encoded(each)] for key, each in value.items()]
        return {"mapping": pairs}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        return {model_files.decode_label(key): _decoded(each) for key, each in value["mapping"]}
    return value
