"""Calls about a workspace as a whole: model, figures, files, events; and the workspaces."""

import os
from collections.abc import Callable, Collection, Iterator
from typing import Any

from tagalong.client.address import path_part
from tagalong.client.answers import Answer
from tagalong.client.calls import API, Calls, Record, unchanged
from tagalong.client.errors import Conflict, NotFound, ServerError, Unavailable
from tagalong.client.event_stream import event_of, messages
from tagalong.client.patience import LostError
from tagalong.client.results import Job, ServerEvent
from tagalong.client.transport import Request
from tagalong.client.uploads import Upload
from tagalong.files.replacement import replacing

__all__ = ["ModelCalls"]

STREAM = "text/event-stream"
SECONDS_WITHOUT_SIGN_OF_LIFE = 45.0  # the server sends one every 15 seconds
FIRST_POLL, LONGEST_POLL = 0.05, 2.0


class ModelCalls(Calls):
    """Base class of `Client`: model, figures, files, events, workspaces."""

    def model(self) -> dict[str, Any]:
        """Return ``hash``, ``seq``, ``labels`` and ``bytes`` of the model, with every answer."""
        return self._get(self._in_workspace("model"), unchanged)

    def report(self) -> dict[str, Any]:
        """Return the figures, in the form that ``tagalong evaluate --json`` prints."""
        return self._get(self._in_workspace("report"), unchanged)

    def summary(self) -> dict[str, Any]:
        """Return numbers about the workspace: ``items`` by state, ``labels``, and ``seq``."""
        return self._get(self._in_workspace(), unchanged)

    def save(self, path: str | os.PathLike[str], *, private: bool = False) -> None:
        """Save the model to a file, for `tagalong.load`.

        Parameters
        ----------
        path : str or path
            The file. An existing one is replaced when the new one is complete.
        private : bool, default False
            Whether a new file is readable by its owner only.
        """
        with replacing(path, private=private) as file:
            self._download(self._in_workspace("model", "file"), file)

    def export(
        self, path: str | os.PathLike[str], format: str = "jsonl", *, private: bool = False
    ) -> None:
        """Save the items with their present labels to a file.

        Parameters
        ----------
        path : str or path
            The file. An existing one is replaced when the new one is complete.
        format : str, default "jsonl"
            "jsonl" or "csv".
        private : bool, default False
            Whether a new file is readable by its owner only.
        """
        with replacing(path, private=private) as file:
            self._download(self._in_workspace("export"), file, format=format)

    def import_file(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        text: str | None = None,
        labels: str | None = None,
        **options: str,
    ) -> Job:
        """Let the server learn a file in the background; see ``wait_for``.

        Parameters
        ----------
        path : str or path
            A file of this machine. Its name tells the format, unless ``format`` does.
        format : str, optional
            The format, such as "csv"; 'tagalong learn --help' lists them.
        text, labels : str, optional
            The columns or keys with the text and with the labels.
        options : str
            Further options of the format, such as ``id``, ``date`` or ``label_separator``.
        """
        given = {"format": format, "text": text, "labels": labels, **options}
        fields = {name: value for name, value in given.items() if value is not None}
        place = self._in_workspace("import")
        return self._upload(place, Upload(path, fields), lambda found: Job(str(found["job"])))

    def job(self, job: Job | str) -> Job:
        """Return how far the server is with a job.

        Parameters
        ----------
        job : Job or str
            The job, or its name.
        """
        name = job.job if isinstance(job, Job) else job
        path = self._in_workspace("jobs", path_part(name, "the job"))
        return self._get(path, lambda found: _job(name, found))

    def wait_for(self, job: Job | str, on_progress: Callable[[Job], None] | None = None) -> Job:
        """Wait until the server has finished a job; ServerError if it fails.

        Parameters
        ----------
        job : Job or str
            The job, or its name.
        on_progress : callable, optional
            Called with the job each time it was looked at.
        """
        wait = FIRST_POLL
        while True:
            found = self.job(job)
            if on_progress is not None:
                on_progress(found)
            if found.state == "done":
                return found
            if found.has_ended:
                reason = found.error or "no reason is given"
                raise ServerError("", f"the job has {found.state}: {reason}", kind="job-failed")
            self._transport.timing.sleep(wait)
            wait = min(2 * wait, LONGEST_POLL)

    def events(
        self, after: int | None = None, kinds: Collection[str] | None = None
    ) -> Iterator[ServerEvent]:
        """Yield events of the workspace as they happen, without end.

        If the connection is lost, it is made again, and the events meanwhile follow.

        Parameters
        ----------
        after : int, optional
            The event before the first one; by default the last one so far.
        kinds : collection of str, optional
            Only events of these kinds, such as "answer" and "filed".
        """
        wanted = None if kinds is None else {kinds} if isinstance(kinds, str) else set(kinds)
        last = self._tip() if after is None else after
        only = next(iter(wanted)) if wanted is not None and len(wanted) == 1 else None
        path = self._transport.address.path(self._in_workspace("events"), {"type": only})
        patience = self._transport.patience()
        while not self._transport.connections.is_closed:
            headers = {"Accept": STREAM, "Last-Event-ID": str(last)}
            request = Request("GET", path, headers=headers)
            try:
                with self._transport.once(
                    request, patience, SECONDS_WITHOUT_SIGN_OF_LIFE
                ) as answer:
                    for event in _events(answer):
                        patience.renew()
                        if event is None:
                            continue
                        last = last if event.seq is None else event.seq
                        if wanted is None or event.kind in wanted:
                            yield event
                    raise LostError(Unavailable(answer.call, "the stream of events has ended"))
            except LostError as lost:
                if not self._transport.connections.is_closed:
                    patience.wait_after(lost)

    def _tip(self) -> int:
        return self._get(self._in_workspace(), lambda found: int(found["seq"]))

    def workspaces(self) -> list[str]:
        """Return the names of the workspaces of the server."""
        return self._get(API, lambda found: [str(each["name"]) for each in found["workspaces"]])

    def create_workspace(self, name: str) -> None:
        """Make a workspace; a `Conflict` if it exists. This needs the token of the owner.

        Parameters
        ----------
        name : str
            Its name: a-z, 0-9, _ and -, at most 63 characters.
        """
        try:
            self._change("POST", API, {"name": name}, Answer.nothing)
        except Conflict as conflict:
            if not conflict.follows_lost_try:  # otherwise the lost try has made it
                raise

    def remove_workspace(self, name: str) -> None:
        """Remove a workspace with everything in it, for good. This needs the token of the owner.

        Parameters
        ----------
        name : str
            Its name.
        """
        path = f"{API}/{path_part(name, 'the name of the workspace')}"
        try:
            self._change("DELETE", path, None, Answer.nothing)
        except NotFound as missing:
            if not missing.follows_lost_try:  # otherwise the lost try has removed it
                raise


def _job(name: str, found: Record) -> Job:
    return Job(name, found["state"], found["done"], found["total"], found.get("error"), found)


def _events(answer: Answer) -> Iterator[ServerEvent | None]:
    answer.check_type(STREAM)
    try:
        for message in messages(answer.chunks(is_bounded=False)):
            yield None if message is None else event_of(message)
    except ValueError as error:
        raise answer.bad(f"the stream of events is not valid: {error}") from None
