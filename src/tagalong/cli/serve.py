"""``tagalong serve``: an HTTP API and a page for a workspace."""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlsplit

from tagalong.cli.errors import OK, CommandError, UsageError

try:
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise CommandError(
        f"serve needs the package {error.name}, which is not installed: "
        "pip install 'tagalong[serve]'"
    ) from error

from tagalong.cli.browser import open_browser
from tagalong.cli.demo_workspace import demo_workspace
from tagalong.cli.options.serve import ACCESS_LOG, NO_LOG
from tagalong.cli.output import Output
from tagalong.files.lock import BusyError
from tagalong.journal import JournalError
from tagalong.journal.limits import Limits, read_limits
from tagalong.server.access.hosts import AllowedHosts
from tagalong.server.access.token_records import TokenError
from tagalong.server.access.token_store import TokenStore
from tagalong.server.access.tokens import FileTokens
from tagalong.server.api.forwarding import Holder
from tagalong.server.app import make_app
from tagalong.server.directories import Directory, FolderDirectory
from tagalong.server.http.connections import ConnectionLimits
from tagalong.server.http.listening import ListenError, is_loopback
from tagalong.server.http.log_writer import LogFile, LogWriter
from tagalong.server.http.running import HttpServer, Running
from tagalong.server.service import Service

__all__ = ["run", "run_server"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Serve a workspace until the process is told to stop."""
    _check(args)
    try:
        _check_host(args)
        with _folder(args, out) as folder, _service(args, folder, out) as service:
            run_server(service, args, out)
    except BusyError as error:
        raise CommandError(f"{error}; --wait SECONDS waits longer") from error
    except (JournalError, ListenError, TokenError) as error:
        raise CommandError(str(error)) from error
    return OK


def _check(args: argparse.Namespace) -> None:
    if args.demo and args.workspace is not None:
        raise UsageError(
            f"--demo has a workspace of its own: leave out --demo, or leave out {args.workspace}"
        )
    if not args.demo and args.workspace is None and args.journal is None:
        raise UsageError(
            "give the folder of a workspace, as in 'tagalong serve mail', or --demo; the folder is "
            "made if it is not there"
        )
    if args.demo and args.journal is not None:
        raise UsageError("--demo does not work with --journal: its workspace is temporary")
    if args.advertise is not None and args.journal is None:
        raise UsageError("--advertise needs --journal: only servers that share journals use it")
    try:
        AllowedHosts(args.allow_host)
    except ValueError as error:
        raise UsageError(f"--allow-host: {error}") from error
    try:
        if args.advertise is not None:
            Holder.checked(args.advertise)
    except ValueError as error:
        raise UsageError(f"--advertise: {error}") from error


def _check_host(args: argparse.Namespace) -> None:
    if not args.allow_remote and not is_loopback(args.host):
        raise UsageError(
            f"--host {args.host} can be reached from other machines, and the connection is not "
            "encrypted: add --allow-remote if you want that",
            "for access from elsewhere it is better to use a reverse proxy with HTTPS on this "
            "machine, and --allow-host NAME instead of --host",
        )


@contextmanager
def _folder(args: argparse.Namespace, out: Output) -> Iterator[Path | None]:
    """Return the folder of the workspace, or that of a temporary one; None without any."""
    if args.demo:
        with demo_workspace(out) as folder:
            yield folder
    else:
        yield None if args.workspace is None else Path(args.workspace)


@contextmanager
def _service(args: argparse.Namespace, folder: Path | None, out: Output) -> Iterator[Service]:
    def warn(problem: object) -> None:
        out.info(f"tagalong: warning: {problem}")

    own_name = [] if is_loopback(args.host) or args.host in _ALL_ADDRESSES else [args.host]
    if args.advertise is not None:
        own_name.append(urlsplit(args.advertise).hostname or "")
    limits = Limits() if folder is None else read_limits(folder)
    directory: Directory
    tokens: TokenStore
    with ExitStack() as stack:
        if args.journal is not None:
            from tagalong.journal.postgres import PostgresWorkspaces
            from tagalong.server.access.postgres_tokens import PostgresTokens

            directory = PostgresWorkspaces(
                args.journal,
                advertise=args.advertise or "",
                lease_seconds=limits.lease_seconds,
                limits=limits,
            )
            directory.set_up()
            tokens = stack.enter_context(closing(PostgresTokens(args.journal)))
        else:
            assert folder is not None
            directory = FolderDirectory(folder, args.wait)
            tokens = FileTokens(folder, on_problem=warn)
        yield Service(
            directory,
            tokens,
            limits,
            allow_hosts=(*args.allow_host, *own_name),
            on_problem=lambda name, problem: warn(f"workspace {name}: {problem}"),
        )


_ALL_ADDRESSES = ("0.0.0.0", "::", "")


def run_server(service: Service, args: argparse.Namespace, out: Output) -> None:
    """Serve a service until the process is told to stop.

    Parameters
    ----------
    service : Service
        The service, which has not been started.
    args : Namespace
        The arguments of the command.
    out : Output
        Says where the service is.
    """
    log = _open_log(service, args, out)
    try:
        HttpServer(
            service,
            lambda: make_app(service, log.add, errors_only=_logs_errors_only(args)),
            service.request_metrics,
            host=args.host,
            port=args.port,
            running=Running(
                ConnectionLimits(connections=service.limits.connections),
                trust_proxy=bool(args.allow_host or service.limits.allow_hosts),
            ),
            on_ready=partial(_announce, service, args, out),
            on_late=lambda: out.error(
                "tagalong: stopped before everything was closed; the journal has all that was "
                "acknowledged"
            ),
        ).run()
    finally:
        log.close()


def _logs_errors_only(args: argparse.Namespace) -> bool:
    return args.access_log == NO_LOG or (args.access_log is None and args.quiet)


def _open_log(service: Service, args: argparse.Namespace, out: Output) -> LogWriter:
    on_loss = service.request_metrics.lose_log_lines
    if args.access_log in (None, ACCESS_LOG, NO_LOG):
        return LogWriter(lambda lines: out.error(*lines), on_loss)
    return LogWriter(LogFile(args.access_log), on_loss)


def _where_tokens_are(args: argparse.Namespace) -> str:
    if args.journal is not None:
        return "; programs use tokens of 'tagalong token add URL NAME'"
    return "" if args.demo else f"; programs use the token in {args.workspace}/token"


def _announce(service: Service, args: argparse.Namespace, out: Output, url: str) -> None:
    """Say where the service is, to a program or to a person, and open the page."""
    if out.json:
        out.json_result({"url": url, "token": service.tokens.owner()})
        out.flush()
        return
    page = f"{url}login?code={quote(service.sessions.new_code())}"
    out.result(f"Tagalong is ready: {page}")
    out.flush()
    out.info(f"the link works once, within a minute{_where_tokens_are(args)}")
    if args.host in _ALL_ADDRESSES and not service.allow_hosts:
        out.info("other machines need a name for this one that --allow-host allows")
    out.info("Ctrl-C stops the server")
    if not args.no_browser:
        open_browser(page)
