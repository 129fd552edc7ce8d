"""Run cells in parallel processes, and store each result as soon as it is finished."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

from experiments import store
from experiments.experiment import Cell, Experiment, Form, MissingData, Result

Log = Callable[[str], None]
Finished = tuple[Cell, Future[tuple[Result, float]]]

# There is one process per core, so libraries must not start threads.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(
    experiments: Iterable[Experiment],
    form: Form,
    jobs: int,
    again: bool = False,
    journal: store.Journal | None = None,
    results: Path = store.RESULTS,
    log: Log | None = None,
) -> list[str]:
    """Run all unfinished cells, and write the results of each complete experiment.

    Returns one line per failed cell. A cell whose data is missing is skipped; the results name the
    data. If a cell fails, the results of its experiment are not replaced, but other experiments
    continue. After Ctrl-C, finished cells remain in the journal.
    """
    journal = journal or store.Journal()
    log = log or _log
    wanted = {experiment.name: experiment.cells(form) for experiment in experiments}
    work = {cell.key: cell for cells in wanted.values() for cell in cells}
    if not again:
        work = {key: cell for key, cell in work.items() if journal.find(cell) is None}
    total = sum(len({cell.key for cell in cells}) for cells in wanted.values())
    log(f"{form.name} form: {total} cells, {len(work)} to run, {jobs} at a time")
    missing, failed = _run_cells(list(work.values()), jobs, journal, log)
    for name, cells in wanted.items():
        if any(cell.key in failed for cell in cells):
            log(f"{name}: results not written, because a cell failed")
            continue
        unique = {cell.key: cell for cell in cells}
        found = {key: journal.find(cell) for key, cell in unique.items()}
        records = [record for record in found.values() if record is not None]
        skipped = dict.fromkeys(missing[key] for key, record in found.items() if record is None)
        store.write_results(name, form.name, records, list(skipped), results)
    return list(failed.values())


def _run_cells(
    cells: list[Cell], jobs: int, journal: store.Journal, log: Log
) -> tuple[dict[str, str], dict[str, str]]:
    """Run cells; return the reasons of skipped cells and of failed cells, by key."""
    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    start = time.monotonic()
    # closing() stops the workers before a KeyboardInterrupt reaches the caller.
    with closing(_finished(cells, jobs)) as finished:
        for done, (cell, future) in enumerate(finished, 1):
            line = _describe(cell)
            try:
                result, seconds = future.result()
            except MissingData as error:
                missing[cell.key] = str(error)
                line += f": skipped, {error}"
            except Exception as error:
                failed[cell.key] = f"{line}: {type(error).__name__}: {error}"
                line += f": failed, {error}"
            else:
                journal.add(cell, result, seconds)
                line += f": {seconds:.1f} s"
            elapsed = time.monotonic() - start
            left = elapsed / done * (len(cells) - done)
            log(f"[{done}/{len(cells)}, {elapsed:.0f} s, about {left:.0f} s left] {line}")
    return missing, failed


def _finished(cells: list[Cell], jobs: int) -> Generator[Finished, None, None]:
    """Yield cells as they finish; cells that finish together keep their order.

    Only a few cells are submitted at a time, so that Ctrl-C takes effect quickly.
    """
    if not cells:
        return
    # Spawned processes inherit no threads and locks of this process.
    saved = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
            waiting = iter(cells)
            running: dict[Future[tuple[Result, float]], Cell] = {}
            try:
                while True:
                    while len(running) < 2 * jobs and (cell := next(waiting, None)) is not None:
                        running[pool.submit(_compute, cell)] = cell
                    if not running:
                        return
                    done = wait(running, return_when=FIRST_COMPLETED).done
                    for future in [future for future in running if future in done]:
                        yield running.pop(future), future
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _compute(cell: Cell) -> tuple[Result, float]:
    # Processor time of this process, so that other work on the machine does not count.
    start = time.process_time()
    result = cell.compute()
    return result, time.process_time() - start


def _describe(cell: Cell) -> str:
    where = cell.run.partition(":")[0].removeprefix("experiments.")
    plain = {key: value for key, value in cell.settings.items() if not isinstance(value, list)}
    return where + " " + " ".join(f"{key}={value}" for key, value in plain.items())


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
