"""Learning uploaded files as a job, whose items are one batch that can be undone."""

from collections.abc import Callable
from itertools import islice

from tagalong.journal import Added, StorageError, Workspace
from tagalong.journal.repeatable_ids import RepeatableIds
from tagalong.learning.items import Item
from tagalong.readers.limited_bytes import TooManyBytesError
from tagalong.readers.stream import Stream
from tagalong.server.jobs import Job, Jobs
from tagalong.server.uploads import Upload

__all__ = ["learn_upload"]

ITEMS_AT_ONCE = 256
BYTES_PER_ITEM = 100


def learn_upload(jobs: Jobs, job: Job, workspace: Workspace, upload: Upload, actor: str) -> None:
    """Learn files in this thread, and count what becomes of their items.

    Items that were imported and undone before are added again, unless this import had begun before
    a restart of the server: then only those that are missing are added.

    Parameters
    ----------
    jobs : Jobs
        The jobs of the server.
    job : Job
        The job of this import.
    workspace : Workspace
        The workspace.
    upload : Upload
        The files.
    actor : str
        Who has sent them.
    """

    def go_on() -> None:
        if jobs.must_end(job):
            raise _StoppedError

    try:
        with upload.open("file", on_bytes=go_on) as stream:  # first, so that progress can be shown
            job.total = _counted(stream, upload.most_bytes, go_on)
        with upload.open(on_bytes=go_on) as stream:
            stream.on_read = lambda number: go_on()
            stream.on_skip = lambda reason: job.skip(upload.named(reason))
            _learn(stream, go_on, job, workspace, upload, actor)
    except TooManyBytesError:
        raise _too_large(upload.most_bytes) from None
    except _StoppedError:
        raise InterruptedError from None
    if not job.done:
        raise ValueError("; ".join(job.errors[:3]) or "the file has no items")


class _StoppedError(Exception):
    """The job has to end. Unlike InterruptedError, readers do not take it for a damaged file."""


def _learn(
    stream: Stream,
    go_on: Callable[[], None],
    job: Job,
    workspace: Workspace,
    upload: Upload,
    actor: str,
) -> None:
    ids = RepeatableIds()
    is_first = not workspace.events_of_batch(job.id)
    while items := list(islice(stream, ITEMS_AT_ONCE)):
        go_on()
        given = [ids.given_to(item) for item in items]
        found = workspace.add_many(
            given, relabel=True, revive=is_first, source=upload.title, batch=job.id, actor=actor
        )
        for item, result in zip(given, found, strict=True):
            if isinstance(result, StorageError):
                raise result
            if isinstance(result, Added):
                _count(job, item, result)
            else:
                job.skip(f"{upload.named(item.place) or item.id}: {result}")
        job.done += len(items)


def _count(job: Job, item: Item, added: Added) -> None:
    if added.outcome == "known":
        job.known += 1
    elif item.labels is None:
        job.open += 1
    else:
        job.learnt += 1


def _counted(stream: Stream, most_bytes: int, go_on: Callable[[], None]) -> int:
    """Return the number of items; ValueError if a small file has become a huge one."""
    size = count = 0
    for item in stream:
        count += 1
        texts = [item.text] if isinstance(item.text, str) else item.text.values()
        size += BYTES_PER_ITEM + sum(map(len, texts))
        if size > most_bytes:
            raise _too_large(most_bytes)
        go_on()
    return count


def _too_large(most_bytes: int) -> ValueError:
    return ValueError(
        f"the file has more than {most_bytes:,} bytes when it is unpacked; divide it, or use "
        "'tagalong learn'"
    )
