"""``tagalong labels``: labels of a model renamed, merged or forgotten."""

import argparse

from tagalong.cli.errors import OK
from tagalong.cli.models import find_label, load_tagger
from tagalong.cli.output import Output
from tagalong.cli.run_state import NOTE
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
    # The figures of a run are about the labels as they were.
    ended = tagger.notes.pop(NOTE, None) is not None
    tagger.save(args.model)
    out.document({"model": args.model, "done": done, "labels": tagger.labels, "run_ended": ended})
    out.show(done)
    if ended:
        out.say("the run of this model cannot be resumed any more; --continue goes on learning")
    return OK


def _rename(tagger: Tagger, args: argparse.Namespace) -> str:
    old = find_label(tagger, args.old)
    tagger.rename_label(old, args.new)
    return f"{old} is now called {args.new}"


def _merge(tagger: Tagger, args: argparse.Namespace) -> str:
    labels = [find_label(tagger, text) for text in args.labels]
    known = {str(label): label for label in tagger.labels}
    tagger.merge_labels(labels, known.get(args.into, args.into))
    return f"{', '.join(map(str, labels))} became {args.into}"


def _forget(tagger: Tagger, args: argparse.Namespace) -> str:
    labels = [find_label(tagger, text) for text in args.labels]
    for label in dict.fromkeys(labels):
        tagger.forget_label(label)
    return f"{', '.join(map(str, labels))} forgotten"
