"""Model files: safetensors with a JSON header, versioned and checksummed.

A file holds arrays and one JSON text, never code, so loading it executes nothing. It is replaced in
one step: a reader sees the old file or the new one. Equal models give equal bytes.
"""

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Hashable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from tagalong.files.replacement import replacing
from tagalong.learning import safetensors_layout
from tagalong.learning.array_codec import StoredArray, decode_arrays, encode_array
from tagalong.learning.older_formats import upgraded
from tagalong.learning.safetensors_layout import Tensor

__all__ = [
    "ModelFileError",
    "Saveable",
    "decode_label",
    "encode_label",
    "load",
    "pack",
    "save",
    "save_parts",
    "unpack",
]

FORMAT = 6
Arrays = dict[str, Any]
"""Arrays by name, or weights in packed form: see `tagalong.learning.array_codec`."""
JsonLabel: TypeAlias = str | int | dict[str, list[Any]]
"""A label in a JSON header; ``{"tuple": [...]}`` is a tuple."""

# Names of files that are not valid Unicode have surrogates, which only an escape can represent.
_SURROGATE = re.compile("[\ud800-\udfff]")

# The module that defines each kind of model; imported when a file of that kind is loaded.
_KINDS = {
    "BlockProjection": "tagalong.online.blocks.projection",
    "CompactRanker": "tagalong.online.compact.learner",
    "LabelRanker": "tagalong.online.label_ranker.learner",
    "M3LClassifier": "tagalong.batch.m3l.classifier",
    "Tagger": "tagalong.tagger.tagger",
    "TextFeatures": "tagalong.text.features",
    "PartialFeedbackRanker": "tagalong.online.partial.learner",
    "OrdinalRanker": "tagalong.online.blocks.ordinal",
    "Predtron": "tagalong.online.predtron.learner",
    "SharedLabelRanker": "tagalong.online.shared_ranker.learner",
    "GradeRanker": "tagalong.online.grades.learner",
}


class ModelFileError(ValueError):
    """The file is not a model, is damaged, or was written by a newer version."""


class Saveable(Protocol):
    """A model that can be written to a file and restored from it."""

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """Return the fields of the JSON header, and the arrays."""

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: Arrays) -> Self:
        """Return the model that ``to_parts`` returned as header and arrays."""


@runtime_checkable
class HasParameters(Protocol):
    """A model whose parameters can be invalid."""

    def check_parameters(self) -> None:
        """Raise ValueError for the first invalid parameter."""


def pack(model: Saveable) -> tuple[dict[str, Any], Arrays]:
    """Return a model as header and arrays, with its kind in the header."""
    kind = type(model).__name__
    if kind not in _KINDS:
        raise ValueError(
            f"a {kind} cannot be saved in a model file; these can: {', '.join(sorted(_KINDS))}"
        )
    if isinstance(model, HasParameters):
        model.check_parameters()  # rather now than when the file is loaded
    header, arrays = model.to_parts()
    return {"kind": kind, **header}, arrays


def unpack(header: dict[str, Any], arrays: Arrays) -> Any:
    """Return the model that `pack` returned as header and arrays."""
    model_class = getattr(import_module(_KINDS[header["kind"]]), header["kind"])
    return model_class.from_parts(header, arrays)


