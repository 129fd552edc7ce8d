"""``tagalong labels``: list, rename, merge, remove labels of a model, or set their targets."""

import argparse
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tagalong.cli.errors import OK, CommandError
from tagalong.cli.label_list import list_labels
from tagalong.cli.models import find_label, load_tagger, locked_tagger
from tagalong.cli.output import Output
from tagalong.cli.run_state import RUN_NOTE
from tagalong.tagger import Tagger
from tagalong.tagger.targets import Target

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """List the labels of a model, or change them and save it."""
    if args.action == "list":
        list_labels(load_tagger(args.model), args, out)
        return OK
    with locked_tagger(args.model, args, out) as tagger:
        done = ACTIONS[args.action](tagger, args)
        # The saved measures of a run refer to the old labels. Targets do not change them.
        ended = args.action != "set" and tagger.notes.pop(RUN_NOTE, None) is not None
        tagger.save(args.model)
    out.json_result(
        {"model": args.model, "done": done, "labels": tagger.labels, "run_ended": ended}
    )
    out.result(done)
    if ended:
        out.info("--resume no longer works for this model; use --continue to learn further items")
    return OK


def _rename(tagger: Tagger, args: argparse.Namespace) -> str:
    old = find_label(tagger, args.old)
    if args.new in map(str, tagger.labels):
        raise CommandError(
            f"the model already has a label {args.new!r}; 'tagalong labels merge' merges labels"
        )
    tagger.rename_label(old, args.new)
    return f"renamed {old} to {args.new}"


def _merge(tagger: Tagger, args: argparse.Namespace) -> str:
    labels = [find_label(tagger, text) for text in args.labels]
    known = {str(label): label for label in tagger.labels}
    tagger.merge_labels(labels, known.get(args.into, args.into))
    return f"merged {', '.join(map(str, labels))} into {args.into}"


def _forget(tagger: Tagger, args: argparse.Namespace) -> str:
    labels = [find_label(tagger, text) for text in args.labels]
    for label in dict.fromkeys(labels):
        tagger.forget_label(label)
    return f"removed {', '.join(map(str, labels))}"


def _set(tagger: Tagger, args: argparse.Namespace) -> str:
    labels = [find_label(tagger, text) for text in args.labels]
    value: Target | None = args.min_precision
    if args.default or args.never:
        value = "never" if args.never else None
    for label in labels:
        tagger.set_min_precision(label, value)
    names = ", ".join(map(str, labels))
    if value is None:
        return f"{names}: sure at the usual precision"
    return f"{names}: never sure" if value == "never" else f"{names}: sure at {value:g}"


ACTIONS: Mapping[str, Callable[[Tagger, argparse.Namespace], str]] = MappingProxyType(
    {"rename": _rename, "merge": _merge, "forget": _forget, "set": _set}
)
