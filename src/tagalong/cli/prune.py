"""``tagalong prune``: a smaller model with fewer features."""

import argparse
import os
from dataclasses import asdict

from tagalong.cli.errors import OK
from tagalong.cli.models import locked_tagger
from tagalong.cli.output import Output, size_text
from tagalong.cli.run_state import RUN_NOTE

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Prune the model and save it."""
    with locked_tagger(args.model, args, out) as tagger:
        before, bytes_before = tagger.size(), os.path.getsize(args.model)
        after = tagger.prune(args.features)
        pruned = after.features < before.features
        # The saved measures of a run refer to the old weights.
        ended = pruned and tagger.notes.pop(RUN_NOTE, None) is not None
        if pruned:
            tagger.save(args.model)
    bytes_after = os.path.getsize(args.model)
    out.json_result(
        {
            "model": args.model,
            "before": {**asdict(before), "file_bytes": bytes_before},
            "after": {**asdict(after), "file_bytes": bytes_after},
            "run_ended": ended,
        }
    )
    out.result(
        f"features with weights: {before.features:,} before, {after.features:,} now; size of the "
        f"file: {size_text(bytes_before)} before, {size_text(bytes_after)} now"
    )
    if ended:
        out.info("--resume no longer works for this model; use --continue to learn further items")
    return OK
