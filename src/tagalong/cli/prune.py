"""``tagalong prune``: a smaller model, with the features that matter most."""

import argparse
import os
from dataclasses import asdict

from tagalong.cli.errors import OK
from tagalong.cli.models import load_tagger
from tagalong.cli.output import Output, size_text
from tagalong.cli.run_state import NOTE

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Prune a model, and save it."""
    tagger = load_tagger(args.model)
    before, bytes_before = tagger.size(), os.path.getsize(args.model)
    after = tagger.prune(args.features)
    pruned = after.features < before.features
    # The figures of a run are about the weights as they were.
    ended = pruned and tagger.notes.pop(NOTE, None) is not None
    if pruned:
        tagger.save(args.model)
    bytes_after = os.path.getsize(args.model)
    out.document(
        {
            "model": args.model,
            "before": {**asdict(before), "file_bytes": bytes_before},
            "after": {**asdict(after), "file_bytes": bytes_after},
            "run_ended": ended,
        }
    )
    out.show(
        f"{before.features:,} features with weights before, {after.features:,} now; the file had "
        f"{size_text(bytes_before)} and has {size_text(bytes_after)}"
    )
    if ended:
        out.say("the run of this model cannot be resumed any more; --continue goes on learning")
    return OK
