"""``tagalong streams``: the built-in streams of real data."""

import argparse

from tagalong.cli.errors import OK
from tagalong.cli.output import Output, table
from tagalong.readers.registry import streams

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """List them."""
    found = streams()
    out.document(
        [
            {
                "source": stream.source,
                "description": stream.description,
                "available": stream.available,
                "problem": stream.problem,
            }
            for stream in found
        ]
    )
    rows = [(each.source, each.description, each.problem or "ready") for each in found]
    out.show("\n".join(table(rows, numbers_from=3)))
    return OK
