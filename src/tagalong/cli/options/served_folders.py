"""Actions of commands about a folder that is served."""

from typing import Any

from tagalong.cli import arguments as shared

__all__ = ["add_action", "finish_action"]


def add_action(actions: Any, place: str, name: str, help: str, description: str) -> Any:
    """Add an action whose first argument is what a server serves, and return its parser.

    Parameters
    ----------
    actions : object
        The actions of the command.
    place : str
        Name of the first argument.
    name, help, description : str
        Name of the action, and its help in short and in full.
    """
    parser = actions.add_parser(name, help=help, description=description, allow_abbrev=False)
    folder = parser.add_argument(
        place, metavar=place.upper(), help="folder that is served, or the URL of --journal"
    )
    folder.complete = {"bash": "_shtab_compgen_dirs", "zsh": "_directories"}
    return parser


def finish_action(parser: Any) -> None:
    """Add the output options to the parser of an action.

    Parameters
    ----------
    parser : CommandParser
        The parser.
    """
    shared.add_output(parser)
    parser.usage = parser.short_usage()
