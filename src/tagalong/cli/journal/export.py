"""``tagalong journal export``: the items of a workspace in a file of any format, or its events."""

import argparse
import os
from collections.abc import Iterable, Iterator
from typing import Any

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.flags import parameters_as_flags
from tagalong.cli.journal.messages import counted, journal_errors, place_name
from tagalong.cli.live import Live
from tagalong.cli.losses import SeenParts, losses_of
from tagalong.cli.models import check_destination
from tagalong.cli.output import Output, items_text
from tagalong.journal.export import export_events, export_items
from tagalong.learning.items import Item
from tagalong.printable import as_json
from tagalong.readers.registry import format_for_writing
from tagalong.readers.writing import open_destination, write
from tagalong.streams.format import OptionError

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Write the items, or the events."""
    if args.out == "-":
        if out.json:
            raise UsageError("--json: standard output is used for the export, as --out is -")
    else:
        check_destination(args.out, "--out")
        _check_outside(args.out, args.workspace)
    with journal_errors():
        return _write_events(args, out) if args.events else _write_items(args, out)


def _check_outside(path: str, workspace: str) -> None:
    """Raise UsageError if the export would replace a file of the workspace."""
    for folder in (workspace, os.path.join(workspace, "snapshots")):
        parent = os.path.dirname(path) or "."
        if os.path.isdir(folder) and os.path.samefile(parent, folder):
            raise UsageError(f"--out {path} is inside the workspace: use another folder")


def _write_events(args: argparse.Namespace, out: Output) -> int:
    for flag in ("--to", "--state", "--filed", "--on-error"):
        if getattr(args, flag[2:].replace("-", "_")):
            raise UsageError(f"{flag} is for items; --events are always JSON lines")
    count = 0
    events = export_events(args.workspace)
    with open_destination(args.out, private=True) as file, Live(out.quiet) as live:
        for event in _counted(events, live, "events"):
            file.write(f"{as_json(event)}\n".encode("utf-8", "backslashreplace"))
            count += 1
    out.json_result({"workspace": place_name(args.workspace), "out": args.out, "events": count})
    if not out.json:
        out.info(f"{counted(count, 'event')} written to {_place(args.out)}")
    return OK


def _write_items(args: argparse.Namespace, out: Output) -> int:
    try:
        target = format_for_writing(args.out, args.to or ("jsonl" if args.out == "-" else None))
    except OptionError as error:
        problem = parameters_as_flags(str(error), {"format": "--to"})
        given = f"--to {args.to}: " if args.to else ""
        raise UsageError(f"{given}{problem}") from error
    seen = SeenParts()
    problems: list[str] = []
    items = export_items(
        args.workspace,
        args.state,
        filed=args.filed,
        on_damage=(lambda error: problems.append(str(error))) if args.on_error == "skip" else None,
    )
    with Live(out.quiet) as live:
        try:
            found: Iterable[Item] = seen.record(_counted(items, live, "items"))
            count = write(found, args.out, target.name, private=True)
        except ValueError as error:
            if target.name == "jsonl":
                raise CommandError(str(error)) from error
            # The formats have options for this, which `tagalong convert` offers.
            raise CommandError(
                str(error).partition("; use ")[0],
                "JSON lines hold every item: --to jsonl; 'tagalong convert' turns them into other "
                "formats, with options",
            ) from error
    losses = losses_of(target.name, seen.parts)
    out.json_result(
        {
            "workspace": place_name(args.workspace),
            "out": args.out,
            "format": target.name,
            "written": count,
            "losses": losses,
            "skipped": len(problems),
            "errors": problems,
        }
    )
    if not out.json:
        out.info(f"{items_text(count)} written to {_place(args.out)} as {target.name}")
    for loss in losses:
        out.info(f"{target.name} files cannot hold everything: {loss}")
    out.report_skipped(len(problems), problems)
    return SOME_SKIPPED if problems else OK


def _counted(found: Iterable[Any], live: Live, what: str) -> Iterator[Any]:
    for count, each in enumerate(found, 1):
        if live.is_due():
            live.show([what], [[f"{count:,}"]], f"{what} {count:,}")
        yield each


def _place(path: str) -> str:
    return "standard output" if path == "-" else path
