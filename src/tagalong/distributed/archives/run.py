"""Tagging of archives by many workers."""

import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

from tagalong import parameters
from tagalong.distributed.archives.folder import Finished, OutputFolder
from tagalong.distributed.archives.inputs import find_inputs
from tagalong.distributed.archives.manifest import digest_of, make_manifest
from tagalong.distributed.archives.model import model_bytes
from tagalong.distributed.archives.settings import Settings
from tagalong.distributed.archives.shards import Shard, find_shards
from tagalong.distributed.archives.worker import Failed, Job, WorkerError, count_lines, tag_shard
from tagalong.distributed.workers import Workers, run_tasks, workers_of
from tagalong.learning.model_files import load
from tagalong.learning.model_hash import model_hash
from tagalong.readers.byte_ranges import ByteRange, with_line_numbers
from tagalong.streams.format import OptionError
from tagalong.tables.formats import missing_package
from tagalong.tables.writers import TableFormat
from tagalong.tagger import Tagger
from tagalong.version import __version__

__all__ = ["Progress", "Tagging", "suggest"]

_MAX_ERRORS = 20
_COUNTED = ("written", "sure", "unknown", "skipped", "protected")


@dataclass(frozen=True)
class Progress:
    """How far a run is, or what it has done.

    Attributes
    ----------
    shards, finished : int
        Number of shards, and of those that are finished.
    resumed : int
        Number of shards that an earlier run had finished.
    written, sure, unknown : int
        Number of items, of those with a sure suggestion, and of those without any feature that the
        model knows.
    skipped : int
        Number of items without an answer, if these are skipped.
    errors : tuple of str
        The first reasons, in the order of the items.
    links : tuple of str
        Symbolic links in folders of mail, which are not followed.
    protected : int
        Number of CSV cells with an apostrophe in front.
    in_runs : bool
        Whether nothing could be sure, because the labels of the learnt items came in runs.
    repeated : int
        How often a shard was given to another worker, because its own was lost.
    is_counting : bool
        Whether the lines of large files are still being counted, so that messages can name them.
    """

    shards: int
    finished: int = 0
    resumed: int = 0
    written: int = 0
    sure: int = 0
    unknown: int = 0
    skipped: int = 0
    errors: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    protected: int = 0
    in_runs: bool = False
    repeated: int = 0
    is_counting: bool = False


class Tagging(AbstractContextManager["Tagging"]):
    """A run, as a context that holds the lock of its output folder.

    Parameters
    ----------
    model : Tagger
        The model.
    sources : sequence of str
        The sources.
    out : str
        The output folder.
    settings : Settings
        The options.
    """

    def __init__(self, model: Tagger, sources: Sequence[str], out: str, settings: Settings):
        model.suggest_many([], settings.k, settings.min_precision)  # checks them
        inputs = find_inputs(sources, settings)
        self._shards = find_shards(inputs, settings)
        self._settings = settings
        manifest = make_manifest(model_hash(model), settings, inputs, self._shards)
        self._folder = OutputFolder(Path(os.path.abspath(out)))
        private = any(each.is_private for each in inputs)
        self._claim = self._folder.claimed(manifest, private)
        self._job = Job(model_bytes(model), settings, str(self._folder.path), digest_of(manifest))
        self._finished: dict[int, Finished] = {}
        self._sums: Counter[str] = Counter()
        self._noted: set[int] = set()  # shards with errors or links
        self._resumed = 0
        self._repeated = 0

    def __enter__(self) -> "Tagging":
        self._claim.__enter__()
        for shard in self._shards:
            found = self._folder.finished(shard.output)
            # Skipped items of an earlier run are errors now, unless they are skipped again.
            if found is not None and (self._settings.on_error == "skip" or not found.skipped):
                self._add(shard, found)
        self._resumed = len(self._finished)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._claim.__exit__(kind, error, trace)

    def run(self, workers: Workers) -> Generator[Progress, None, None]:
        """Have the shards that are left computed, and yield the progress after each.

        Parameters
        ----------
        workers : Workers
            The workers.

        Raises
        ------
        ReadError, OSError, ValueError
            The first error, in the order of the items. The shards before it are finished.
        """
        try:
            yield from self._run(workers)
        except ImportError as error:  # of a worker, as this process has imported all of it
            raise WorkerError(
                f"a worker cannot load Tagalong ({error}): install version {__version__} on all "
                "machines"
            ) from error

    def _run(self, workers: Workers) -> Generator[Progress, None, None]:
        yield self.progress()
        shards = self._shards
        if any(self._is_left(one) and isinstance(one.source, ByteRange) for one in shards):
            yield replace(self.progress(), is_counting=True)
            shards = self._with_line_numbers(workers)
        failed: dict[int, Exception] = {}
        left = (one for one in shards if self._is_left(one) and not failed)
        outcomes = run_tasks(workers, tag_shard, left, workers.send(self._job))
        for outcome in outcomes:
            self._repeated += outcome.repeated
            if isinstance(outcome.result, Failed):
                failed[outcome.task.number] = outcome.result.error
            else:
                self._add(outcome.task, outcome.result)
                yield self.progress()
        if failed:  # those before it were given out earlier, and have ended by now
            raise failed[min(failed)]

    def _add(self, shard: Shard, found: Finished) -> None:
        """Add the record of a shard. The sums are kept, as there may be many shards."""
        self._finished[shard.number] = found
        self._sums.update({name: getattr(found, name) for name in (*_COUNTED, "in_runs")})
        if found.errors or found.links:
            self._noted.add(shard.number)

    def _is_left(self, shard: Shard) -> bool:
        return shard.number not in self._finished

    def _with_line_numbers(self, workers: Workers) -> list[Shard]:
        """Return the shards with line numbers, for which the lines of large files are counted."""
        parts = {
            one.number: one.source for one in self._shards if isinstance(one.source, ByteRange)
        }
        unfinished = {one.path for one in self._shards if self._is_left(one)}
        wanted = [part for part in parts.values() if part.path in unfinished]
        counts = dict.fromkeys(parts.values(), 0)
        counts |= {one.task: one.result for one in run_tasks(workers, count_lines, wanted)}
        numbered = with_line_numbers([*parts.values()], [counts[one] for one in parts.values()])
        sources = dict(zip(parts, numbered, strict=True))
        return [replace(one, source=sources.get(one.number, one.source)) for one in self._shards]

    def progress(self) -> Progress:
        """Return how far the run is."""
        counted: dict[str, Any] = {name: self._sums[name] for name in _COUNTED}
        noted = [self._finished[number] for number in sorted(self._noted)]
        return Progress(
            shards=len(self._shards),
            finished=len(self._finished),
            resumed=self._resumed,
            errors=tuple(error for one in noted for error in one.errors)[:_MAX_ERRORS],
            links=tuple(link for one in noted for link in one.links),
            in_runs=self._sums["in_runs"] > 0,
            repeated=self._repeated,
            **counted,
        )


