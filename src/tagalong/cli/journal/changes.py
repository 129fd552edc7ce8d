"""``tagalong journal answer``, ``undo``, ``forget``, ``set``, ``compact``: changes of it."""

import argparse
import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tagalong.cli.errors import OK, CommandError, UsageError
from tagalong.cli.journal.messages import place_name
from tagalong.cli.live import Live
from tagalong.cli.output import Output, size_text
from tagalong.cli.workspaces import open_workspace
from tagalong.journal import ConflictError, NotFoundError, RefusedError, Workspace
from tagalong.journal.listing import disk_bytes

__all__ = ["run"]

ACTOR = "command line"
SECONDS_BETWEEN_LOOKS = 0.2
SWITCHES = {"yes": True, "true": True, "no": False, "false": False, "auto": "auto"}


def run(args: argparse.Namespace, out: Output) -> int:
    """Change a workspace, and let its model follow."""
    check = CHECKS.get(args.action)
    if check is not None:
        check(args)
    with open_workspace(args.workspace, args, out) as workspace:
        ACTIONS[args.action](workspace, args, out)
    return OK


def _check_answer(args: argparse.Namespace) -> None:
    if bool(args.labels) == args.none:
        raise UsageError("give either the labels of the item, or --none if no label is right")


def _answer(workspace: Workspace, args: argparse.Namespace, out: Output) -> None:
    before = workspace.item(args.id).labels
    seq = workspace.answer(args.id, args.labels, actor=ACTOR)
    labels = workspace.item(args.id).labels
    out.json_result(
        {"workspace": place_name(args.workspace), "seq": seq, "labels": labels, "was": before}
    )
    words = ", ".join(args.labels) or "none of the labels"
    was = "" if before is None else f" (was: {', '.join(before) or 'none of the labels'})"
    out.result(f"{args.id}: {words}{was}; {_reverse(args, seq)} takes it back")


def _check_undo(args: argparse.Namespace) -> None:
    if (args.seq is None) == (args.batch is None):
        raise UsageError(
            "give either the number of the event to undo, or --batch; 'tagalong journal show' "
            "lists them"
        )


def _undo(workspace: Workspace, args: argparse.Namespace, out: Output) -> None:
    try:
        seq = workspace.undo(args.seq, batch=args.batch, cascade=args.cascade, actor=ACTOR)
    except ConflictError as error:
        raise CommandError(str(error).replace("with cascade", "with --cascade")) from error
    undone = workspace.events(after=seq - 1)[0].taken
    out.json_result({"workspace": place_name(args.workspace), "seq": seq, "undone": undone})
    what = f"event {undone[0]}" if len(undone) == 1 else f"events {', '.join(map(str, undone))}"
    out.result(f"undone: {what}; {_reverse(args, seq)} brings it back")
    _settle(workspace, out)


def _forget(workspace: Workspace, args: argparse.Namespace, out: Output) -> None:
    seqs: dict[str, int] = {}
    for id in dict.fromkeys(args.ids):
        try:
            seqs[id] = workspace.forget(id, actor=ACTOR)
        except NotFoundError as error:
            before = f"; forgotten before: {', '.join(seqs)}" if seqs else ""
            raise CommandError(f"{error}{before}") from error
        out.result(f"forgotten: {id}")
    out.json_result({"workspace": place_name(args.workspace), "forgotten": seqs})
    out.info("backups and exports made before still have what was forgotten")
    _settle(workspace, out)


def _check_set(args: argparse.Namespace) -> None:
    args.changes = {name.replace("-", "_"): _value(name, text) for name, text in args.settings}


def _value(name: str, text: str) -> Any:
    """Return the value of a setting; UsageError if it has another type."""
    if name.replace("-", "_") in ("min_precision", "audit"):
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{name}={text}: must be a number") from None
    return SWITCHES.get(text, text)


def _set(workspace: Workspace, args: argparse.Namespace, out: Output) -> None:
    try:
        seq = workspace.change_settings(actor=ACTOR, **args.changes)
    except RefusedError as error:
        raise UsageError(str(error)) from error
    out.json_result(
        {
            "workspace": place_name(args.workspace),
            "seq": seq,
            "settings": workspace.settings.to_json(),
        }
    )
    changed = ", ".join(f"{name}={text}" for name, text in args.settings)
    out.result(f"{changed}; {_reverse(args, seq)} takes it back")
    if args.changes.get("content") == "features":
        out.info("texts that are in the workspace already stay there; 'forget' removes them")


def _reverse(args: argparse.Namespace, seq: int) -> str:
    """Return the command that undoes an event."""
    return f"'tagalong journal undo {shlex.quote(place_name(args.workspace))} {seq}'"


def _compact(workspace: Workspace, args: argparse.Namespace, out: Output) -> None:
    _settle(workspace, out)
    before = disk_bytes(args.workspace)
    workspace.compact()
    after = disk_bytes(args.workspace)
    out.json_result(
        {"workspace": place_name(args.workspace), "bytes": {"before": before, "after": after}}
    )
    out.result(
        f"{place_name(args.workspace)}: {size_text(sum(after.values()))} "
        f"({size_text(sum(before.values()))} before)"
    )


def _settle(workspace: Workspace, out: Output) -> None:
    """Wait until the model has followed every event, so that the next command need not compute it.

    What was changed is on the disk already: the wait may be interrupted.
    """
    with Live(out.quiet) as live:
        while not workspace.is_settled:
            try:
                workspace.settle(SECONDS_BETWEEN_LOOKS)
            except TimeoutError:
                texts = [str(each) for each in workspace.problems]
                if len(texts) > len(set(texts)):  # it was tried twice
                    raise CommandError(
                        f"the change is stored, but the model cannot be computed: {texts[-1]}"
                    ) from None
                if live.is_due():
                    live.show(["computing the model"], [["..."]], "computing the model")


ACTIONS: Mapping[str, Callable[[Workspace, argparse.Namespace, Output], None]] = MappingProxyType(
    {
        "answer": _answer,
        "undo": _undo,
        "forget": _forget,
        "set": _set,
        "compact": _compact,
    }
)
CHECKS: Mapping[str, Callable[[argparse.Namespace], None]] = MappingProxyType(
    {"answer": _check_answer, "undo": _check_undo, "set": _check_set}
)
