"""The server of ``--server``: its address, the token, and errors in words."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.output import Output
from tagalong.client import Client, ServerError, Unauthorized
from tagalong.client.address import Address

__all__ = ["TOKEN_VARIABLE", "open_client"]

TOKEN_VARIABLE = "TAGALONG_TOKEN"
DEFAULT = "default"
"""The workspace that every server has."""
MOST_TOKEN_BYTES = 10_000


@contextmanager
def open_client(args: argparse.Namespace, out: Output) -> Iterator[Client]:
    """Return a client for the server of the command line; its errors become a CommandError.

    Parameters
    ----------
    args : Namespace
        The arguments of the command.
    out : Output
        Says that the command waits for the server.
    """
    token, place = _token(args)
    told: list[str] = []

    def tell(error: ServerError, seconds: float) -> None:
        if told[-1:] != [error.detail]:
            told.append(error.detail)
            out.info(f"waiting for {args.server}: {error.detail}")

    try:
        client = Client(args.server, token, args.server_workspace or DEFAULT, on_wait=tell)
    except ValueError as error:
        wrong = place if "token" in str(error) else "--server"
        raise UsageError(f"{wrong}: {error}") from None
    with client:
        try:
            yield client
        except Unauthorized as error:
            raise CommandError(str(error), f"the token is that of {place}") from error
        except ServerError as error:
            raise CommandError(str(error)) from error


def _token(args: argparse.Namespace) -> tuple[str, str]:
    """Return the token, and where it comes from; UsageError if there is none."""
    if args.token_file is not None:
        with open(args.token_file, "rb") as file:
            data = file.read(MOST_TOKEN_BYTES)
        # The client refuses anything but ASCII, without showing it.
        return data.decode("ascii", "replace").strip(), f"--token-file {args.token_file}"
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if token:
        return token, f"the environment variable {TOKEN_VARIABLE}"
    raise UsageError(
        f"--server {args.server} needs a token: give --token-file FILE, or set the environment "
        f"variable {TOKEN_VARIABLE}{_own_token_file(args.server)}"
    )


def _own_token_file(url: str) -> str:
    """Return where the token of a server of this machine is, in words; "" for another one."""
    try:
        is_here = Address(url).is_loopback
    except ValueError:
        return ""
    if not is_here:
        return ""
    return f"; 'tagalong serve DIR' keeps the token of its owner in the file {Path('DIR', 'token')}"
