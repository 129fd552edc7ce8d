"""Loading of models, and checks of files and labels named on the command line."""

import difflib
import json
import os
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tagalong.cli.errors import CommandError, UsageError
from tagalong.learning.model_files import load
from tagalong.tagger import Tagger

__all__ = [
    "check_destination",
    "check_not_an_input",
    "file_header",
    "find_label",
    "load_tagger",
    "locked_tagger",
]


def load_tagger(path: str) -> Tagger:
    """Return the tagger in a model file; CommandError if it holds another object."""
    model = load(path)
    if not isinstance(model, Tagger):
        raise CommandError(
            f"{path} holds a {type(model).__name__}, which has no text features; give a model "
            "that was written by 'tagalong learn', 'tagalong fit' or Tagger.save"
        )
    return model


@contextmanager
def locked_tagger(path: str) -> Iterator[Tagger]:
    """Lock a model file against other commands that write it, and return its tagger.

    Parameters
    ----------
    path : str
        The model file. CommandError if another command uses it.
    """
    # Imported here, as the commands that only read a model do not need the filing of mail.
    from tagalong.mail.filing.guards import BusyError, exclusive_lock

    if not os.path.isfile(path):
        load_tagger(path)  # raises the error, before a lock file is made
    with ExitStack() as stack:
        try:
            stack.enter_context(exclusive_lock(Path(path)))
        except BusyError as error:
            raise CommandError(str(error)) from error
        yield load_tagger(path)


def file_header(path: str) -> dict[str, Any]:
    """Return the header of a valid model file: file format, version of tagalong, kind."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        header: dict[str, Any] = json.loads(file.metadata()["tagalong"])
    return header


def find_label(tagger: Tagger, text: str) -> Hashable:
    """Return the label that a text on the command line names.

    Parameters
    ----------
    tagger : Tagger
        The model. Its labels need not be strings.
    text : str
        The text on the command line.
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


def check_destination(path: str | None, argument: str) -> None:
    """Raise UsageError if a file cannot be written, before hours of work are lost."""
    if path is None:
        return
    folder = Path(path).parent
    if not folder.is_dir():
        raise UsageError(f"{argument} {path}: there is no folder {folder}")
    if os.path.isdir(path):
        raise UsageError(f"{argument} {path} is a folder; give the name of a file")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{argument} {path}: no permission to write to the folder {folder}")


def check_not_an_input(path: str, argument: str, model: str | None, sources: Sequence[str]) -> None:
    """Raise UsageError if a file to write is the model or one of the sources."""
    for given, name in ((model, "--model"), *((source, "SOURCE") for source in sources)):
        if given is None or not (os.path.isfile(given) and os.path.exists(path)):
            continue
        if os.path.samefile(given, path):
            raise UsageError(f"{argument} {path} would replace {name} {given}: use another name")
