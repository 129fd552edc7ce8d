"""The table of commands, and the parser of the command line."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from tagalong.cli.arguments import add_output
from tagalong.cli.command_parser import CommandParser
from tagalong.cli.errors import EXIT_CODES
from tagalong.cli.options.journal import add_journal
from tagalong.cli.options.mail import add_file
from tagalong.cli.options.models import (
    add_evaluate,
    add_explain,
    add_export,
    add_inspect,
    add_labels,
    add_prune,
    add_suggest,
)
from tagalong.cli.options.others import add_completion, add_convert, add_streams
from tagalong.cli.options.serve import add_serve
from tagalong.cli.options.token import add_token
from tagalong.cli.options.training import add_compare, add_fit, add_learn
from tagalong.cli.options.workspaces import add_workspaces

__all__ = ["COMMANDS", "make_parser", "short_help"]

EXAMPLE = """\
example:
  tagalong learn pydocs: --model docs.tagalong
  tagalong suggest --model docs.tagalong --text "Return the square root of x."
  tagalong explain --model docs.tagalong --text "Return the square root of x." --label math
  tagalong inspect docs.tagalong
"""


# The commands in the order in which a newcomer needs them.
TASKS = {
    "file things": ("learn", "suggest", "file", "explain"),
    "look after a model": ("inspect", "labels", "prune", "export", "fit"),
    "look after a workspace": ("serve", "journal", "workspaces", "token"),
    "measure": ("evaluate", "compare"),
    "data and shell": ("convert", "streams", "completion"),
}


ACTIONS = ("labels", "journal", "workspaces", "token")
"""Commands with actions, which have the output options themselves."""


class Command(NamedTuple):
    """A command: its help text, the function that adds its arguments, and its module."""

    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    module: str


COMMANDS = {
    "learn": Command(
        "Learn items one by one with an online learner, predicting each item before learning it.",
        add_learn,
        "learn",
    ),
    "fit": Command(
        "Train a batch learner on all items at once, and measure it on held-out items.",
        add_fit,
        "fit",
    ),
    "suggest": Command(
        "Suggest labels for items, as one line of JSON per item or as a table.",
        add_suggest,
        "suggest",
    ),
    "evaluate": Command(
        "Measure a model on labelled items, without learning from them.", add_evaluate, "evaluate"
    ),
    "compare": Command(
        "Compare several learners or settings in one run over the same items.",
        add_compare,
        "compare",
    ),
    "file": Command(
        "Move messages from the inbox of a Maildir to its folders, if the model is sure enough.",
        add_file,
        "file_mail",
    ),
    "explain": Command(
        "Show how much each word of an item adds to the score of a label.", add_explain, "explain"
    ),
    "inspect": Command(
        "Show the contents of a model file: labels, size, settings, certificate.",
        add_inspect,
        "inspect_model",
    ),
    "convert": Command("Convert items to another file format.", add_convert, "convert"),
    "streams": Command("List the built-in streams of real data.", add_streams, "list_streams"),
    "labels": Command(
        "List, rename, merge or remove the labels of a model, or set how sure they must be.",
        add_labels,
        "labels",
    ),
    "prune": Command(
        "Make a model smaller by removing the features with the shortest weight vectors.",
        add_prune,
        "prune",
    ),
    "export": Command(
        "Write a compact copy of a model, for predictions only.",
        add_export,
        "export",
    ),
    "journal": Command(
        "Show, check, export, back up or change a workspace: events, undo, forgetting, settings.",
        add_journal,
        "journal",
    ),
    "serve": Command(
        "Serve a workspace: a page for people and an HTTP API for programs.",
        add_serve,
        "serve",
    ),
    "workspaces": Command(
        "List, make or remove the workspaces in a folder that is served.",
        add_workspaces,
        "served_workspaces",
    ),
    "token": Command(
        "Say who may use a workspace that is served: make, list, remove or replace tokens.",
        add_token,
        "token",
    ),
    "completion": Command(
        "Print a script that makes a shell complete tagalong commands.",
        add_completion,
        "completion",
    ),
}


def short_help() -> list[str]:
    """Return the commands with one line each, for a command line without any."""
    lines = ["usage: tagalong COMMAND [options]"]
    for task, names in TASKS.items():
        lines += ["", f"{task}:"]
        lines += [f"  {name:<11} {_as_phrase(COMMANDS[name].help)}" for name in names]
    lines += [
        "",
        "'tagalong COMMAND --help' describes a command, 'tagalong --help' shows an example.",
    ]
    return lines


def _as_phrase(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:].rstrip(".")


def make_parser(only: str | None = None) -> CommandParser:
    """Return the parser.

    Parameters
    ----------
    only : str, optional
        Add the arguments of this command only, to save time (default: of all commands).
    """
    codes = "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())
    parser = CommandParser(
        prog="tagalong",
        description="Learn to file items under labels, and suggest labels for new items.",
        epilog=f"{EXAMPLE}\nexit codes:\n{codes}\n\n"
        "'tagalong COMMAND --help' describes a command and its options.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--version",
        action=_ShowVersion,
        nargs=0,
        default=argparse.SUPPRESS,
        help="show program's version number and exit",
    )
    commands: Any = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=_as_phrase(command.help),
            description=command.help,
            allow_abbrev=False,
        )
        own.set_defaults(module=command.module)
        if only in (None, name):
            command.add_arguments(own)
            if name not in ACTIONS:
                add_output(own)
                own.usage = own.usage or own.short_usage()
    return parser


class _ShowVersion(argparse.Action):
    """Prints the version, which takes long to find out, and ends the process."""

    def __call__(self, parser: argparse.ArgumentParser, *args: object) -> None:
        from tagalong import __version__
        from tagalong.cli.output import Output

        Output().result(f"tagalong {__version__}")
        parser.exit()
