"""Options that have a meaning only with ``--server``."""

import argparse

from tagalong.cli.errors import UsageError

__all__ = ["check_server_options"]


def check_server_options(args: argparse.Namespace) -> None:
    """Raise UsageError if an option for a server is given without ``--server``."""
    for flag, given in (
        ("--server-workspace", args.server_workspace),
        ("--token-file", args.token_file),
    ):
        if given is not None:
            raise UsageError(f"{flag} {given} needs --server URL")
