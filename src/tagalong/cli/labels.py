"""``tagalong labels``: list, rename, merge, remove labels, or set their targets.

They are those of a model file or of a workspace, in which every change is an event.
"""

import argparse
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from tagalong.cli.errors import OK, CommandError
from tagalong.cli.label_list import list_labels
from tagalong.cli.models import find_label, load_tagger, locked_tagger
from tagalong.cli.output import Output
from tagalong.cli.run_state import RUN_NOTE
from tagalong.tagger.targets import Target

__all__ = ["run"]


class LabelHolder(Protocol):
    """A tagger or a workspace."""

    @property
    def labels(self) -> list[Any]:
        """The labels, in order of appearance."""

    def rename_label(self, old: Any, new: Any) -> object:
        """Rename a label."""

    def merge_labels(self, labels: Sequence[Any], into: Any) -> object:
        """Merge labels into one, which may be new."""

    def forget_label(self, label: Any) -> object:
        """Remove a label."""

    def set_min_precision(self, label: Any, min_precision: Target | None) -> object:
        """Give a label its own required precision."""


def run(args: argparse.Namespace, out: Output) -> int:
    """List the labels of a model, or change them and save it."""
    if os.path.isdir(args.model):
        return _run_in_workspace(args, out)
    if args.action == "list":
        list_labels(load_tagger(args.model), args, out)
        return OK
    with locked_tagger(args.model, args, out) as tagger:
        done = ACTIONS[args.action](tagger, args)
        # The saved measures of a run refer to the old labels. Targets do not change them.
        ended = args.action != "set" and tagger.notes.pop(RUN_NOTE, None) is not None
        tagger.save(args.model)
    _report(args, out, done, tagger.labels, ended=ended)
    if ended:
        out.info("--resume no longer works for this model; use --continue to learn further items")
    return OK


def _run_in_workspace(args: argparse.Namespace, out: Output) -> int:
    from tagalong.cli.workspaces import open_workspace, workspace_tagger  # slow to import

    args.workspace = args.model
    if args.action == "list":
        list_labels(workspace_tagger(args, out), args, out)
        return OK
    with open_workspace(args.model, args, out) as workspace:
        done = ACTIONS[args.action](workspace, args)
        _report(args, out, done, workspace.labels, ended=False)
    return OK


def _report(
    args: argparse.Namespace, out: Output, done: str, labels: Sequence[Hashable], *, ended: bool
) -> None:
    out.json_result({"model": args.model, "done": done, "labels": labels, "run_ended": ended})
    out.result(done)


def _rename(holder: LabelHolder, args: argparse.Namespace) -> str:
    old = find_label(holder, args.old)
    if args.new in map(str, holder.labels):
        raise CommandError(
            f"the model already has a label {args.new!r}; 'tagalong labels merge' merges labels"
        )
    holder.rename_label(old, args.new)
    return f"renamed {old} to {args.new}"


def _merge(holder: LabelHolder, args: argparse.Namespace) -> str:
    labels = [find_label(holder, text) for text in args.labels]
    known = {str(label): label for label in holder.labels}
    holder.merge_labels(labels, known.get(args.into, args.into))
    return f"merged {', '.join(map(str, labels))} into {args.into}"


def _forget(holder: LabelHolder, args: argparse.Namespace) -> str:
    labels = [find_label(holder, text) for text in args.labels]
    for label in dict.fromkeys(labels):
        holder.forget_label(label)
    return f"removed {', '.join(map(str, labels))}"


def _set(holder: LabelHolder, args: argparse.Namespace) -> str:
    labels = [find_label(holder, text) for text in args.labels]
    value: Target | None = args.min_precision
    if args.default or args.never:
        value = "never" if args.never else None
    for label in labels:
        holder.set_min_precision(label, value)
    names = ", ".join(map(str, labels))
    if value is None:
        return f"{names}: sure at the usual precision"
    return f"{names}: never sure" if value == "never" else f"{names}: sure at {value:g}"


ACTIONS: Mapping[str, Callable[[LabelHolder, argparse.Namespace], str]] = MappingProxyType(
    {"rename": _rename, "merge": _merge, "forget": _forget, "set": _set}
)
