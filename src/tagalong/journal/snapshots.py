"""Snapshots: saved states, from which replaying starts.

A snapshot is a model file with the figures in its notes. The journal lists the snapshots, with the
position in the chain of events and the events that did not count: a snapshot is used only while
both are as they were. So a snapshot whose history was changed by an undo is passed over, and is
used again if the undo is undone.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tagalong.evaluate import Progress
from tagalong.files.unicode_paths import unicode_path
from tagalong.journal.builds import MIXED, current_build
from tagalong.journal.errors import DamagedError, StorageError
from tagalong.journal.reader import JournalReader, Snapshot
from tagalong.journal.state import ModelState
from tagalong.journal.store import JournalStore
from tagalong.learning.model_files import Arrays, ModelFileError, load, pack, save_parts
from tagalong.tagger import Tagger

__all__ = ["PackedState", "Snapshot", "Snapshots", "packed", "state_from_file", "thinned"]

NOTE = "journal"
_NAME = re.compile(r"\d{12}-[0-9a-f]{8}\.tagalong")
_TEMPORARY_NAME = re.compile(r"\.tagalong-[0-9a-f-]+\.tmp")  # see `tagalong.files.replacement`


@dataclass(slots=True)
class PackedState:
    """A copy of a state, ready to be written.

    Parameters
    ----------
    header : dict
        The header of the file.
    arrays : dict
        Its arrays.
    seq : int
        The last event of the state.
    build : str
        The build that computed it.
    """

    header: dict[str, Any]
    arrays: Arrays
    seq: int
    build: str


def packed(state: ModelState) -> PackedState:
    """Return a copy of a state. Only this takes time during which the state cannot change.

    Parameters
    ----------
    state : ModelState
        The state.
    """
    with state.lock:
        header, arrays = pack(state.tagger)
        note = {"progress": state.progress.to_json(), "refused": state.refused}
        return PackedState({**header, "notes": {NOTE: note}}, arrays, state.seq, state.build)


def state_from_file(
    path: Path,
    seq: int,
    build: str,
    history: Mapping[str, str] | None = None,
    place: str | None = None,
) -> ModelState:
    """Return the state in a file, checked as every model file; DamagedError if it is not sound.

    Parameters
    ----------
    path : path
        The file.
    seq : int
        Its last event.
    build : str
        The build that computed it.
    history : mapping, optional
        The history that the file has to name as its own.
    place : str, optional
        The name of the file in messages; by default its path.
    """
    place = unicode_path(path) if place is None else place
    try:
        tagger = load(path)
        if not isinstance(tagger, Tagger):
            raise ModelFileError(f"{place}: holds no tagger")
        note = tagger.notes.pop(NOTE, None) or {}
        if history is not None and note.get("history") != history:
            raise ModelFileError("it belongs to another history")
        progress = Progress.from_json(note["progress"]) if "progress" in note else Progress()
        refused = int(note.get("refused", 0))
    except FileNotFoundError as error:
        raise DamagedError(f"{place}: the snapshot is missing") from error
    except (ValueError, TypeError, AttributeError, OSError) as error:
        raise DamagedError(f"{place}: damaged snapshot: {error}") from error
    is_of_this_build = build == current_build()
    return ModelState(tagger, progress, seq, build if is_of_this_build else MIXED, refused)


class Snapshots:
    """The snapshots of a workspace, in a folder.

    Those that lie elsewhere have methods of their own for what is done with files: ``place``,
    ``file``, ``write_file``, ``names`` and ``remove``.

    Parameters
    ----------
    folder : path
        The folder; it need not exist.
    """

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, snapshot: Snapshot) -> Path:
        """Return the file of a snapshot."""
        return self.folder / snapshot.name

    def place(self, name: str) -> str:
        """Return where a snapshot is, for messages."""
        return unicode_path(self.folder / name)

    @contextmanager
    def file(self, snapshot: Snapshot) -> Iterator[Path]:
        """Lend the file of a snapshot, to be read in the block; it may be missing."""
        yield self.path(snapshot)

    def write_file(self, snapshot: Snapshot, write: Callable[[Path], None]) -> int:
        """Store the file of a snapshot; return its size.

        Parameters
        ----------
        snapshot : Snapshot
            The snapshot.
        write : callable
            Writes the file, given its path, in one step.
        """
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path = self.path(snapshot)
        write(path)
        return path.stat().st_size

    def names(self) -> list[str]:
        """Return the names of all files, whether or not they are snapshots."""
        with suppress(FileNotFoundError):
            return os.listdir(self.folder)
        return []

    def remove(self, names: Sequence[str]) -> None:
        """Remove the files of snapshots that are no longer listed."""
        for name in names:
            try:
                (self.folder / name).unlink(missing_ok=True)
            except OSError as error:  # it is removed when the workspace is opened again
                raise StorageError(error.errno, error.strerror, self.place(name)) from error

    def usable(
        self, reader: JournalReader, before: int | None = None, *, exact: bool = False
    ) -> Iterator[Snapshot]:
        """Return the snapshots that belong to the present history, the newest first.

        Parameters
        ----------
        reader : JournalReader
            The journal.
        before : int, optional
            Only snapshots of earlier events.
        exact : bool
            Only snapshots that this build has computed.
        """
        for snapshot in sorted(reader.snapshots(), key=lambda each: -each.seq):
            if before is not None and snapshot.seq >= before:
                continue
            if exact and snapshot.build != current_build():
                continue
            if (
                reader.link(snapshot.seq) == snapshot.link
                and reader.taken_back_digest(snapshot.seq) == snapshot.taken_back
            ):
                yield snapshot

    def load(self, snapshot: Snapshot) -> ModelState:
        """Return the state of a snapshot; DamagedError if it is missing or not sound."""
        with self.file(snapshot) as path:
            return state_from_file(
                path, snapshot.seq, snapshot.build, _history(snapshot), self.place(snapshot.name)
            )

    def named(self, reader: JournalReader, state: PackedState) -> Snapshot:
        """Return the row of the list for a state, before its file is written.

        Parameters
        ----------
        reader : JournalReader
            The journal, whose present history the state has followed.
        state : PackedState
            The state.
        """
        link, digest = reader.link(state.seq), reader.taken_back_digest(state.seq)
        assert link is not None
        name = f"{state.seq:012d}-{digest.hex()[:8]}.tagalong"
        return Snapshot(name, state.seq, link, digest, state.build, 0)

    def write(self, snapshot: Snapshot, state: PackedState) -> Snapshot:
        """Write the file of a snapshot, and return its row with the size of the file.

        Parameters
        ----------
        snapshot : Snapshot
            The result of `named`.
        state : PackedState
            The state. Its arrays are used up.
        """
        state.header["notes"][NOTE]["history"] = _history(snapshot)
        size = self.write_file(
            snapshot, lambda path: save_parts(state.header, state.arrays, path, private=True)
        )
        return replace(snapshot, size=size)

    def later_than(self, tip: int) -> list[DamagedError]:
        """Return an error for each file that has learnt later events than the journal has.

        A state is saved only after its events are on the disk: so the journal has lost them, or is
        an older copy.

        Parameters
        ----------
        tip : int
            The last event of the journal.
        """
        return [
            DamagedError(
                f"{self.place(name)}: it has learnt event {_seq(name):,}, but the "
                f"journal ends with event {tip:,}: later events are missing"
            )
            for name in sorted(self.names())
            if _NAME.fullmatch(name) and _seq(name) > tip
        ]

    def remove_unlisted(self, store: JournalStore) -> None:
        """Remove files that the journal does not list, and list no file that does not exist.

        Parts of a file that a killed process was writing are removed too: they may have learnt
        items that are forgotten. Files with later events than the journal has are kept.

        Parameters
        ----------
        store : JournalStore
            The journal.
        """
        listed = {snapshot.name for snapshot in store.snapshots()}
        names = self.names()
        present = {name for name in names if _NAME.fullmatch(name)}
        temporary = {name for name in names if _TEMPORARY_NAME.fullmatch(name)}
        if missing := listed - present:
            with store.transaction():
                store.drop_snapshots(missing)
        tip = store.tip
        for name in {*temporary, *(name for name in present if _seq(name) <= tip)} - listed:
            with suppress(OSError):
                self.remove([name])


def _seq(name: str) -> int:
    """Return the last event of a snapshot from the name of its file."""
    return int(name.partition("-")[0])


def _history(snapshot: Snapshot) -> dict[str, str]:
    """Return what a file says about the events that it has learnt."""
    return {"link": snapshot.link.hex(), "taken_back": snapshot.taken_back.hex()}


def thinned(snapshots: Sequence[Snapshot], tip: int, budget: int) -> list[Snapshot]:
    """Return the snapshots to remove: the rest lies at exponentially growing distances.

    Of the snapshots at a distance from 2^i to 2^(i+1) events from the end the oldest is kept, and
    the newest two of all. If they need more space than the budget, those go first that lie closest
    to an older one, in relation to their distance from the end.

    Parameters
    ----------
    snapshots : sequence of Snapshot
        The snapshots that belong to the present history.
    tip : int
        The last event.
    budget : int
        Number of bytes that they may take. The newest is kept in any case.
    """
    ordered = sorted(snapshots, key=lambda each: each.seq)
    newest = ordered[-2:]
    by_distance: dict[int, Snapshot] = {}
    for each in ordered[:-2]:
        by_distance.setdefault((tip - each.seq).bit_length(), each)
    kept = [*by_distance.values(), *newest]
    kept.sort(key=lambda each: each.seq)
    while len(kept) > 1 and sum(each.size for each in kept) > budget:
        kept.remove(min(kept[:-1], key=lambda each: _sparsity(kept, each, tip)))
    return [each for each in ordered if each not in kept]


def _sparsity(kept: Sequence[Snapshot], each: Snapshot, tip: int) -> float:
    """Return how much further replaying would have to go without a snapshot, relative to now."""
    at = kept.index(each)
    older = kept[at - 1].seq if at else 0
    return (tip - older) / max(tip - each.seq, 1)
