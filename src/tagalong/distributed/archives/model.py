"""The model, as it is sent to workers."""

import hashlib
import os
import tempfile
from pathlib import Path
from threading import Lock

from tagalong.files.named_errors import naming_errors
from tagalong.learning.model_files import load
from tagalong.tagger import Tagger

__all__ = ["loaded_once", "model_bytes"]

_MOST = 2  # models that a worker process keeps
_loaded: dict[str, Tagger] = {}
_loading = Lock()


def model_bytes(tagger: Tagger) -> bytes:
    """Return the contents of a model file.

    Parameters
    ----------
    tagger : Tagger
        The model.
    """
    with tempfile.TemporaryDirectory(prefix="tagalong-") as folder:
        path = Path(folder, "model")
        tagger.save(path)
        return path.read_bytes()


def loaded_once(contents: bytes) -> Tagger:
    """Return the model of these contents. Each process loads it once.

    Parameters
    ----------
    contents : bytes
        What `model_bytes` has returned.
    """
    key = hashlib.sha256(contents).hexdigest()
    with _loading:
        if key not in _loaded:
            while len(_loaded) >= _MOST:
                _loaded.pop(next(iter(_loaded)))
            _loaded[key] = _load(contents)
        return _loaded[key]


def _load(contents: bytes) -> Tagger:
    with tempfile.TemporaryDirectory(prefix="tagalong-") as folder:
        path = Path(folder, "model")
        with naming_errors(os.fspath(path)):
            path.write_bytes(contents)
        tagger: Tagger = load(path)  # a compact model stays mapped after its file is gone
        return tagger
