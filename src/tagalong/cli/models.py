"""Model files, as commands use them."""

import difflib
import json
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from tagalong.cli.errors import CommandError, UsageError
from tagalong.learning.model_files import load
from tagalong.tagger import Tagger

__all__ = ["check_destination", "file_header", "find_label", "load_tagger"]


def load_tagger(path: str) -> Tagger:
    """Return the tagger in a file; CommandError if there is something else in it."""
    model = load(path)
    if not isinstance(model, Tagger):
        raise CommandError(
            f"{path} holds a {type(model).__name__}, which knows no texts; this needs a model "
            "that 'tagalong learn', 'tagalong fit' or Tagger.save has written"
        )
    return model


def file_header(path: str) -> dict[str, Any]:
    """Return what a model file, known to be one, says about itself: its format, who wrote it."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        header: dict[str, Any] = json.loads(file.metadata()["tagalong"])
    return header


def find_label(tagger: Tagger, text: str) -> Hashable:
    """Return the label that a text on the command line means.

    Parameters
    ----------
    tagger : Tagger
        Has the labels, which need not be texts.
    text : str
        What was written.
    """
    labels = tagger.labels
    if text in labels:
        return text
    by_text = {str(label): label for label in labels}
    if text in by_text:
        found: Hashable = by_text[text]
        return found
    close = difflib.get_close_matches(text, by_text, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise CommandError(f"the model has no label {text!r}{hint}")


def check_destination(path: str | None, what: str) -> None:
    """Raise UsageError if a file could not be written; better now than after hours of work."""
    if path is None:
        return
    folder = Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"{what} {path}: there is no folder {folder}")
    if os.path.isdir(path):
        raise UsageError(f"{what} {path} is a folder; give the path of a file")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{what} {path}: the folder {folder} may not be written to")
