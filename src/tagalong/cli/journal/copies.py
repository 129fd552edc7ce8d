"""``tagalong journal backup`` and ``restore``: copies of a workspace."""

import argparse
from pathlib import Path

from tagalong.cli.errors import OK, UsageError
from tagalong.cli.journal.messages import counted, journal_errors, percent_shown, place_name
from tagalong.cli.live import Live
from tagalong.cli.output import Output, size_text
from tagalong.journal.backup import Copy, back_up, restore
from tagalong.journal.storage import is_url

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Make a backup, or restore one."""
    if args.action == "backup":
        _check_parent(args.out, "--out")
        with journal_errors(), Live(out.quiet) as live:
            made = back_up(args.workspace, args.out, percent_shown(live, "backed up"))
        out.json_result(
            {"workspace": place_name(args.workspace), "out": place_name(args.out), **_facts(made)}
        )
        out.result(
            f"backup of {place_name(args.workspace)} in {place_name(args.out)}: {_in_words(made)}"
        )
        return OK
    _check_parent(args.to, "--to")
    with journal_errors(), Live(out.quiet) as live:
        progress = percent_shown(live, "restored")
        made = restore(args.backup, args.to, force=args.force, progress=progress)
    out.json_result({"backup": place_name(args.backup), "to": place_name(args.to), **_facts(made)})
    out.result(
        f"workspace {place_name(args.to)} restored from {place_name(args.backup)}: "
        f"{_in_words(made)}"
    )
    for problem in made.problems:
        out.info(f"tagalong: warning: the backup is damaged: {problem}")
    return OK


def _check_parent(path: str, argument: str) -> None:
    """Raise UsageError if a folder cannot be made."""
    if is_url(path):
        return
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise UsageError(f"{argument} {path}: there is no folder {parent}")


def _facts(made: Copy) -> dict[str, object]:
    return {
        "events": made.events,
        "bytes": made.bytes,
        "snapshot": made.snapshot,
        "problems": made.problems,
    }


def _in_words(made: Copy) -> str:
    snapshot = "" if made.snapshot is None else f", with the model after event {made.snapshot:,}"
    return f"{counted(made.events, 'event')}, {size_text(made.bytes)}{snapshot}"
