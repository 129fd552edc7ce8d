"""``tagalong streams``: the list of built-in streams of real data."""

import argparse

from tagalong.cli.errors import OK
from tagalong.cli.output import Output, table
from tagalong.readers.registry import streams

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the list."""
    found = streams()
    out.json_result(
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
    out.result(*table(rows, numbers_from=3))
    return OK