def suggest(
    model: Tagger | str | os.PathLike[str],
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    client: Any,
    *,
    k: int = 5,
    min_precision: float | None = None,
    only_sure: bool = False,
    to: TableFormat | None = None,
    exact: bool = False,
    bom: bool = False,
    format: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    defaults: Mapping[str, Any] | None = None,
    shard_size: int = 64 << 20,
    on_progress: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Progress:
    """Write suggestions for all items of an archive into a folder, by many workers.

    Every source is a shard of its own; large files of JSON lines are cut into several. A worker
    writes the suggestions of a shard to a file that is named after its source, and appears when it
    is complete. Together the files have, in the order of their names, the lines that one machine
    would write. A call with the same arguments continues a run that was interrupted.

    All workers must see the sources and the folder under the same paths.

    Parameters
    ----------
    model : Tagger or path
        The model, or its file. Every worker gets it once.
    sources : str or path, or iterable of them
        As for `tagalong.readers.read`, except for standard input and pipes.
    out : str or path
        The folder to write to: a new one, or that of the same run.
    client : dask.distributed.Client or concurrent.futures.Executor
        The workers.
    k : int
        Maximum number of suggestions per item.
    min_precision : float, optional
        As for `Tagger.suggest`.
    only_sure : bool
        Write only suggestions that are marked as sure.
    to : str, optional
        Format of the tables: "csv", "jsonl" or "parquet". By default one line of nested JSON per
        item.
    exact, bom : bool
        Options of CSV: write texts that look like formulas as they are; begin with a byte order
        mark.
    format, on_error, defaults
        As for `tagalong.readers.read`.
    shard_size : int
        Number of bytes of a part of a large file.
    on_progress : callable, optional
        Called with the `Progress` after each shard.
    options : dict
        Options of the format, as for `tagalong.readers.read`.

    Returns
    -------
    Progress
        What was done, with what earlier runs have done.

    Raises
    ------
    ManifestError
        The folder belongs to a run with another model, other options or other sources.
    ReadError
        An item cannot be read. The message has the file and the line.
    WorkerError
        A worker has another version, or does not see the folder.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from pathlib import Path
    >>> from tagalong import Tagger
    >>> from tagalong.distributed import suggest
    >>> tagger = Tagger().learn("Your invoice is due", ["money"])
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "mail.jsonl").write_text('{"id": "1", "text": "Another invoice"}')
    >>> with ThreadPoolExecutor() as client:
    ...     done = suggest(tagger, folder / "mail.jsonl", folder / "answers", client)
    >>> done.written, [path.name for path in sorted((folder / "answers").glob("*.jsonl"))]
    (1, ['1-mail.jsonl'])
    """
    if to not in (None, *get_args(TableFormat)):
        raise OptionError(f"to must be one of csv, jsonl and parquet, not {to!r}")
    if problem := missing_package(to):
        raise OptionError(f"to={to!r}: {problem}")
    if (exact or bom) and to != "csv":
        raise OptionError("exact and bom are options of to='csv'")
    names = [os.fspath(each) for each in _each(sources)]
    settings = Settings(
        parameters.integer(k, "k", 1),
        min_precision,
        only_sure,
        to,
        exact,
        bom,
        format,
        on_error,
        defaults or {},
        options,
        parameters.integer(shard_size, "shard_size", 1),
    )
    workers = workers_of(client)
    with Tagging(_tagger(model), names, os.fspath(out), settings) as tagging:
        for progress in tagging.run(workers):
            if on_progress is not None:
                on_progress(progress)
        return tagging.progress()


def _each(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> Iterable[str | os.PathLike[str]]:
    return [sources] if isinstance(sources, (str, os.PathLike)) else sources


def _tagger(model: Tagger | str | os.PathLike[str]) -> Tagger:
    if isinstance(model, Tagger):
        return model
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"model must be a Tagger or a path, not a {type(model).__name__}")
    found = load(model)
    if not isinstance(found, Tagger):
        raise TypeError(f"{os.fspath(model)} must be a Tagger, not a {type(found).__name__}")
    return found
