"""Model files: safetensors with a JSON header, versioned and checksummed.

A file holds arrays and one JSON text, never code: loading runs nothing from it. It is written
beside its destination and moved into place, so a reader sees the old file or the new one.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Hashable, Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

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

FORMAT = 2
Arrays = dict[str, npt.NDArray[Any]]

# Where each kind of model lives; imported when a file of that kind is loaded.
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
    """A file that is not a model, is damaged, or comes from a newer version."""


class Saveable(Protocol):
    """A model that can be written to a file and made again from it."""

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """Return what goes into the JSON header, and the arrays."""

    @classmethod
    def from_parts(cls, header: dict[str, Any], arrays: Arrays) -> Any:
        """Make the model again."""


def pack(model: Saveable) -> tuple[dict[str, Any], Arrays]:
    """Return a model that is part of another one, as header and arrays."""
    kind = type(model).__name__
    if kind not in _KINDS:
        raise ValueError(f"a {kind} cannot be saved in a model file")
    header, arrays = model.to_parts()
    return {"kind": kind, **header}, arrays


def unpack(header: dict[str, Any], arrays: Arrays) -> Any:
    """Return the model that `pack` took apart."""
    model_class = getattr(import_module(_KINDS[header["kind"]]), header["kind"])
    return model_class.from_parts(header, arrays)


def encode_label(label: Hashable) -> Any:
    """Return a label as JSON: str, int and bool as they are, tuples marked as such."""
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


def decode_label(saved: Any) -> Hashable:
    """Return the label that `encode_label` wrote."""
    if isinstance(saved, dict):
        return tuple(decode_label(part) for part in saved["tuple"])
    return saved  # type: ignore[no-any-return]


def save(model: Saveable, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, atomically."""
    from safetensors.numpy import save as to_bytes

    header, arrays = pack(model)
    header = {"format": FORMAT, "tagalong": version("tagalong"), **header}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, default=_plain_number)
    metadata = {"tagalong": text, "sha256": _checksum(text, arrays)}
    _write_atomically(Path(path), to_bytes(arrays, metadata=metadata))


def _plain_number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(f"{value!r} cannot be saved in a model file")


def load(path: str | os.PathLike[str], features: Any = None) -> Any:
    """Return the model in a file.

    Parameters
    ----------
    path : str or path
        A file that ``save`` has written.
    features : LabelFeatures, optional
        For a `SharedLabelRanker` with features of your own: they are code, so they are not in the
        file. What they had learnt is.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or was written by a newer version.
    FileNotFoundError
        If there is no such file.
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
    _hand_over(header, features, path)
    try:
        return unpack(header, arrays)
    except (KeyError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ModelFileError(f"{path}: not a usable {kind}: {error}") from error


def _hand_over(header: dict[str, Any], features: Any, path: Path) -> None:
    """Put a user's own features where the model that needs them will look for them."""
    part = header.get("learner", header) if header["kind"] == "Tagger" else header
    wanted = part.get("own_features") if isinstance(part, dict) else None
    if features is not None and wanted is None:
        raise ValueError(f"{path}: this {header['kind']} needs no features to be given")
    if features is None and wanted is not None:
        named = wanted.get("class") if isinstance(wanted, dict) else None
        raise ModelFileError(
            f"{path}: its features are made by {named}, which is code and not in the file: give "
            f"it, load(path, features={named}(...))"
        )
    if isinstance(wanted, dict):
        wanted["given"] = features


def _read(path: Path) -> tuple[str, str, Arrays]:
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        raise FileNotFoundError(f"no model file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: Mapping[str, str] = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise ModelFileError(f"{path}: not a Tagalong model, or cut short: {error}") from error
    if "tagalong" not in metadata or "sha256" not in metadata:
        raise ModelFileError(f"{path}: a safetensors file, but not a Tagalong model")
    return metadata["tagalong"], metadata["sha256"], arrays


def _checksum(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _write_atomically(path: Path, contents: bytes) -> None:
    umask = os.umask(0)
    os.umask(umask)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
