"""``tagalong completion``: a script that completes commands in a shell."""

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
        raise CommandError("completion needs shtab: install tagalong[completion]") from None
    script = shtab.complete(make_parser(), args.shell)
    out.document({"shell": args.shell, "script": script})
    out.show(script)
    return OK
