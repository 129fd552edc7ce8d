"""``tagalong export``: a compact copy of a model, for predictions only."""

import argparse
import os
import stat

from tagalong.cli.errors import OK, CommandError, UsageError
from tagalong.cli.models import (
    check_destination,
    check_not_an_input,
    load_tagger,
    locked_model,
)
from tagalong.cli.output import Output, size_text
from tagalong.cli.sources import READING_NOTE

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Write a compact copy of the model."""
    check_destination(args.out, "--out")
    if os.path.exists(args.out) and not os.path.isfile(args.out):
        raise UsageError(f"--out {args.out} is not a regular file; a model cannot be saved there")
    check_not_an_input(args.out, "--out", None, [args.model])
    tagger = load_tagger(args.model)
    try:
        compact = tagger.compact()
    except ValueError as error:
        raise CommandError(f"{args.model}: {error}") from error
    if READING_NOTE in tagger.notes:  # how to read further items
        compact.notes[READING_NOTE] = tagger.notes[READING_NOTE]
    before = os.stat(args.model)
    with locked_model(args.out, args, out):
        # A model that nobody else may read has no copy that others may read.
        compact.save(args.out, private=not stat.S_IMODE(before.st_mode) & 0o077)
    size = os.path.getsize(args.out)
    out.json_result(
        {
            "model": args.model,
            "out": args.out,
            "file_bytes": {"before": before.st_size, "after": size},
        }
    )
    out.result(
        f"compact model saved to {args.out} ({size_text(size)}; {args.model} has "
        f"{size_text(before.st_size)}): it suggests and explains, but does not learn"
    )
    return OK
