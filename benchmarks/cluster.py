"""Work on a cluster: ``python -m benchmarks.cluster [--items N]``.

A Dask scheduler and its workers run on this machine, on loopback. Scheduler, client and workers
share its cores, so two workers on two cores cannot be twice as fast as one. Every worker uses one
thread. Times are taken alternately, and the speed-up is computed turn by turn. The output of every
run is compared with that of one process; if it differs, the run fails.
"""

from __future__ import annotations

import argparse
import os
import pickle
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.markdown import table
from benchmarks.turns import take_turns
from tagalong import Tagger
from tagalong.distributed import suggest
from tagalong.distributed.archives.inputs import find_inputs
from tagalong.distributed.archives.model import model_bytes
from tagalong.distributed.archives.settings import Settings
from tagalong.distributed.archives.shards import find_shards
from tagalong.distributed.workers import run_tasks, workers_of
from tagalong.readers import Item, write

SHARDS = 16


@contextmanager
def cluster(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes on loopback."""
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            ) as made,
            Client(made) as client,  # type: ignore[no-untyped-call]
        ):
            yield client


def texts(rows: int) -> Iterator[Item]:
    """Texts of forty words about one of fifty topics; the same in every run."""
    for row in range(rows):
        words = " ".join(f"w{row * 7919 * (k + 1) % 211}t{row % 50}" for k in range(40))
        yield Item(f"{row}", words, labels=(f"topic {row % 50}",))


def digest(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.jsonl")))


def tagging_rows(
    tagger: Tagger, source: Path, items: int, repeat: int, folder: Path
) -> tuple[list[list[str]], bool]:
    """Rows of the table of bulk tagging; and whether all results have the same bytes."""
    found: set[bytes] = set()
    runs = count()
    size = source.stat().st_size // SHARDS + 1

    def tag(client: Any) -> None:
        out = folder / f"out{next(runs)}"
        suggest(tagger, source, out, client, shard_size=size)
        found.add(digest(out))

    with cluster(1) as one, cluster(2) as two:
        clients = {"1": one, "2": two}
        for client in clients.values():
            tag(client)  # every worker imports, and loads the model
        times = take_turns({name: partial(tag, client) for name, client in clients.items()}, repeat)
    rows = []
    for name, own in times.items():
        ratio = times["1"].over(own)
        speed = f"{items / own.median:,.0f}"
        rows.append(
            [name, f"{own.median:.2f}", speed, str(ratio), f"{ratio.median / int(name):.0%}"]
        )
    return rows, len(found) == 1


def overhead_rows(tasks: int) -> list[list[str]]:
    """Rows of the table of empty tasks, by a scheduler and by an executor."""
    from tagalong.distributed.workers import local_workers

    rows = []
    with cluster(2) as client, local_workers(2) as processes:
        for name, workers in (("Dask", workers_of(client)), ("processes", processes)):
            list(run_tasks(workers, abs, range(20)))
            start = time.perf_counter()
            list(run_tasks(workers, abs, range(tasks)))
            seconds = time.perf_counter() - start
            rows.append(
                [name, f"{tasks:,}", f"{tasks / seconds:,.0f}", f"{1e3 * seconds / tasks:.2f}"]
            )
    return rows


def sent_rows(tagger: Tagger, source: Path) -> list[list[str]]:
    """Rows of the table of what tagging sends, in bytes as pickled.

    The benchmarks m3l-rows and mixing have the bytes of a round, or of an epoch, of their work.
    """
    settings = Settings(shard_size=source.stat().st_size // SHARDS + 1)
    shards = find_shards(find_inputs([str(source)], settings), settings)
    tasks = [len(pickle.dumps(shard)) for shard in shards]
    return [
        ["tagging: the model, once per worker", f"{len(model_bytes(tagger)):,}"],
        ["tagging: a task", f"{sum(tasks) / len(tasks):,.0f}"],
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=40_000, help="items to tag (default 40000)")
    parser.add_argument("--tasks", type=int, default=1000, help="empty tasks (default 1000)")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args(arguments)
    tagger = Tagger()
    for item in texts(min(2000, options.items)):
        tagger.learn(item, item.labels)
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    print(f"Scheduler, client and workers share {cores} cores; load before the run {load:.1f}.\n")
    with TemporaryDirectory() as name:
        source = Path(name, "items.jsonl")
        write(texts(options.items), source)
        rows, same = tagging_rows(tagger, source, options.items, options.repeat, Path(name))
        print(f"Tagging {options.items:,} items in {SHARDS} shards:\n")
        print(table(["workers", "seconds, median", "items/s", "speed-up", "efficiency"], rows))
        print("\nEmpty tasks, two workers:\n")
        print(
            table(["workers of", "tasks", "tasks/s", "ms per task"], overhead_rows(options.tasks))
        )
        print("\nBytes sent:\n")
        print(table(["what", "bytes"], sent_rows(tagger, source)))
    if not same:
        print("the output of the runs differs", file=sys.stderr)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
