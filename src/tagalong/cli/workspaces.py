"""Opening workspaces named on the command line."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tagalong.cli.errors import CommandError
from tagalong.cli.output import Output
from tagalong.cli.sources import READING_NOTE, Reading
from tagalong.files.lock import BusyError
from tagalong.journal import JournalError, Workspace, WorkspaceView
from tagalong.tagger import Tagger

__all__ = ["open_workspace", "remember_reading", "workspace_tagger"]


@contextmanager
def open_workspace(
    folder: str,
    args: argparse.Namespace,
    out: Output,
    *,
    tagger: Tagger | None = None,
    settings: Mapping[str, Any] | None = None,
    create: bool = False,
) -> Iterator[Workspace]:
    """Open a workspace for writing; CommandError if another process has it open.

    Parameters
    ----------
    folder : str
        The workspace.
    args : Namespace
        The arguments of the command.
    out : Output
        Says that the command waits, and which problems were survived.
    tagger : Tagger, optional
        The model of a new workspace.
    settings : mapping of str to object, optional
        Its settings.
    create : bool
        Whether to make the workspace if there is none.
    """
    try:
        workspace = Workspace(
            folder,
            tagger=tagger,
            settings=settings,
            create=create,
            quick_undo=False,  # a command undoes once
            command=f"tagalong {args.command}",
            wait=args.wait,
            on_wait=lambda who: out.info(f"waiting for {who}"),
            on_problem=lambda error: out.info(f"tagalong: warning: {error}"),
        )
    except BusyError as error:
        raise CommandError(f"{error}; --wait SECONDS waits longer") from error
    except JournalError as error:
        raise CommandError(str(error)) from error
    with workspace:
        note = workspace.document(READING_NOTE)
        if note is not None:
            workspace.tagger.notes[READING_NOTE] = note
        try:
            yield workspace
        except JournalError as error:
            raise CommandError(str(error)) from error


def remember_reading(workspace: Workspace, reading: Reading) -> None:
    """Store the format and the options in a workspace, to be used with new items.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    reading : Reading
        The sources and how they were read.
    """
    notes = workspace.tagger.notes
    reading.save_to_notes(workspace.tagger)
    if READING_NOTE in notes and notes[READING_NOTE] != workspace.document(READING_NOTE):
        workspace.set_document(READING_NOTE, notes[READING_NOTE])


def workspace_tagger(args: argparse.Namespace, out: Output) -> Tagger:
    """Return the present tagger of ``--workspace``.

    Nothing is locked: another process may go on writing the workspace. Its required precision is
    that of ``--min-precision``, if the command has this option and it is not given.

    Parameters
    ----------
    args : Namespace
        The arguments of the command.
    out : Output
        Says which problems were survived.
    """
    try:
        with WorkspaceView(args.workspace) as view:
            for problem in view.problems:
                out.info(f"tagalong: warning: {problem}")
            tagger = view.tagger
            if (note := view.document(READING_NOTE)) is not None:
                tagger.notes[READING_NOTE] = note
            if getattr(args, "min_precision", 0) is None:
                args.min_precision = view.settings.min_precision
            return tagger
    except JournalError as error:
        raise CommandError(str(error)) from error
