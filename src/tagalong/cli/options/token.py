"""Arguments of ``tagalong token``."""

import argparse
from typing import Any

from tagalong.cli.options.served_folders import add_action, finish_action

__all__ = ["add_token"]


def add_token(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``tagalong token``."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    add = add_action(
        actions,
        "workspace",
        "add",
        "make a token for a person or a program",
        "Make a token with which a person or a program uses a workspace that is served. It counts "
        "at once, also if the server runs already. Only its hash is stored: this is the only time "
        "that the token is shown.",
    )
    _add_name(add)
    add.add_argument(
        "--read-only",
        action="store_true",
        help="allow looking and suggestions, but no changes",
    )
    finish_action(add)
    finish_action(
        add_action(
            actions,
            "workspace",
            "list",
            "list the named tokens",
            "List the named tokens of a workspace. The tokens themselves are not stored.",
        )
    )
    remove = add_action(
        actions,
        "workspace",
        "remove",
        "remove a token, which ends its log-ins",
        "Remove a token. From now on the server refuses it, and the log-ins made with it.",
    )
    _add_name(remove)
    finish_action(remove)
    finish_action(
        add_action(
            actions,
            "workspace",
            "renew",
            "replace the owner's token, which ends all log-ins",
            "Replace the owner's token, in the file 'token' of the workspace, and show the new "
            "one. From now on the server refuses the old one, and all log-ins. Named tokens stay.",
        )
    )


def _add_name(parser: Any) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        help="name of the token, which the journal shows with each change: up to 63 characters of "
        "a-z, 0-9, '_', '.' and '-'",
    )
