"""Jobs: work that takes longer than a request, with its progress."""

import asyncio
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from tagalong.server.problems import Problem
from tagalong.server.recognised import Recognised
from tagalong.server.threads import Threads

__all__ = ["STATES", "Job", "Jobs", "new_id"]

State: TypeAlias = Literal["waiting", "running", "done", "failed", "interrupted", "cancelled"]
STATES: tuple[str, ...] = get_args(State)
"""The states of jobs."""
MAX_KEPT = 100
MAX_ACTIVE = 32
RETRY_SECONDS = 10
MAX_ERRORS = 500
MAX_TOLD_ERRORS = 20
MAX_REASON = 500


def new_id() -> str:
    """Return a name for a job."""
    return uuid.uuid4().hex


@dataclass(slots=True)
class Job:
    """A job, in memory only: what it has stored stays if the server ends.

    Parameters
    ----------
    workspace : str
        The workspace.
    id : str
        Its name, and that of the batch of its events, which can be undone together.
    title : str
        What it is about, for people: the names of files.
    recognised : Recognised
        What was recognised in the files.
    state : str
        "waiting", "running", "done", "failed", "interrupted" because the server was stopped, or
        "cancelled" because a person has stopped it.
    done : int
        Number of items so far.
    total : int or None
        Number of all items, if it is known.
    learnt : int
        Number of those that were learnt, because they have labels.
    open : int
        Number of those that wait for an answer.
    known : int
        Number of those that were there already.
    skipped : int
        Number of items that could not be read or learnt.
    errors : list of str
        The first reasons.
    error : str
        Why it has ended early.
    is_cancelled : bool
        Whether a person wants it to stop.
    """

    workspace: str
    id: str
    title: str = ""
    recognised: Recognised = field(default_factory=Recognised)
    state: State = "waiting"
    done: int = 0
    total: int | None = None
    learnt: int = 0
    open: int = 0
    known: int = 0
    skipped: int = 0
    errors: list[str] = field(default_factory=list)
    error: str = ""
    is_cancelled: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it has not ended."""
        return self.state in ("waiting", "running")

    def cancel(self) -> None:
        """Let it end soon. What it has stored stays."""
        self.is_cancelled = True

    def skip(self, reason: str, count: int = 1) -> None:
        """Count items that could not be used.

        Parameters
        ----------
        reason : str
            Why.
        count : int
            Their number.
        """
        self.skipped += count
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(reason[:MAX_REASON])

    def fail(self, error: Exception) -> None:
        """End the job with an error.

        Parameters
        ----------
        error : Exception
            The reason.
        """
        self.error = str(error) or type(error).__name__
        self.state = "failed"

    def to_json(self) -> dict[str, Any]:
        """Return the job as JSON values."""
        found = {
            "job": self.id,
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "learnt": self.learnt,
            "open": self.open,
            "known": self.known,
            "skipped": self.skipped,
            "errors": self.errors[:MAX_TOLD_ERRORS],
            "batch": self.id,
        }
        return {**found, "error": self.error} if self.error else found


class Jobs:
    """The jobs of a server: one at a time per workspace; some ended ones are remembered.

    All methods but `must_end` are called in the thread of the event loop. Jobs that wait need no
    thread.

    Parameters
    ----------
    threads : Threads
        Where jobs work; nothing else does, so that no request waits for a job.
    """

    def __init__(self, threads: Threads):
        self._threads = threads
        self._jobs: dict[str, Job] = {}
        self._is_closing = threading.Event()
        self._turns: dict[str, asyncio.Lock] = {}

    @property
    def is_closing(self) -> bool:
        """Whether jobs have to end soon."""
        return self._is_closing.is_set()

    def find(self, workspace: str, id: str) -> Job | None:
        """Return a job of a workspace; None if there is none.

        Parameters
        ----------
        workspace, id : str
            The workspace, and the name of the job.
        """
        job = self._jobs.get(id)
        return job if job is not None and job.workspace == workspace else None

    def check_room(self) -> None:
        """Raise a Problem if there are too many jobs for another one."""
        if sum(job.is_active for job in self._jobs.values()) >= MAX_ACTIVE:
            raise Problem(
                429,
                "too-many-jobs",
                f"{MAX_ACTIVE} imports are running or waiting already: nothing was kept of this "
                f"one, send it again in {RETRY_SECONDS} s",
                {"Retry-After": str(RETRY_SECONDS)},
            )

    def add(
        self,
        workspace: str,
        title: str = "",
        recognised: Recognised | None = None,
        id: str | None = None,
    ) -> Job:
        """Return a new job; a Problem if too many have not ended.

        Parameters
        ----------
        workspace, title, recognised, id
            See `Job`.
        """
        self.check_room()
        job = Job(workspace, id or new_id(), title, recognised or Recognised())
        ended = [id for id, each in self._jobs.items() if not each.is_active]
        for id in ended[: max(0, len(self._jobs) + 1 - MAX_KEPT)]:
            del self._jobs[id]
        self._jobs[job.id] = job
        return job

    def must_end(self, job: Job) -> bool:
        """Whether a job has to end soon.

        Parameters
        ----------
        job : Job
            The job.
        """
        return job.is_cancelled or self.is_closing

    async def run(self, job: Job, work: Callable[[], None]) -> None:
        """Do the work of a job in a thread, after the earlier jobs of its workspace.

        Parameters
        ----------
        job : Job
            The job.
        work : callable
            The work. It looks at `must_end` from time to time, and raises InterruptedError.
        """
        async with self._turns.setdefault(job.workspace, asyncio.Lock()):
            await self._threads.run(self._work, job, work)

    def _work(self, job: Job, work: Callable[[], None]) -> None:
        try:
            if self.must_end(job):
                raise InterruptedError
            job.state = "running"
            work()
            job.state = "done"
        except InterruptedError:
            job.error = (
                "stopped; what was learnt so far is kept, and can be undone"
                if job.is_cancelled
                else "the server was stopped; what was learnt so far is kept: send it again"
            )
            job.state = "cancelled" if job.is_cancelled else "interrupted"
        except Exception as error:
            job.fail(error)

    def close(self) -> None:
        """Let all jobs end soon."""
        self._is_closing.set()
