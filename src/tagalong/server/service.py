"""`Service`: everything that requests need, from its start to its end."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, TypeVar

from tagalong.files.lock import BusyError
from tagalong.journal import JournalError, Workspace
from tagalong.journal.limits import Limits
from tagalong.server.access.sessions import Sessions
from tagalong.server.access.token_store import TokenStore
from tagalong.server.directories import DEFAULT, Directory
from tagalong.server.http.metrics import Metrics
from tagalong.server.http.request_metrics import RequestMetrics
from tagalong.server.jobs import Jobs
from tagalong.server.shared_commits import SharedCommits
from tagalong.server.threads import Threads
from tagalong.server.viewers import Viewers
from tagalong.server.workspace_metrics import add_workspace_metrics
from tagalong.server.workspaces import Workspaces

__all__ = ["Service"]

T = TypeVar("T")
THREADS = 32
JOB_THREADS = 4


class Service:
    """The state of a server.

    Parameters
    ----------
    directory : Directory
        Where the workspaces are.
    tokens : TokenStore
        Who has access.
    limits : Limits
        Limits of the service.
    allow_hosts : tuple of str
        Names of this server that a reverse proxy uses.
    on_problem : callable
        Called with the name of a workspace and a problem that was survived.

    Attributes
    ----------
    workspaces : Workspaces
        The open workspaces.
    sessions : Sessions
        Log-ins of browsers.
    jobs : Jobs
        Imports.
    viewers : Viewers
        Who looks at which item.
    metrics : Metrics
        The figures for operators.
    request_metrics : RequestMetrics
        Those of requests and connections.
    """

    def __init__(
        self,
        directory: Directory,
        tokens: TokenStore,
        limits: Limits,
        *,
        allow_hosts: tuple[str, ...] = (),
        on_problem: Callable[[str, JournalError], None] = lambda name, error: None,
    ):
        self.tokens = tokens
        self.limits = limits
        self.allow_hosts = (*allow_hosts, *limits.allow_hosts)
        self.sessions = Sessions(tokens)
        self.metrics = Metrics()
        self.request_metrics = RequestMetrics(self.metrics)
        self.viewers = Viewers()
        self.started = datetime.now(UTC)
        self.is_closing = False
        self._is_shared = directory.is_shared
        self._threads = Threads(THREADS)
        self._job_threads = Threads(JOB_THREADS)
        self._commit_threads = Threads(limits.workspaces)
        self._commits = SharedCommits(self._commit_threads)
        self.jobs = Jobs(self._job_threads)
        self.workspaces = Workspaces(
            directory, self._threads, limits.memory_bytes, limits.workspaces, on_problem
        )
        add_workspace_metrics(self.metrics, lambda: self.workspaces.loaded)

    async def run(self, work: Callable[..., T], *args: Any, **options: Any) -> T:
        """Call a function that may wait, for example for the disk, in another thread.

        Parameters
        ----------
        work : callable
            The function.
        args, options : object
            Its arguments.
        """
        return await self._threads.run(work, *args, **options)

    async def commit(self, workspace: Workspace, work: Callable[[], T]) -> T:
        """Commit a change together with those of other requests.

        Parameters
        ----------
        workspace : Workspace
            The workspace.
        work : callable
            The change: see `Workspace.do_together`.
        """
        return await self._commits.commit(workspace, work)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background.

        Parameters
        ----------
        work : coroutine
            The work.
        """
        self._threads.start(work)

    async def start(self) -> None:
        """Open the default workspace, so that the first request need not wait."""
        try:
            async with self.workspaces.use(DEFAULT):
                pass
        except BusyError:
            if not self._is_shared:
                raise

    def end_streams(self) -> None:
        """End the streams of events, which would otherwise go on."""
        self.is_closing = True
        self.workspaces.end_news()

    async def close(self) -> None:
        """Finish what was begun, and save what would take long to compute again."""
        self.end_streams()
        self.jobs.close()
        await self.workspaces.close()
        for threads in (self._threads, self._commit_threads, self._job_threads):
            await threads.close()
