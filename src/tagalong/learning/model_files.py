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
from tagalong.learning.older_formats import upgraded

__all__ = [
    "ModelFileError",
    "Saveable",
    "decode_label",
    "encode_label",
    "load",
    "pack",
    "save",
    "unpack",
]

FORMAT = 6
Arrays = dict[str, npt.NDArray[Any]]
JsonLabel: TypeAlias = str | int | dict[str, list[Any]]
"""A label in a JSON header; ``{"tuple": [...]}`` is a tuple."""

# Names of files that are not valid Unicode have surrogates, which only an escape can represent.
_SURROGATE = re.compile("[\ud800-\udfff]")

# The module that defines each kind of model; imported when a file of that kind is loaded.
_KINDS = {
    "BlockProjection": "tagalong.online.blocks.projection",
    "LabelRanker": "tagalong.online.label_ranker.learner",
    "M3LClassifier": "tagalong.batch.m3l.classifier",
    "Tagger": "tagalong.tagger.tagger",
    "TextFeatures": "tagalong.text.features",
    "PartialFeedbackRanker": "tagalong.online.partial.learner",
    "OrdinalRanker": "tagalong.online.blocks.ordinal",
    "Predtron": "tagalong.online.predtron.learner",
    "SharedLabelRanker": "tagalong.online.shared_ranker.learner",
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
    from safetensors import SafetensorError
    from safetensors.numpy import save as to_bytes

    header, arrays = pack(model)
    header = {"format": FORMAT, "tagalong": version("tagalong"), **header}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    _check_finite(header)
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, default=_plain_number)
    text = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    metadata = {"tagalong": text, "sha256": _checksum(text, arrays)}
    try:
        contents = to_bytes(arrays, metadata=metadata)
    except SafetensorError as error:
        raise ValueError(f"the model cannot be saved as {path}: {error}") from error
    with replacing(path, private=private) as file:
        for part in _with_sorted_metadata(contents):
            file.write(part)


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


def _with_sorted_metadata(contents: bytes) -> tuple[bytes, memoryview]:
    """Return header and data of a safetensors file, with the metadata in order of their names.

    The library writes them in random order. The header has a length of 8 bytes in front, and
    spaces at the end, so that the data begin at a multiple of 8.
    """
    end = 8 + int.from_bytes(contents[:8], "little")
    header = json.loads(contents[8:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text, memoryview(contents)[end:]


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
    text, checksum, arrays = _read(path)
    try:
        header = json.loads(text)
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
    if checksum != _checksum(text, arrays):
        raise ModelFileError(f"{path}: damaged: its contents do not match their checksum")
    _insert_custom_features(header, features, path)
    try:
        return unpack(*upgraded(header, arrays, written))
    except Exception as error:  # whatever the contents of a file do, it is the file that is wrong
        problem = f"{error}" if isinstance(error, ValueError) else repr(error)
        raise ModelFileError(f"{path}: not a usable {kind}: {problem}") from error


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


def _read(path: Path) -> tuple[str, str, Arrays]:
    from safetensors import SafetensorError, safe_open

    _check_is_file(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: Mapping[str, str] = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        problem = f", or truncated: {error}" if _begins_like_a_model(path) else ""
        raise ModelFileError(f"{path}: not a Tagalong model{problem}") from error
    if "tagalong" not in metadata or "sha256" not in metadata:
        raise ModelFileError(f"{path}: a safetensors file, but not a Tagalong model")
    return metadata["tagalong"], metadata["sha256"], arrays


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


def _checksum(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
