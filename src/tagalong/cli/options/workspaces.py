"""Arguments of ``tagalong workspaces``."""

import argparse
from typing import Any

from tagalong.cli.options.served_folders import add_action, finish_action

__all__ = ["add_workspaces"]


def add_workspaces(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``tagalong workspaces``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    finish_action(
        add_action(
            actions,
            "folder",
            "list",
            "list the workspaces",
            "List the workspaces in a folder that is served, with the number of their events.",
        )
    )
    add = add_action(
        actions,
        "folder",
        "add",
        "make a workspace",
        "Make a workspace beside the default one, with its own items, labels and model. A server "
        "that runs already finds it.",
    )
    _add_name(add)
    finish_action(add)
    remove = add_action(
        actions,
        "folder",
        "remove",
        "remove a workspace for good",
        "Remove a workspace with everything in it. This cannot be undone: make a backup first. "
        "While a server has it open, it is removed with DELETE /api/v1/workspaces/NAME.",
    )
    _add_name(remove)
    remove.add_argument(
        "--yes",
        action="store_true",
        help="confirm that it is to be removed, which cannot be undone",
    )
    finish_action(remove)


def _add_name(parser: Any) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="name of the workspace: up to 63 characters of a-z, 0-9, '_' and '-'",
    )
