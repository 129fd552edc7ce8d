"""Speed-up with more cores: ``python -m benchmarks.threads [--rows N]``.

Every job runs on one core and on several cores, alternately. Seconds are wall-clock time: more
cores do not save work, they save waiting. The process is limited to the number of cores of the
table row. That is also how a user limits the threads that score a matrix, which are as many as the
cores that the process may use (``taskset -c 0 python ...``). M3L's ``n_jobs`` and
``tagalong compare --threads`` are set to the same number. The speed-up is computed turn by turn;
the efficiency is the median speed-up divided by the number of cores.

Results are compared bit for bit. If they differ, the run fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import ours, streams
from benchmarks.markdown import table
from benchmarks.turns import Times, take_turns
from tagalong import LabelRanker, M3LClassifier
from tagalong.readers import read, write

# Takes the number of cores; returns the result as bytes.
Job = Callable[[int], bytes]

COMPARED = "single,optimal,smooth"
"""The learners that ``tagalong compare`` compares."""

KERNEL_ROWS, KERNEL_LABELS = 1500, 12


@contextmanager
def limited_to_cores(cores: int) -> Iterator[None]:
    """Limit this thread, and the threads and processes that it starts, to ``cores`` cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(before)[:cores]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def prediction_jobs(stream: streams.Stream, rows: int) -> Iterator[tuple[str, Job]]:
    """Jobs that compute the scores and the best labels of a matrix."""
    X = stream.X[:rows]
    for setting in ours.RANK_ONE:
        ranker = ours.make_ranker(setting)
        ranker.partial_fit(X, stream.Y[:rows], classes=stream.labels)

        def scores(_: int, ranker: LabelRanker = ranker) -> bytes:
            return bytes(ranker.decision_function(X).tobytes())

        def best(_: int, ranker: LabelRanker = ranker) -> bytes:
            return bytes(ranker._native.rank(ranker._checked_matrix(X), 5).tobytes())

        yield f"`decision_function` of {rows:,} rows, {setting}", scores
        yield f"`rank(X, k=5)` of {rows:,} rows, {setting}", best


def m3l_jobs(stream: streams.Stream, rows: int) -> Iterator[tuple[str, Job]]:
    """Jobs that train M3L, which divides the labels among threads."""

    def fit(cores: int, X: Any, Y: Any, **settings: Any) -> bytes:
        model = M3LClassifier(n_jobs=cores, random_state=0, **settings).fit(X, Y)
        return bytes(np.ascontiguousarray(model.dual_coef_).tobytes())

    few = min(rows, KERNEL_ROWS)
    X, Y = stream.unit_rows, stream.Y.toarray()
    yield f"M3L, linear, {rows:,} rows", partial(fit, X=X[:rows], Y=Y[:rows], tol=0.1)
    common = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[:KERNEL_LABELS])
    kernel: dict[str, Any] = {"kernel": "rbf", "gamma": 1.0, "tol": 0.01}
    yield f"M3L, rbf, {few:,} rows", partial(fit, X=X[:few], Y=Y[:few, common], **kernel)


def compare_job(items: Path, count: int) -> tuple[str, Job]:
    """A job that runs ``tagalong compare`` as a process, including its start."""

    def compare(cores: int) -> bytes:
        command = [sys.executable, "-m", "tagalong", "compare", str(items), "--learners", COMPARED]
        found = subprocess.run(
            [*command, "--threads", str(cores), "--quiet", "--json"],
            check=True,
            stdout=subprocess.PIPE,
        )
        page = json.loads(found.stdout)
        for learner in page["learners"]:
            del learner["items_per_second"]
        return json.dumps(page).encode()

    return f"`tagalong compare`, {len(COMPARED.split(','))} learners, {count:,} items", compare


def measure(name: str, job: Job, cores: Sequence[int], repeat: int) -> tuple[list[list[str]], bool]:
    """Rows of the table, one per number of cores; and whether all results have the same bits."""
    found: dict[int, set[bytes]] = {count: set() for count in cores}

    def run(count: int) -> None:
        with limited_to_cores(count):
            found[count].add(job(count))

    if repeat > 1:
        job(cores[-1])  # warm-up
    times = take_turns({str(count): partial(run, count) for count in cores}, repeat)
    same = len(set.union(*found.values())) == 1
    return [_row(name, count, times, "same" if same else "DIFFERENT") for count in cores], same


def _row(name: str, cores: int, times: dict[str, Times], bits: str) -> list[str]:
    own = times[str(cores)]
    ratio = times["1"].over(own)
    efficiency = f"{ratio.median / cores:.0%}"
    seconds = [f"{own.best:.3f}", f"{own.median:.3f}"]
    return [name, str(cores), *seconds, str(ratio), efficiency, bits]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000, help="rows per job (default 10000)")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args(arguments)
    available = len(os.sched_getaffinity(0))
    cores = sorted({1, min(2, available), available})
    try:
        tags, rcv1 = streams.load("debtags"), streams.load("rcv1")
    except streams.NoData as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{available} cores; load before the run {os.getloadavg()[0]:.1f}\n")
    with TemporaryDirectory() as folder, threadpool_limits(1):
        rows, all_same = [], True
        for name, job in jobs(tags, rcv1, options.rows, Path(folder)):
            found, same = measure(name, job, cores, options.repeat)
            rows += found
            all_same &= same
    headers = ["job", "cores", "seconds, best", "median", "speed-up", "efficiency", "bits"]
    print(table(headers, rows))
    return 0 if all_same else 1


def jobs(
    tags: streams.Stream, rcv1: streams.Stream, rows: int, folder: Path
) -> Iterator[tuple[str, Job]]:
    """All jobs, with their names."""
    yield from prediction_jobs(tags, min(rows, tags.rows))
    yield from m3l_jobs(rcv1, min(rows, rcv1.rows))
    source = Path(os.environ[streams.DATA_VARIABLE], "debtags-texts.jsonl.xz")
    items = list(islice(read(str(source)), rows))
    path = folder / "items.jsonl"
    write(items, str(path))
    yield compare_job(path, len(items))


if __name__ == "__main__":
    sys.exit(main())
