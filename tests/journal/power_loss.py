"""The files that a disk may hold after a power loss, from a record of all changes of files.

A change that was synced is there. Of the later changes any may be there or not, in units of
sectors, and in any order: a disk and a file system may write what they like first. The name of a
file is a change of its folder, and is safe only when the folder was synced.

The records come from tests/faults/trace.c, preloaded into tests/journal/recorded_run.py.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECTOR = 512
SOURCE = Path(__file__).parent.parent / "faults" / "trace.c"
FOLDER = -1  # in place of the number of a file


@dataclass(frozen=True, slots=True)
class Change:
    """A record: a change of a file or a folder, a sync, or a mark of the process."""

    kind: str
    inode: int
    offset: int
    path: str
    data: bytes

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


def compile_recorder(folder: Path) -> Path:
    """Compile the library that records changes, and return its path."""
    library = folder / "trace.so"
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    subprocess.run(["cc", *flags, "-o", library, SOURCE], check=True)
    return library


def record_run(folder: Path, *options: str) -> list[Change]:
    """Run requests on a new workspace below an empty folder, and return all changes of files."""
    log = folder / "log"
    (folder / "disk").mkdir()
    environment = {**os.environ, "LD_PRELOAD": str(compile_recorder(folder))}
    arguments = [str(folder / "disk"), str(log), *options]
    command = [sys.executable, "-m", "tests.journal.recorded_run", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return list(read_changes(log.read_bytes()))


def read_changes(log: bytes) -> Iterator[Change]:
    """Return the records of a log."""
    at = 0
    while at < len(log):
        end = log.index(b"\n", at)
        kind, inode, offset, size, path = log[at:end].decode().split(" ", 4)
        at = end + 1 + int(size)
        path = path.removesuffix(" (deleted)")
        yield Change(kind, int(inode), int(offset), path, log[end + 1 : at])


@dataclass(slots=True)
class _File:
    """The contents of a file: as synced, and the changes since, each with its place in time."""

    synced: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, Change]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A change of a folder: `path` names a file or a folder (`FOLDER`), or nothing (None)."""

    time: int
    path: str
    file: int | None
    old: str | None = None


Survives = Callable[[int, int], bool]
"""Whether a part of a change is on the disk, given the time of the change and the part."""


class Disk:
    """A disk: what was synced, and what may or may not have been written."""

    def __init__(self) -> None:
        self._files: list[_File] = []
        self._by_inode: dict[int, int] = {}
        self._names: dict[str, int] = {}
        self._synced: dict[str, int] = {}
        self._pending: list[_Entry] = []
        self.time = 0

    def follow(self, change: Change) -> None:
        """Follow one change."""
        self.time += 1
        match change.kind:
            case "create":
                self._by_inode[change.inode] = len(self._files)
                self._set_name(change.path, len(self._files))
                self._files.append(_File())
            case "mkdir":
                self._set_name(change.path, FOLDER)
            case "unlink":
                del self._names[change.path]
                self._pending.append(_Entry(self.time, change.path, None))
            case "rename":
                file = self._names.pop(change.path)
                self._set_name(change.data.decode(), file, change.path)
            case "write" | "truncate":
                self._file(change).pending.append((self.time, change))
            case "sync" if self._names.get(change.path, FOLDER) == FOLDER and (
                change.inode not in self._by_inode
            ):
                self._sync_folder(change.path)
            case "sync":
                file_to_sync = self._file(change)
                for _, each in file_to_sync.pending:
                    _apply(file_to_sync.synced, each, range(len(_parts(each))))
                file_to_sync.pending.clear()

    def _file(self, change: Change) -> _File:
        return self._files[self._by_inode[change.inode]]

    def _set_name(self, path: str, file: int, old: str | None = None) -> None:
        self._names[path] = file
        self._pending.append(_Entry(self.time, path, file, old))

    def _sync_folder(self, folder: str) -> None:
        kept = []
        for entry in self._pending:
            if entry.path.rpartition("/")[0] == folder:
                _enter(self._synced, entry)
            else:
                kept.append(entry)
        self._pending = kept

    def after_loss(self, survives: Survives) -> dict[str, bytes | None]:
        """Return the files (and folders, None) by path, if the power fails now.

        Parameters
        ----------
        survives : callable
            Chooses among the changes that were not synced.
        """
        names = dict(self._synced)
        for entry in self._pending:
            if survives(entry.time, 0):
                _enter(names, entry)
        found: dict[str, bytes | None] = {}
        for path in sorted(names):
            if all(names.get(each) == FOLDER for each in _folders(path)):
                file = names[path]
                found[path] = None if file == FOLDER else self._contents(file, survives)
        return found

    def _contents(self, file: int, survives: Survives) -> bytes:
        contents = bytearray(self._files[file].synced)
        for time, change in self._files[file].pending:
            parts = [part for part in range(len(_parts(change))) if survives(time, part)]
            _apply(contents, change, parts)
        return bytes(contents)


