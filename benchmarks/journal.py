"""The journal beside plain SQLite with the same settings: ``python -m benchmarks.journal``.

Appending: answers per second, each on the disk before the next (or, with 16 threads, before its
thread goes on), beside rows of the same size inserted into a plain table, one commit per row. Both
take turns. Replaying, beside learning the same items without a journal. Undo: until it is
acknowledged, and until the model is computed anew, against the number of answers since. Size per
event. Start: opening a workspace that was closed, and one whose process was killed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.markdown import table
from benchmarks.streams import data_path
from benchmarks.turns import take_turns
from tagalong import LabelRanker, Tagger
from tagalong.journal import Workspace
from tagalong.journal.reader import JournalReader
from tagalong.journal.recovery import catch_up, first_state
from tagalong.journal.view import journal_path
from tagalong.readers import Item, read

THREADS = 16
BATCH = 256
DISTANCES = (1, 10, 100, 1_000, 10_000, 30_000)
NEAR = 100
REST = 3.0
GOAL_SECONDS = 2.0
"""Goal: an undo of one of the last 100 answers is settled within so many seconds."""


@contextmanager
def temporary_folder(path: str | None) -> Iterator[Path]:
    """A folder on the disk that is measured; a file system in memory would sync nothing."""
    with TemporaryDirectory(prefix="tagalong-journal-", dir=path) as folder:
        yield Path(folder)


def in_threads(work: Callable[[int], object], count: int, threads: int) -> Callable[[], None]:
    """Return a function that does work for each number below ``count``, on some threads."""

    def part(first: int) -> None:
        for number in range(first, count, threads):
            work(number)

    def run() -> None:
        running = [threading.Thread(target=part, args=(first,)) for first in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    return run


def plain_inserts(
    folder: Path, texts: Sequence[str], name: str = "plain"
) -> Callable[[int], object]:
    """Return a function that inserts one text into a plain table, one commit per row."""
    path = folder / f"{name}.sqlite"
    made = sqlite3.connect(path)
    made.execute("PRAGMA journal_mode = WAL")
    made.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")
    made.close()
    connections = threading.local()

    def insert(number: int) -> None:
        if not hasattr(connections, "own"):
            connections.own = sqlite3.connect(path, isolation_level=None, timeout=60)
            for setting in ("synchronous = FULL", "secure_delete = ON"):
                connections.own.execute(f"PRAGMA {setting}")
        connections.own.execute("INSERT INTO rows (text) VALUES (?)", (texts[number],))

    return insert


def fill(workspace: Workspace, items: Sequence[Item]) -> float:
    """Add items in batches; return the seconds."""
    start = time.perf_counter()
    for first in range(0, len(items), BATCH):
        workspace.add_many(items[first : first + BATCH])
    return time.perf_counter() - start


def appending(folder: Path, items: Sequence[Item], count: int, repeat: int) -> str:
    """Answers per second beside rows of a plain table."""
    texts = [f"answer {number} of an item, with its labels" for number in range(count)]
    rows = []
    with Workspace(folder / "appending") as workspace:
        fill(workspace, [Item(item.id, item.text) for item in items[:count]])
        insert = plain_inserts(folder, texts)

        def answer(number: int) -> None:
            workspace.answer(items[number].id, list(items[number].labels or ()))

        for threads in (1, THREADS):
            times = take_turns(
                {
                    "plain": in_threads(insert, count, threads),
                    "answers": in_threads(answer, count, threads),
                },
                repeat,
            )
            rates = [f"{count / times[name].median:,.0f}" for name in ("plain", "answers")]
            rows.append([str(threads), *rates, str(times["plain"].over(times["answers"]))])
    return table(["threads", "plain rows/s", "answers/s, learnt", "ratio"], rows)


def replaying(folder: Path, items: Sequence[Item]) -> str:
    """Events replayed per second, beside learning the same items without a journal."""
    with Workspace(folder / "debtags") as workspace:
        added = fill(workspace, items)
    with JournalReader(journal_path(folder / "debtags")) as reader:
        start = time.perf_counter()
        state = first_state(reader)
        catch_up(reader, state)
        replayed = time.perf_counter() - start
    tagger = Tagger()
    start = time.perf_counter()
    for first in range(0, len(items), BATCH):
        tagger.watch_together(items[first : first + BATCH])
    learnt = time.perf_counter() - start
    count = len(items)
    rows = [
        [
            "added in batches of 256, on disk and learnt",
            f"{count / added:,.0f}",
            _ratio(learnt, added),
        ],
        ["replayed", f"{count / replayed:,.0f}", _ratio(learnt, replayed)],
        ["learnt without a journal", f"{count / learnt:,.0f}", "1"],
    ]
    return table(["", "items/s", "ratio"], rows)


def _ratio(base: float, seconds: float) -> str:
    return f"{base / seconds:.2f}"


def undoing(folder: Path, items: Sequence[Item]) -> str:
    """Seconds until an undo is acknowledged and settled, by the number of events since."""
    distances = [each for each in DISTANCES if each < len(items)]
    last = len(items) + 1  # after the event that created the workspace
    with_copy, size = _undone(folder, last, distances, quick_undo=True)
    without, _ = _undone(folder, last, distances, quick_undo=False)
    rows = []
    for distance, (acknowledged, settled), (_, loaded) in zip(
        distances, with_copy, without, strict=True
    ):
        verdict = "" if distance > NEAR else "reached" if settled <= GOAL_SECONDS else "missed"
        cells = [f"{acknowledged * 1e3:.1f}", f"{settled:.2f}", f"{loaded:.2f}", verdict]
        rows.append([f"{distance:,}", *cells])
    heads = ["acknowledged, ms", "settled, s", "without a copy in memory, s"]
    return (
        f"Undo on Debian tags, {len(items):,} items, {size / 1e6:.0f} MB of weights, "
        f"{REST:g} s after the last answer.\n\n"
    ) + table(["events since", *heads, f"goal {GOAL_SECONDS:g} s"], rows)


def _undone(
    folder: Path, last: int, distances: Sequence[int], *, quick_undo: bool
) -> tuple[list[tuple[float, float]], int]:
    """Undo at each distance from the last item, and undo that; return times and weights."""
    times = []
    with Workspace(folder / "debtags", quick_undo=quick_undo) as workspace:
        size = workspace.tagger.size().weight_bytes
        for distance in distances:
            time.sleep(REST)  # a person thinks, and the copy in memory is brought up to date
            start = time.perf_counter()
            undo = workspace.undo(last - distance + 1, cascade=True)
            acknowledged = time.perf_counter() - start
            workspace.settle(600)
            times.append((acknowledged, time.perf_counter() - start))
            workspace.undo(undo)
            workspace.settle(600)
    return times, size


def sizes(folder: Path, items: Sequence[Item]) -> str:
    """Bytes per event on the disk, beside the text itself."""
    content = sum(len(str(item.text).encode()) for item in items) / len(items)
    path = journal_path(folder / "debtags")
    snapshots = sorted(path.with_name("snapshots").iterdir())
    rows = [
        ["text of an item", f"{content:,.0f}"],
        ["item with labels in the journal", f"{path.stat().st_size / len(items):,.0f}"],
        ["newest snapshot, per item", f"{snapshots[-1].stat().st_size / len(items):,.0f}"],
        [
            "all snapshots, per item",
            f"{sum(s.stat().st_size for s in snapshots) / len(items):,.0f}",
        ],
    ]
    return table(["", "bytes"], rows)


def starting(folder: Path, counts: Sequence[int]) -> str:
    """Seconds to open workspaces of small items, after a close and after a kill."""
    rows = []
    for count in counts:
        path = folder / f"{count}"
        tagger = Tagger(LabelRanker(race=None))
        with Workspace(path, tagger=tagger) as workspace:
            words = (f"word{number % 997} thing{number % 89}" for number in range(count))
            items = (
                Item(str(number), text, labels=(f"label {number % 20}",))
                for number, text in enumerate(words)
            )
            while some := list(islice(items, BATCH)):
                workspace.add_many(some)
            killed = folder / f"{count}-killed"  # what a killed process would leave
            shutil.copytree(path, killed, ignore=shutil.ignore_patterns("*.lock"))
        cells = [f"{count:,}"]
        for each in (path, killed):
            start = time.perf_counter()
            opened = Workspace(each)
            cells.append(f"{time.perf_counter() - start:.2f}")
            opened.close()
        start = time.perf_counter()
        opened = _without_snapshots(path)
        cells.append(f"{time.perf_counter() - start:.1f}")
        opened.close()
        size = journal_path(path).stat().st_size
        rows.append([*cells, f"{size / 1e6:,.0f}"])
        shutil.rmtree(path)
        shutil.rmtree(killed)
    heads = ["events", "closed, s", "killed, s", "without snapshots, s", "journal, MB"]
    return table(heads, rows)


def _without_snapshots(path: Path) -> Workspace:
    shutil.rmtree(path / "snapshots", ignore_errors=True)
    return Workspace(path)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="folder on the disk to measure (default: temporary)")
    parser.add_argument("--limit", type=int, help="read so many items only")
    parser.add_argument("--answers", type=int, default=3000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--events", type=int, nargs="*", default=[100_000, 1_000_000])
    args = parser.parse_args()
    source = os.fspath(data_path("debtags-texts.jsonl.xz"))
    with read(source) as stream:
        items = list(islice(stream, args.limit))
    with temporary_folder(args.folder) as folder:
        count = min(args.answers, len(items))
        print(appending(folder, items, count, args.repeat), end="\n\n", flush=True)
        print(replaying(folder, items), end="\n\n", flush=True)
        print(undoing(folder, items), end="\n\n", flush=True)
        print(sizes(folder, items), end="\n\n", flush=True)
        print(starting(folder, args.events), flush=True)


if __name__ == "__main__":
    main()