def encode_label(label: Hashable) -> JsonLabel:
    """Return a label as a JSON value: a str, int or bool unchanged, a tuple as an object."""
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    if isinstance(label, str) and not _is_unicode(label):
        raise ValueError(f"label {label!r} cannot be saved: it is not valid Unicode text")
    if isinstance(label, (str, int)):  # bool is an int
        return label
    raise ValueError(
        f"label {label!r} cannot be saved: labels in files are str, int, bool or tuples of them, "
        f"not {type(label).__name__}"
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def decode_label(saved: JsonLabel) -> Hashable:
    """Return the label that `encode_label` wrote; raise ValueError if it is none."""
    if isinstance(saved, dict) and isinstance(parts := saved.get("tuple"), list):
        return tuple(decode_label(part) for part in parts)
    if isinstance(saved, (str, int)) and encode_label(saved) == saved:
        return saved
    raise ValueError(f"{saved!r} is not a label")


def save(model: Saveable, path: str | os.PathLike[str], *, private: bool = False) -> None:
    """Write a model to a file, atomically.

    Parameters
    ----------
    model : Saveable
        The model.
    path : str or path
        The file. One that exists keeps its mode; a symbolic link stays a link.
    private : bool
        Whether a new file is readable by its owner only.
    """
    header, arrays = pack(model)
    save_parts(header, arrays, path, private=private)


def save_parts(
    header: dict[str, Any],
    arrays: Arrays,
    path: str | os.PathLike[str],
    *,
    private: bool = False,
) -> None:
    """Write the header and the arrays that `pack` has returned to a file, atomically.

    The model may change meanwhile. The arrays are removed from their dict as they are written, so
    that their memory is freed.

    Parameters
    ----------
    header : dict
        The header.
    arrays : dict
        The arrays; empty afterwards.
    path, private
        As for `save`.
    """
    header = {"format": FORMAT, "tagalong": version("tagalong"), **header}
    _check_finite(header)
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, default=_plain_number)
    text = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    stored: list[StoredArray] = []
    descriptions: dict[str, Any] = {}
    for name in sorted(arrays):
        parts, description = encode_array(name, arrays.pop(name), plain=_is_compact(header))
        stored += parts
        descriptions |= {part.name: part.description for part in parts if part.description}
        if description:
            descriptions[name] = description
    metadata = {"arrays": json.dumps(descriptions, separators=(",", ":")), "tagalong": text}

    def sign(tensors: Mapping[str, Tensor]) -> dict[str, str]:
        return {"sha256": _checksum(metadata, tensors)}

    with replacing(path, private=private) as file:
        safetensors_layout.write(file, stored, metadata, sign)


def _is_compact(header: Mapping[str, Any]) -> bool:
    """Whether a model is compact: then its arrays are neither compressed nor read, but mapped."""
    learner = header.get("learner") if header.get("kind") == "Tagger" else header
    return isinstance(learner, dict) and learner.get("kind") == "CompactRanker"


def _check_finite(value: object, place: str = "") -> None:
    """Raise ValueError that names the first number of a header that is NaN or infinite."""
    if isinstance(value, dict):
        for name, part in value.items():
            _check_finite(part, f"{place}.{name}" if place else str(name))
    elif isinstance(value, (list, tuple)):
        for part in value:
            _check_finite(part, place)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"the model cannot be saved: its {place} is {value}")


