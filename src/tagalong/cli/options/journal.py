"""Arguments of ``tagalong journal``."""

import argparse
from typing import Any

from tagalong.cli import arguments as shared
from tagalong.cli.options.values import at_least_one, setting, whole

__all__ = ["EVENT_KINDS", "ITEM_STATES", "add_journal"]

# Copies of names in tagalong.journal, which is slow to import.
EVENT_KINDS = (
    "created",
    "item",
    "answer",
    "filed",
    "asked",
    "label-added",
    "label-renamed",
    "label-merged",
    "label-forgotten",
    "label-target",
    "settings",
    "undo",
    "forgotten",
)
ITEM_STATES = ("open", "asked", "filed", "answered")

SHOWN = 20
PLACE = "folder of the workspace, or postgresql://HOST/DATABASE?workspace=NAME"
Parser = argparse.ArgumentParser


def add_journal(parser: Parser) -> None:
    """Add the arguments of ``tagalong journal``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_show(actions)
    _add_verify(actions)
    _add_export(actions)
    _add_backup(actions)
    _add_restore(actions)
    _add_answer(actions)
    _add_undo(actions)
    _add_forget(actions)
    _add_set(actions)
    _add_compact(actions)


def _action(actions: Any, name: str, module: str, help: str, description: str) -> Any:
    """Return the parser of an action; its module runs it."""
    parser = actions.add_parser(name, help=help, description=description, allow_abbrev=False)
    parser.set_defaults(module=f"journal.{module}")
    return parser


def _add_folder(parser: Any, name: str = "workspace", help: str = PLACE) -> None:
    folder = parser.add_argument(name, metavar=name.upper(), help=help)
    folder.complete = {"bash": "_shtab_compgen_dirs", "zsh": "_directories"}


def _finish(parser: Any, *, changes: bool = False) -> None:
    if changes:
        shared.add_wait(parser, "workspace")
    shared.add_output(parser)
    if parser.usage is None:
        parser.usage = parser.short_usage()


def _add_show(actions: Any) -> None:
    show = _action(
        actions,
        "show",
        "show",
        "show events, and numbers about the workspace",
        "Show the last events of a workspace, and how many items, labels, events and bytes it has. "
        "It may be in use meanwhile.",
    )
    _add_folder(show)
    which = show.add_mutually_exclusive_group()
    which.add_argument(
        "--last",
        type=at_least_one,
        default=SHOWN,
        metavar="N",
        help=f"show the last N events (default: {SHOWN})",
    )
    which.add_argument("--after", type=whole, metavar="SEQ", help="show all events after this one")
    show.add_argument("--item", metavar="ID", help="only events about the item with this id")
    show.add_argument(
        "--kind",
        choices=EVENT_KINDS,
        metavar="KIND",
        help=f"only events of this kind: {', '.join(EVENT_KINDS)}",
    )
    _finish(show)


def _add_verify(actions: Any) -> None:
    verify = _action(
        actions,
        "verify",
        "verify",
        "check and replay a workspace, and name every problem",
        "Check the database, every event and every content of a workspace, replay all events, and "
        "compare the model with every snapshot. Every problem is named, and the exit code is 1 if "
        "there is one. Nothing is changed, and the workspace may be in use meanwhile.",
    )
    _add_folder(verify)
    _finish(verify)


def _add_export(actions: Any) -> None:
    export = _action(
        actions,
        "export",
        "export",
        "write the items with their present labels, or the events",
        "Write the items of a workspace with their present labels to a file, in the order of their "
        "arrival. The file can be learnt by 'tagalong learn', and is readable by you only. The "
        "workspace may be in use meanwhile.",
    )
    _add_folder(export)
    export.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="file to write, or - for standard output; may end in .gz, .xz, .bz2 or .zst",
    )
    export.add_argument(
        "--to",
        metavar="FORMAT",
        help="format of the items, as for 'tagalong convert' (default: recognised from the name "
        "of the file; jsonl on standard output)",
    )
    export.add_argument(
        "--state",
        choices=ITEM_STATES,
        help="only items in this state (default: all); items that nobody has answered have no "
        "labels",
    )
    export.add_argument(
        "--filed",
        action="store_true",
        help="give items that were filed without asking the labels under which they were filed; do "
        "not let a model learn from those",
    )
    export.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        help="at an item that is damaged, stop (the default), or skip it and report the number of "
        "skipped items at the end",
    )
    export.add_argument(
        "--events",
        action="store_true",
        help="write all events instead, as JSON lines, with the contents of items",
    )
    _finish(export)


def _add_backup(actions: Any) -> None:
    backup = _action(
        actions,
        "backup",
        "copies",
        "copy a workspace, also while it is in use",
        "Copy a workspace as it is at this moment into a new folder, and check the copy. The "
        "workspace may be in use meanwhile. Only you may read the copy.",
    )
    _add_folder(backup)
    backup.add_argument(
        "--out", required=True, metavar="FOLDER", help="new folder of the backup, or an empty one"
    )
    _finish(backup)


def _add_restore(actions: Any) -> None:
    restore = _action(
        actions,
        "restore",
        "copies",
        "make a workspace from a backup",
        "Make a workspace from a backup, which is checked first and stays as it is.",
    )
    _add_folder(restore, "backup", "folder of the backup")
    restore.add_argument(
        "--to",
        required=True,
        metavar="FOLDER",
        help="new folder of the workspace, or an empty one, or the URL of a new workspace in "
        "PostgreSQL",
    )
    restore.add_argument(
        "--force", action="store_true", help="restore a damaged backup as far as possible"
    )
    _finish(restore)


def _add_answer(actions: Any) -> None:
    answer = _action(
        actions,
        "answer",
        "changes",
        "say which labels an item has",
        "Say which labels an item has; the model learns it. Answering again corrects the answer.",
    )
    _add_folder(answer)
    answer.add_argument("id", metavar="ID", help="id of the item, as 'show' and 'export' list it")
    answer.add_argument("labels", metavar="LABEL", nargs="*", help="its labels; new ones are made")
    answer.add_argument(
        "--none",
        action="store_true",
        help="no label is right: the model learns no weights, but that its suggestions were wrong",
    )
    answer.usage = f"{answer.prog} WORKSPACE ID (LABEL ... | --none) [options]"
    _finish(answer, changes=True)


def _add_undo(actions: Any) -> None:
    undo = _action(
        actions,
        "undo",
        "changes",
        "take an event back, exactly",
        "Take an event back: the model becomes what it would be if the event had never happened. "
        "An undo can be undone.",
    )
    _add_folder(undo)
    undo.add_argument(
        "seq",
        metavar="SEQ",
        nargs="?",
        type=at_least_one,
        help="number of the event, as 'tagalong journal show' lists it",
    )
    undo.add_argument(
        "--batch", metavar="BATCH", help="undo all events of this batch instead of one event"
    )
    undo.add_argument(
        "--cascade",
        action="store_true",
        help="also undo later events that become impossible (default: refuse, and list them)",
    )
    undo.usage = f"{undo.prog} WORKSPACE (SEQ | --batch BATCH) [options]"
    _finish(undo, changes=True)


def _add_forget(actions: Any) -> None:
    forget = _action(
        actions,
        "forget",
        "changes",
        "delete items, and what the model has learnt from them",
        "Delete items from a workspace, with their text, their answers and what the model has "
        "learnt from them. This cannot be undone. Backups and exports stay as they are.",
    )
    _add_folder(forget)
    forget.add_argument("ids", metavar="ID", nargs="+", help="ids of the items")
    _finish(forget, changes=True)


def _add_set(actions: Any) -> None:
    settings = _action(
        actions,
        "set",
        "changes",
        "change settings that decide learning and filing",
        "Change the settings of a workspace. The change is an event, which can be undone.",
    )
    _add_folder(settings)
    settings.add_argument(
        "settings",
        metavar="NAME=VALUE",
        nargs="+",
        type=setting,
        help="labels=grow or fixed (whether answers may bring new labels), one_label=auto, yes or "
        "no, min_precision=P (share of the items filed without asking that has to be right), "
        "audit=P (share of the sure items that are spot checks), content=text or features (what is "
        "stored of new items), paused=yes or no (whether nothing is filed without asking)",
    )
    _finish(settings, changes=True)


def _add_compact(actions: Any) -> None:
    compact = _action(
        actions,
        "compact",
        "changes",
        "free space on the disk",
        "Free space on the disk that a workspace no longer needs. Events and model stay as they "
        "are.",
    )
    _add_folder(compact)
    _finish(compact, changes=True)
