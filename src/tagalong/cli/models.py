"""Loading of models, and checks of files and labels named on the command line."""

import argparse
import difflib
import json
import os
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.output import Output
from tagalong.files.lock import BusyError, exclusive_lock
from tagalong.learning.model_files import load
from tagalong.tagger import Tagger

__all__ = [
    "check_destination",
    "check_model_destination",
    "check_not_an_input",
    "file_header",
    "find_label",
    "load_model_or_workspace",
    "load_tagger",
    "locked_model",
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


def load_model_or_workspace(args: argparse.Namespace, out: Output) -> Tagger:
    """Return the tagger of ``--model``, or the present one of ``--workspace``.

    Parameters
    ----------
    args : Namespace
        The arguments of the command.
    out : Output
        Says which problems of a workspace were survived.
    """
    if args.workspace is None:
        return load_tagger(args.model)
    from tagalong.cli.workspaces import workspace_tagger  # slow to import

    return workspace_tagger(args, out)


@contextmanager
def locked_model(path: str | None, args: argparse.Namespace, out: Output) -> Iterator[None]:
    """Lock a model file against other commands that write it.

    Parameters
    ----------
    path : str, optional
        The model file; if None, there is nothing to lock. CommandError if another command uses
        it for longer than ``--wait``.
    args : Namespace
        The arguments of the command.
    out : Output
        Says that the command waits, and for whom.
    """
    with ExitStack() as stack:
        if path is not None:
            lock = exclusive_lock(
                path,
                command=f"tagalong {args.command}",
                wait=args.wait,
                on_wait=lambda who: out.info(f"waiting for {who}"),
            )
            try:
                stack.enter_context(lock)
            except BusyError as error:
                raise CommandError(f"{error}; --wait SECONDS waits longer") from error
        yield


@contextmanager
def locked_tagger(path: str, args: argparse.Namespace, out: Output) -> Iterator[Tagger]:
    """Lock a model file as `locked_model` does, and return its tagger.

    Parameters
    ----------
    path : str
        The model file.
    args : Namespace
        The arguments of the command.
    out : Output
        Says that the command waits, and for whom.
    """
    if not os.path.isfile(path):
        load_tagger(path)  # raises the error, before a lock file is made
    with locked_model(path, args, out):
        yield load_tagger(path)


def file_header(path: str) -> dict[str, Any]:
    """Return the header of a valid model file: file format, version of tagalong, kind."""
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        header: dict[str, Any] = json.loads(file.metadata()["tagalong"])
    return header


class HasLabels(Protocol):
    """A tagger or a workspace."""

    @property
    def labels(self) -> list[Any]:
        """The labels, in order of appearance."""


def find_label(tagger: HasLabels, text: str) -> Hashable:
    """Return the label that a text on the command line names.

    Parameters
    ----------
    tagger : Tagger or Workspace
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


def check_model_destination(path: str | None) -> None:
    """Raise UsageError if a model cannot be saved to a file.

    Parameters
    ----------
    path : str, optional
        The value of ``--model``.
    """
    check_destination(path, "--model")
    if path is not None and os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"--model {path} is not a regular file; a model cannot be saved there")


def check_not_an_input(path: str, argument: str, model: str | None, sources: Sequence[str]) -> None:
    """Raise UsageError if a file to write is the model or one of the sources."""
    for given, name in ((model, "--model"), *((source, "SOURCE") for source in sources)):
        if given is None or not (os.path.isfile(given) and os.path.exists(path)):
            continue
        if os.path.samefile(given, path):
            raise UsageError(f"{argument} {path} would replace {name} {given}: use another name")