def _plain_number(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(f"{value!r} cannot be saved in a model file")


def load(path: str | os.PathLike[str], features: Any = None) -> Any:
    """Load a model from a file.

    Parameters
    ----------
    path : str or path
        A file that ``save`` has written.
    features : LabelFeatures, optional
        The custom features of a `SharedLabelRanker`. They are code, so the file holds only the
        state that they have learnt.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer version.
    FileNotFoundError
        If the file does not exist.
    """
    path = Path(path)
    _check_is_file(path)
    header, arrays = _read(path)
    if _is_compact(header):
        header, arrays = _mapped(path)
    written, kind = header["format"], header["kind"]
    _insert_custom_features(header, features, path)
    try:
        return unpack(*upgraded(header, arrays, written))
    except Exception as error:  # whatever the contents of a file do, it is the file that is wrong
        problem = f"{error}" if isinstance(error, ValueError) else repr(error)
        raise ModelFileError(f"{path}: not a usable {kind}: {problem}") from error


def _checked_header(text: str, path: Path) -> dict[str, Any]:
    """Return the JSON header of a file; ModelFileError if this version cannot read the file."""
    try:
        header: dict[str, Any] = json.loads(text)
        written, kind = header["format"], header.get("kind")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelFileError(f"{path}: damaged: its header cannot be read") from None
    known = type(written) is int and 1 <= written <= FORMAT
    if not known or not isinstance(kind, str) or kind not in _KINDS:
        raise ModelFileError(
            f"{path}: written by Tagalong {header.get('tagalong', '?')} in file format {written} "
            f"as a {kind}; this is Tagalong {version('tagalong')}, which reads formats up to "
            f"{FORMAT}: upgrade to load it"
        )
    return header


def _insert_custom_features(header: dict[str, Any], features: Any, path: Path) -> None:
    """Put the user's features object into the header, from which ``from_parts`` takes it."""
    learner = header.get("learner") if header["kind"] == "Tagger" else header
    required = learner.get("own_features") if isinstance(learner, dict) else None
    if features is not None and required is None:
        raise ValueError(
            f"{path}: this {header['kind']} has no custom features: load it without features="
        )
    if features is None and required is not None:
        name = required.get("class") if isinstance(required, dict) else None
        raise ModelFileError(
            f"{path}: its features are made by {name}, which is code and not in the file: pass "
            f"it with load(path, features={name}(...))"
        )
    if isinstance(required, dict):
        required["given"] = features


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a file; ModelFileError if it is not a sound file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata: Mapping[str, str] = file.metadata() or {}
            if "tagalong" not in metadata or "sha256" not in metadata:
                raise ModelFileError(f"{path}: a safetensors file, but not a Tagalong model")
            header = _checked_header(metadata["tagalong"], path)
            return header, _read_arrays(file, metadata, header["format"], path)
    except ModelFileError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        problem = f", or truncated: {error}" if _begins_like_a_model(path) else ""
        raise ModelFileError(f"{path}: not a Tagalong model{problem}") from error


def _mapped(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays of a compact model, which stay in the file: processes share them."""
    try:
        metadata, arrays = safetensors_layout.mapped(path)
        header = _checked_header(metadata["tagalong"], path)
        tensors = {name: tensor_of(array) for name, array in arrays.items()}
        sound = _is_compact(header) and metadata["sha256"] == _checksum(metadata, tensors)
    except ModelFileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(f"{path}: not a Tagalong model: {error}") from error
    if not sound:
        raise ModelFileError(f"{path}: damaged: its contents do not match their checksum")
    return header, arrays


def _read_arrays(file: Any, metadata: Mapping[str, str], written: int, path: Path) -> Arrays:
    damaged = ModelFileError(f"{path}: damaged: its contents do not match their checksum")
    names = sorted(file.keys())
    if written < 6:
        arrays = {name: file.get_tensor(name) for name in names}
        if metadata["sha256"] != _checksum_before_6(metadata["tagalong"], arrays):
            raise damaged
        return arrays
    tensors: dict[str, Tensor] = {}

    def read(name: str) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = file.get_tensor(name)
        tensors[name] = tensor_of(array)
        return array

    try:
        descriptions = json.loads(metadata.get("arrays", "{}"))
        if not isinstance(descriptions, dict) or not all(
            isinstance(each, dict) for each in descriptions.values()
        ):
            raise ValueError("its arrays are not described by objects")
        arrays = decode_arrays(descriptions, names, read)
    except (ValueError, RecursionError, MemoryError) as error:
        raise ModelFileError(f"{path}: damaged: {error}") from error
    # After decoding: so no array is in memory twice, and decoding never runs code.
    if metadata["sha256"] != _checksum(metadata, tensors):
        raise damaged
    return arrays


def _check_is_file(path: Path) -> None:
    """Raise an error unless a path names a regular file; a pipe would wait for its writer."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise FileNotFoundError(f"model file {path} does not exist") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if stat.S_ISDIR(found.st_mode):
        raise ModelFileError(f"{path}: not a Tagalong model: it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError(f"{path}: not a Tagalong model: a model is a regular file")
    if not found.st_size:
        raise ModelFileError(f"{path}: not a Tagalong model: the file is empty")


def _begins_like_a_model(path: Path) -> bool:
    """Whether a file begins like safetensors: a length of 8 bytes, then JSON."""
    try:
        with path.open("rb") as file:
            return file.read(9)[8:] == b"{"
    except OSError:
        return True  # the message says why it cannot be read


def tensor_of(array: npt.NDArray[Any]) -> Tensor:
    """Return what the checksum of a file says about a stored array."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return Tensor(array.dtype.name, array.shape, hashlib.sha256(data.data).hexdigest())


def _checksum(metadata: Mapping[str, str], tensors: Mapping[str, Tensor]) -> str:
    digest = hashlib.sha256(metadata["tagalong"].encode())
    digest.update(f"\0{metadata.get('arrays', '{}')}\0".encode())
    for name, found in sorted(tensors.items()):
        digest.update(f"{name}\0{found.dtype}\0{found.shape}\0{found.digest}\0".encode())
    return digest.hexdigest()


def _checksum_before_6(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
