"""The hash of a model: equal hashes mean equal suggestions now and after the same answers.

The hash covers what a model file holds (`tagalong.learning.model_files`), in a canonical form: the
header as JSON with sorted keys, in which every float has the shortest text that restores its bits,
then the arrays by name, each with type, shape and little-endian bytes. Weights are hashed in their
packed form (cpp/core/packed_rows.hpp), which is a function of their bits. The version of Tagalong,
the file format and the compression of a file have no part in it. Neither has what decides neither
predictions nor learning: notes, the stored names of words, the number of threads of a solver.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from tagalong import _native as core
from tagalong.learning.array_codec import Array, little_endian
from tagalong.learning.fitted import Fitted
from tagalong.learning.model_files import Arrays, Saveable, pack

__all__ = ["hash_of_parts", "model_hash"]

# The entries of the headers, by kind of model, that decide neither predictions nor learning.
_WITHOUT_EFFECT: dict[str, tuple[tuple[str, ...], ...]] = {
    "Tagger": (("notes",),),
    "TextFeatures": (("params", "names"), ("params", "name_memory")),
    "M3LClassifier": (("params", "n_jobs"), ("params", "verbose")),
}
# The stored names of words, which only show what a model has learnt.
_NAMES_OF_WORDS = ("name_text", "name_ends", "name_ids")


def model_hash(model: Saveable) -> str:
    """Return the SHA-256 of everything that decides a model's predictions and learning.

    Models with equal hashes give the same suggestions, and have equal hashes again after they have
    learnt the same items. The hash does not change when a model is saved and loaded, copied or
    pickled, and does not depend on whether items were learnt one by one or in batches. It covers
    parameters, labels and their order, weights, cut-off, confidence, certificate, features, history
    and audit; of custom features the name of their class and what they have learnt. It does not
    cover `Tagger.notes`, the stored names of words, the version of Tagalong and the file format.

    Parameters
    ----------
    model : Tagger, learner or TextFeatures
        The model, which must be one that can be saved. Another thread may not learn meanwhile,
        unless the model is a `Tagger`.

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> import copy
    >>> from tagalong import Tagger, model_hash
    >>> tagger = Tagger().learn("Your invoice is due", ["money"])
    >>> again = copy.deepcopy(tagger)
    >>> model_hash(again) == model_hash(tagger)
    True
    >>> model_hash(again.learn("Mother's birthday", ["family"])) == model_hash(tagger)
    False
    """
    if isinstance(model, Fitted) and not model.is_started:
        raise NotFittedError(f"this {type(model).__name__} has no hash before it has learnt")
    return hash_of_parts(*pack(model))


def hash_of_parts(header: Mapping[str, Any], arrays: Arrays) -> str:
    """Return the hash of a model from its header and arrays.

    Parameters
    ----------
    header : mapping
        The header, as `tagalong.learning.model_files.pack` returns it.
    arrays : dict
        The arrays, as `pack` returns them.
    """
    digest = hashlib.sha256(_canonical(_effective(header)))
    left_out = _arrays_without_effect(header)
    for name in sorted(arrays):
        if name not in left_out:
            for piece in _pieces(name, arrays[name]):
                digest.update(piece)
    return digest.hexdigest()


def _effective(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return a header without the entries that have no effect."""
    kept = dict(header)
    if header["kind"] == "Tagger":
        kept |= {part: _effective(header[part]) for part in ("learner", "features")}
    for *outer, name in _entries_without_effect(header):
        inner = kept
        for part in outer:
            inner[part] = dict(inner[part])
            inner = inner[part]
        inner.pop(name, None)
    return kept


def _entries_without_effect(header: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    found = _WITHOUT_EFFECT.get(header["kind"], ())
    if header["kind"] == "TextFeatures" and header["params"]["weighting"] != "tfidf":
        return (*found, ("numbers", "items"))  # only the weights of words depend on their number
    return found


def _arrays_without_effect(header: Mapping[str, Any]) -> frozenset[str]:
    prefix = {"TextFeatures": "", "Tagger": "features/"}.get(header["kind"])
    return frozenset() if prefix is None else frozenset(prefix + name for name in _NAMES_OF_WORDS)


def _canonical(value: object) -> bytes:
    """Return a JSON value as text that is the same for equal values; floats keep all bits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain_number)
    return text.encode()


def _plain_number(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(f"{value!r} cannot be hashed")


def _pieces(name: str, array: Array) -> Iterator[Any]:
    """Yield an array in canonical form; its description says how many bytes follow."""
    if isinstance(array, core.PackedWeights):
        streams = [array.chunks(number) for number in range(len(array.STREAMS))]
        lengths = [sum(map(len, chunks)) for chunks in streams]
        yield _canonical([name, array.dtype, array.shape, array.planes, lengths])
        for chunks in streams:
            yield from chunks
        return
    yield _canonical([name, array.dtype.name, array.shape])
    yield little_endian(array).reshape(-1).view(np.uint8)
