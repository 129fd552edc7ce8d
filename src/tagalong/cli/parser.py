"""The commands, and the parser of the command line."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from tagalong import __version__
from tagalong.cli.arguments import add_output
from tagalong.cli.command_parser import CommandParser
from tagalong.cli.errors import EXIT_CODES
from tagalong.cli.options.mail import add_file
from tagalong.cli.options.models import (
    add_evaluate,
    add_explain,
    add_inspect,
    add_labels,
    add_prune,
    add_suggest,
)
from tagalong.cli.options.others import add_completion, add_convert, add_streams
from tagalong.cli.options.training import add_compare, add_fit, add_learn

__all__ = ["COMMANDS", "make_parser"]

EXAMPLE = """\
example:
  tagalong learn pydocs: --model docs.tagalong
  tagalong suggest --model docs.tagalong --text "Return the square root of x."
  tagalong explain --model docs.tagalong --text "Return the square root of x." --label math
  tagalong inspect docs.tagalong
"""


class Command(NamedTuple):
    """One command: what it does, its arguments, and the module that runs it."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    module: str


COMMANDS = {
    "learn": Command(
        "Learn items one after the other, each predicted before it is learnt.", add_learn, "learn"
    ),
    "fit": Command(
        "Learn all items at once, with a batch learner, and measure on some held out.",
        add_fit,
        "fit",
    ),
    "suggest": Command("Suggest labels for items, as JSON lines.", add_suggest, "suggest"),
    "evaluate": Command(
        "Measure a model on labelled items. Nothing is learnt.", add_evaluate, "evaluate"
    ),
    "compare": Command(
        "Compare learners and settings on one stream, read once.", add_compare, "compare"
    ),
    "file": Command(
        "Sort the mail of a Maildir into its folders, where that is sure enough.",
        add_file,
        "file_mail",
    ),
    "explain": Command(
        "Show the words that speak for and against a label.", add_explain, "explain"
    ),
    "inspect": Command(
        "Show what is in a model: labels, sizes, settings, certificate.",
        add_inspect,
        "inspect_model",
    ),
    "convert": Command("Write items in another format.", add_convert, "convert"),
    "streams": Command("List the built-in streams of real data.", add_streams, "list_streams"),
    "labels": Command("Rename, merge or forget labels of a model.", add_labels, "labels"),
    "prune": Command("Keep the features of a model that matter most.", add_prune, "prune"),
    "completion": Command(
        "Print a script that completes commands in a shell.", add_completion, "completion"
    ),
}


def make_parser(only: str | None = None) -> CommandParser:
    """Return the parser.

    Parameters
    ----------
    only : str, optional
        Leave out the arguments of all commands but this one; all have them by default.
    """
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())
    parser = CommandParser(
        prog="tagalong",
        description="Learns to file things under labels while you work.",
        epilog=f"{EXAMPLE}\nexit codes:\n{codes}\n\n'tagalong COMMAND --help' tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tagalong {__version__}")
    commands: Any = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=command.help[0].lower() + command.help[1:].rstrip("."),
            description=command.help,
            allow_abbrev=False,
        )
        own.set_defaults(module=command.module)
        if only in (None, name):
            command.add_arguments(own)
            if name != "labels":  # whose actions have them
                add_output(own)
                own.usage = own.short_usage()
    return parser
