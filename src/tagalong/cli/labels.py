"""``tagalong labels``: rename, merge or remove labels of a model."""

import argparse

from tagalong.cli.errors import OK, CommandError
from tagalong.cli.models import find_label, load_tagger
from tagalong.cli.output import Output
from tagalong.cli.run_state import RUN_NOTE
from tagalong.tagger import Tagger

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Change the labels of a model, and save it."""
    tagger = load_tagger(args.model)
    if args.action == "rename":
        done = _rename(tagger, args)
    elif args.action == "merge":
        done = _merge(tagger, args)
    else:
        done = _forget(tagger, args)
    # The saved measures of a run refer to the old labels.
    ended = tagger.notes.pop(RUN_NOTE, None) is not None
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
