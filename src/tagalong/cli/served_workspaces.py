"""``tagalong workspaces``: the workspaces of a server."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from tagalong.cli.errors import OK, CommandError
from tagalong.cli.output import Output, table
from tagalong.files.lock import BusyError
from tagalong.journal import JournalError
from tagalong.journal.listing import list_events
from tagalong.journal.storage import is_url, journal_path
from tagalong.server.directories import DEFAULT, Directory, FolderDirectory

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """List, make or remove workspaces."""
    try:
        ACTIONS[args.action](_directory(args.folder), args, out)
    except BusyError as error:
        raise CommandError(
            f"{error}; if it is a server, send it DELETE /api/v1/workspaces/{args.name}"
        ) from error
    except JournalError as error:
        raise CommandError(str(error)) from error
    return OK


def _directory(folder: str) -> Directory:
    if is_url(folder):
        from tagalong.journal.postgres import PostgresWorkspaces

        return PostgresWorkspaces(folder)
    if not journal_path(folder).exists():
        raise CommandError(
            f"{folder}: there is no workspace in this folder; 'tagalong serve' makes one"
        )
    return FolderDirectory(Path(folder))


def _list(directory: Directory, args: argparse.Namespace, out: Output) -> None:
    rows = []
    for name in directory.names():
        storage = directory.storage(name)
        if not storage.exists():  # the default one, before its first use
            continue
        summary = list_events(storage, last=1).summary
        rows.append((name, sum(summary.items.values()), summary.labels, summary.events))
    found = [dict(zip(("name", "items", "labels", "events"), row, strict=True)) for row in rows]
    out.json_result({"folder": args.folder, "workspaces": found})
    cells = [(name, *(f"{number:,}" for number in numbers)) for name, *numbers in rows]
    out.result(*table([("name", "items", "labels", "events"), *cells]))


def _add(directory: Directory, args: argparse.Namespace, out: Output) -> None:
    directory.create(args.name)
    out.json_result({"folder": args.folder, "added": args.name})
    out.result(f"added: {args.name}, in {directory.storage(args.name).name}")


def _remove(directory: Directory, args: argparse.Namespace, out: Output) -> None:
    if not args.yes and directory.exists(args.name) and args.name != DEFAULT:
        raise CommandError(
            f"{args.name} would be removed with everything in it, which cannot be undone: add "
            "--yes to do it"
        )
    directory.remove(args.name)
    out.json_result({"folder": args.folder, "removed": args.name})
    out.result(f"removed: {args.name}")


ACTIONS: Mapping[str, Callable[[Directory, argparse.Namespace, Output], None]] = MappingProxyType(
    {"list": _list, "add": _add, "remove": _remove}
)
