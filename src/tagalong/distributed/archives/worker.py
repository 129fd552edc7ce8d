"""The work on a shard: read the items of a shard, suggest labels, write the output file."""

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from tagalong.distributed.archives.folder import MANIFEST, Finished, OutputFolder
from tagalong.distributed.archives.model import loaded_once
from tagalong.distributed.archives.settings import Settings
from tagalong.distributed.archives.shards import Shard
from tagalong.distributed.environments import WorkerError
from tagalong.learning.items import Item, ReadError
from tagalong.readers.byte_ranges import ByteRange
from tagalong.readers.stream import Stream
from tagalong.readers.writing import open_destination
from tagalong.tables.suggested import Suggested
from tagalong.tables.suggestions import make_writer
from tagalong.tagger import Tagger
from tagalong.tagger.suggestions import Suggestions
from tagalong.version import __version__

__all__ = ["Failed", "Job", "WorkerError", "count_lines", "tag_shard"]


@dataclass(frozen=True)
class Job:
    """The common part of all tasks of a run. It is sent to every worker once.

    Parameters
    ----------
    model : bytes
        The contents of the model file.
    settings : Settings
        The options.
    folder : str
        The output folder, as an absolute path.
    manifest : str
        Digest of its manifest.
    version : str
        Version of Tagalong that the client runs.
    """

    model: bytes
    settings: Settings
    folder: str
    manifest: str
    version: str = __version__


@dataclass(frozen=True)
class Failed:
    """A shard that could not be finished.

    Parameters
    ----------
    error : Exception
        Why.
    """

    error: Exception


def count_lines(part: ByteRange) -> int:
    """Return the number of lines of a part of a file.

    Parameters
    ----------
    part : ByteRange
        The part.
    """
    return part.count_lines()


def tag_shard(shard: Shard, job: Job) -> Finished | Failed:
    """Write the suggestions for the items of a shard, unless another worker has done so.

    Errors of reading and writing are returned: of several, the first one in the order of the items
    is reported, and not the one that came first.

    Parameters
    ----------
    shard : Shard
        The shard.
    job : Job
        What all shards have in common.
    """
    try:
        _check_worker(job)
        return _tag(shard, job)
    except ReadError as error:
        return Failed(ReadError(_known(error.place, shard), error.problem))
    except OSError as error:
        return Failed(OSError(error.errno, error.strerror or str(error), error.filename))
    except WorkerError as error:
        return Failed(error)
    except ValueError as error:  # its class may be one that cannot be sent
        return Failed(ValueError(str(error)))


def _check_worker(job: Job) -> None:
    """Raise WorkerError if this process cannot do the work."""
    if job.version != __version__:
        raise WorkerError(
            f"the worker on {platform.node()} has Tagalong {__version__}, and this is Tagalong "
            f"{job.version}: install the same version on all machines"
        )
    _check_folder(job)


def _check_folder(job: Job) -> None:
    if not OutputFolder(Path(job.folder)).has_manifest(job.manifest):
        raise WorkerError(
            f"the worker on {platform.node()} does not see {job.folder}/{MANIFEST} of this run: "
            "all machines must see the sources and the output folder under the same paths, as on "
            "a shared file system"
        )


def _check_input(shard: Shard) -> None:
    """Raise ReadError if the input is not the one that the manifest describes."""
    if shard.size is None:
        return
    try:
        found = os.stat(shard.path)
    except OSError as error:
        raise ReadError(
            shard.name,
            f"cannot be read by the worker on {platform.node()}: {error.strerror}; all machines "
            f"must see it as {shard.path}",
        ) from error
    if (found.st_size, found.st_mtime_ns) != (shard.size, shard.modified):
        raise ReadError(shard.name, "has changed during the run, so the results would not agree")


def _tag(shard: Shard, job: Job) -> Finished:
    settings, folder = job.settings, OutputFolder(Path(job.folder))
    _check_input(shard)
    with settings.open(shard.source) as stream:
        found = Suggested(
            _OneThread(loaded_once(job.model)),
            _with_known_places(stream, shard),
            settings.k,
            settings.min_precision,
            skip=settings.on_error == "skip",
        )
        answers = iter(found)
        answers = chain(list(islice(answers, 1)), answers)
        private = stream.is_private  # known after the first item
        with open_destination(folder.path / shard.output, private=private) as file:
            writer = make_writer(
                file, settings.to, settings.k, exact=settings.exact, mark=settings.bom
            )
            for item, suggestions in answers:
                shown = [one for one in suggestions if one.sure or not settings.only_sure]
                writer.write(item, suggestions, shown)
            writer.close()
            # A worker that was cut off must not write into a folder that has a new owner.
            _check_folder(job)
            _check_input(shard)
    done = Finished(
        os.path.getsize(folder.path / shard.output),
        found.count,
        found.sure,
        found.unknown,
        stream.skipped + found.skipped,
        writer.protected,
        found.in_runs,
        [*(_known(error, shard) for error in stream.errors), *found.errors],
        [_known(link, shard) for link in stream.links],
    )
    folder.record(shard.output, done, private)
    return done


class _OneThread:
    """A tagger that uses one thread: there is one worker per core already."""

    def __init__(self, tagger: Tagger):
        self._tagger = tagger

    def suggest_many(
        self, items: Sequence[Item], k: int, min_precision: float | None
    ) -> Sequence[Suggestions]:
        return self._tagger.suggest_many(items, k, min_precision, threads=1)


def _with_known_places(items: Stream, shard: Shard) -> Iterator[Item]:
    """Yield the items with their places as the user knows them."""
    if shard.path == shard.name:
        return items
    return (_with_known_place(item, shard) for item in items)


def _with_known_place(item: Item, shard: Shard) -> Item:
    place = _known(item.place, shard)
    # A mail without an id has its place as id.
    return replace(item, place=place, id=place if item.id == item.place else item.id)


def _known(text: str, shard: Shard) -> str:
    """Return a place or a message with the name of the input in place of its path."""
    return shard.name + text.removeprefix(shard.path) if text.startswith(shard.path) else text
