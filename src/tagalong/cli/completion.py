"""``tagalong completion``: a script for the tab completion of a shell."""

import argparse

from tagalong.cli.errors import OK, CommandError
from tagalong.cli.output import Output
from tagalong.cli.parser import make_parser

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the script."""
    try:
        import shtab
    except ImportError:
        raise CommandError("completion needs shtab: pip install 'tagalong[completion]'") from None
    script = shtab.complete(make_parser(), args.shell)
    out.json_result({"shell": args.shell, "script": script})
    out.data(f"{script}\n")
    return OK
