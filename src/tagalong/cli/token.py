"""``tagalong token``: who may use a workspace that is served."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from types import MappingProxyType

from tagalong.cli.errors import OK, CommandError
from tagalong.cli.output import Output, table
from tagalong.files.lock import BusyError
from tagalong.server.access.token_records import TokenError, TokenRecord
from tagalong.server.access.token_store import TokenStore
from tagalong.server.access.tokens import FileTokens

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Make, list, remove or replace tokens. The server need not be stopped."""
    try:
        with _opened(args.workspace, out) as tokens:
            ACTIONS[args.action](tokens, args, out)
    except (TokenError, BusyError) as error:
        raise CommandError(str(error)) from error
    return OK


@contextmanager
def _opened(workspace: str, out: Output) -> Iterator[TokenStore]:
    """Return the tokens of a folder, or of a database whose URL is given."""
    if "://" in workspace:
        from tagalong.cli.shared_tokens import shared_tokens  # slow to import

        with shared_tokens(workspace) as tokens:
            yield tokens
        return
    _check_folder(workspace)
    yield FileTokens(
        workspace, on_problem=lambda problem: out.info(f"tagalong: warning: {problem}")
    )


def _check_folder(workspace: str) -> None:
    """Raise CommandError if no server would ever read tokens in this folder."""
    folder = Path(workspace).absolute()
    if not _is_served(folder):
        raise CommandError(
            f"{workspace}: there is no workspace in this folder; 'tagalong serve' makes one"
        )
    if folder.parent.name == "workspaces" and _is_served(folder.parent.parent):
        raise CommandError(
            f"{workspace}: tokens are for all workspaces of a server: give the folder "
            f"{folder.parent.parent}"
        )


def _is_served(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("journal.sqlite", "token"))


def _add(tokens: TokenStore, args: argparse.Namespace, out: Output) -> None:
    token = tokens.add(args.name, read_only=args.read_only)
    _show_token(args, out, args.name, token, args.read_only)
    rights = "allows no changes" if args.read_only else "allows changes"
    out.info(f"the token {args.name} {rights}; keep it now, it is not shown again")


def _list(tokens: TokenStore, args: argparse.Namespace, out: Output) -> None:
    found = tokens.list()
    out.json_result({"workspace": args.workspace, "tokens": [_facts(token) for token in found]})
    if not found:
        out.info(f"{args.workspace} has no named tokens; 'tagalong token add' makes one")
        return
    rows = [
        (token.name, "read-only" if token.read_only else "all", _created(token)) for token in found
    ]
    out.result(*table([("name", "rights", "made"), *rows], numbers_from=3))


def _facts(token: TokenRecord) -> dict[str, object]:
    created = None if token.created is None else _created(token)
    return {"name": token.name, "read_only": token.read_only, "created": created}


def _created(token: TokenRecord) -> str:
    if token.created is None:
        return ""
    return token.created.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _remove(tokens: TokenStore, args: argparse.Namespace, out: Output) -> None:
    tokens.remove(args.name)
    out.json_result({"workspace": args.workspace, "removed": args.name})
    out.result(f"removed: {args.name}; its log-ins have ended")


def _renew(tokens: TokenStore, args: argparse.Namespace, out: Output) -> None:
    token = tokens.renew()
    _show_token(args, out, "owner", token, False)
    out.info("this is the new token of the owner; the old one and all log-ins have ended")


def _show_token(
    args: argparse.Namespace, out: Output, name: str, token: str, read_only: bool
) -> None:
    """Write a token alone, so that a script can take it from standard output."""
    out.json_result(
        {"workspace": args.workspace, "name": name, "read_only": read_only, "token": token}
    )
    out.result(token)


ACTIONS: Mapping[str, Callable[[TokenStore, argparse.Namespace, Output], None]] = MappingProxyType(
    {"add": _add, "list": _list, "remove": _remove, "renew": _renew}
)