def _enter(names: dict[str, int], entry: _Entry) -> None:
    if entry.old is not None:
        names.pop(entry.old, None)
    if entry.file is None:
        names.pop(entry.path, None)
    else:
        names[entry.path] = entry.file


def _folders(path: str) -> Iterator[str]:
    """Return the folders above a path, without the first one."""
    while path := path.rpartition("/")[0]:
        yield path


def _parts(change: Change) -> Sequence[tuple[int, int]]:
    """Return the start and the end of the parts of a write that lie in different sectors."""
    if change.kind == "truncate":
        return [(0, 0)]
    start, end = change.offset, change.offset + len(change.data)
    first = start - start % SECTOR
    return [(max(at, start), min(at + SECTOR, end)) for at in range(first, end, SECTOR)]


def _apply(contents: bytearray, change: Change, parts: Sequence[int]) -> None:
    if change.kind == "truncate":
        if parts:
            del contents[change.offset :]
            contents.extend(bytes(change.offset - len(contents)))
        return
    every = _parts(change)
    for part in parts:
        start, end = every[part]
        contents.extend(bytes(max(start - len(contents), 0)))
        contents[start:end] = change.data[start - change.offset : end - change.offset]


def nothing(time: int, part: int) -> bool:
    """The disk has written nothing that it was not told to sync."""
    return False


def everything(time: int, part: int) -> bool:
    """The disk has written everything."""
    return True


def random_parts(rng: random.Random) -> Survives:
    """The disk has written some sectors."""
    share, seed = rng.choice([0.1, 0.5, 0.9]), rng.random()
    return lambda time, part: random.Random(f"{seed} {time} {part}").random() < share


def random_changes(rng: random.Random) -> Survives:
    """The disk has written some changes as a whole."""
    survives = random_parts(rng)
    return lambda time, part: survives(time, 0)


def torn(rng: random.Random, now: int) -> Survives:
    """The disk writes in order; of the last change it has written some sectors."""
    last, parts = now - int(rng.expovariate(0.5)), rng.randrange(9)
    return lambda time, part: time < last or (time == last and part < parts)


def reversed_order(rng: random.Random, now: int) -> Survives:
    """The disk has written the last changes, and not those before them."""
    first = now - int(rng.expovariate(0.5))
    return lambda time, part: time >= first


@dataclass(frozen=True)
class Loss:
    """A power loss.

    Parameters
    ----------
    cut : int
        The number of changes before it.
    name : str
        What the disk has written.
    files : dict
        The result of `Disk.after_loss`.
    acknowledged : list of object
        The marks of the process before the loss.
    """

    cut: int
    name: str
    files: dict[str, bytes | None]
    acknowledged: list[Any]


def losses(
    changes: Sequence[Change], rng: random.Random, *, tries: int, share: float = 1.0
) -> Iterator[Loss]:
    """Return power losses after every change, without those that give the same files.

    Parameters
    ----------
    changes : sequence of Change
        The record of a run.
    rng : Random
        Chooses what survives.
    tries : int
        Number of random choices of each kind per cut.
    share : float
        The share of the losses to return.
    """
    disk, marks = Disk(), list[Any]()
    seen: set[int] = set()
    for cut, change in enumerate(changes, 1):
        if change.kind == "mark":
            marks.append(json.loads(change.data))
        else:
            disk.follow(change)
        choices: list[tuple[str, Survives]] = [("nothing", nothing), ("everything", everything)]
        for _ in range(tries):
            choices += [
                ("some sectors", random_parts(rng)),
                ("some changes", random_changes(rng)),
                ("the first changes", torn(rng, disk.time)),
                ("the last changes", reversed_order(rng, disk.time)),
            ]
        for name, survives in choices:
            if rng.random() >= share:
                continue
            files = disk.after_loss(survives)
            key = hash((len(marks), tuple(files.items())))
            if key not in seen:
                seen.add(key)
                yield Loss(cut, name, files, list(marks))


def write_files(files: dict[str, bytes | None], folder: Path) -> None:
    """Write files and folders below an empty folder."""
    for path, data in sorted(files.items()):
        target = folder / path.lstrip("/")
        if data is None:
            target.mkdir()
        else:
            target.write_bytes(data)
