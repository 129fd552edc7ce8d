"""Arguments of ``tagalong serve``."""

import argparse

from tagalong.cli import arguments as shared

__all__ = ["ACCESS_LOG", "HOST", "NO_LOG", "PORT", "add_serve"]

HOST = "127.0.0.1"
PORT = 8420
ACCESS_LOG = "-"
NO_LOG = "none"


def add_serve(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``tagalong serve``."""
    folder = parser.add_argument(
        "workspace",
        metavar="WORKSPACE",
        nargs="?",
        help="folder of the workspace; it is made if it is not there",
    )
    folder.complete = {"bash": "_shtab_compgen_dirs", "zsh": "_directories"}  # type: ignore[attr-defined]
    parser.add_argument(
        "--demo",
        action="store_true",
        help="serve a temporary workspace that has learnt part of the Python documentation, "
        "instead of WORKSPACE; it is removed at the end",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="do not open the page in a browser"
    )
    shared.add_wait(parser, "workspace")
    _add_network(parser)
    _add_operation(parser)
    parser.usage = f"{parser.prog} (WORKSPACE | --demo) [options]"


def _add_network(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("network")
    group.add_argument(
        "--host",
        default=HOST,
        metavar="ADDRESS",
        help=f"address to listen at (default: {HOST}, which only this machine can reach)",
    )
    group.add_argument(
        "--port",
        type=_port,
        default=PORT,
        metavar="N",
        help=f"port to listen at; 0 takes a free one (default: {PORT})",
    )
    group.add_argument(
        "--allow-remote",
        action="store_true",
        help="allow a --host that other machines can reach; the connection is not encrypted, so "
        "use a reverse proxy with HTTPS, or a network that you trust",
    )
    group.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="name under which a reverse proxy on this machine is called, such as "
        "tags.example.org; its headers X-Forwarded-For and X-Forwarded-Proto count then; can be "
        "given several times",
    )


def _add_operation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("operation")
    group.add_argument(
        "--access-log",
        metavar="FILE",
        help="file to append a line of JSON to for each request, without any content; - for "
        "standard error (the default, unless --quiet is given), none for errors only",
    )
    group.add_argument(
        "--journal",
        metavar="URL",
        help="keep the journals of all workspaces in PostgreSQL, for example "
        "postgresql://host/database, where several servers share them (default: in WORKSPACE)",
    )
    group.add_argument(
        "--advertise",
        metavar="URL",
        help="address under which the other servers that share the journals reach this one",
    )


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a port such as {PORT}, got {text!r}") from None
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"must be from 0 to 65535, got {text}")
    return port
