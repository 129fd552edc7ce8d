"""Runs cells in processes side by side, and keeps each as soon as it is finished."""

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
from experiments.experiment import Cell, Experiment, Form, Missing, Result

Say = Callable[[str], None]
Finished = tuple[Cell, Future[tuple[Result, float]]]

# A process of its own for every core: libraries must not start threads on top.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(
    experiments: Iterable[Experiment],
    form: Form,
    jobs: int,
    again: bool = False,
    journal: store.Journal | None = None,
    results: Path = store.RESULTS,
    say: Say | None = None,
) -> list[str]:
    """Run what is not finished yet, and write the results of each experiment that is complete.

    Returns what failed, one line each. A cell whose data is missing is skipped and named; one that
    raises leaves its experiment without new results, and the others go on. Ctrl-C keeps what is
    finished.
    """
    journal = journal or store.Journal()
    say = say or _say
    wanted = {experiment.name: experiment.cells(form) for experiment in experiments}
    work = {cell.key: cell for cells in wanted.values() for cell in cells}
    if not again:
        work = {key: cell for key, cell in work.items() if journal.find(cell) is None}
    total = sum(len({cell.key for cell in cells}) for cells in wanted.values())
    say(f"{form.name} form: {total} cells, {len(work)} to run, {jobs} at a time")
    missing, failed = _work_off(list(work.values()), jobs, journal, say)
    for name, cells in wanted.items():
        if any(cell.key in failed for cell in cells):
            say(f"{name}: not written, as a cell has failed")
            continue
        unique = {cell.key: cell for cell in cells}
        found = {key: journal.find(cell) for key, cell in unique.items()}
        records = [record for record in found.values() if record is not None]
        skipped = dict.fromkeys(missing[key] for key, record in found.items() if record is None)
        store.write_results(name, form.name, records, list(skipped), results)
    return list(failed.values())


def _work_off(
    cells: list[Cell], jobs: int, journal: store.Journal, say: Say
) -> tuple[dict[str, str], dict[str, str]]:
    """Run cells; return why some were skipped and why some failed, by key."""
    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    begun = time.monotonic()
    # Closed at once when interrupted: nothing runs on behind the back of who catches that.
    with closing(_finished(cells, jobs)) as finished:
        for done, (cell, future) in enumerate(finished, 1):
            what = _short(cell)
            try:
                result, seconds = future.result()
            except Missing as error:
                missing[cell.key] = str(error)
                what += f": skipped, {error}"
            except Exception as error:
                failed[cell.key] = f"{what}: {type(error).__name__}: {error}"
                what += f": failed, {error}"
            else:
                journal.add(cell, result, seconds)
                what += f": {seconds:.1f} s"
            gone = time.monotonic() - begun
            left = gone / done * (len(cells) - done)
            say(f"[{done}/{len(cells)}, {gone:.0f} s, about {left:.0f} s left] {what}")
    return missing, failed


def _finished(cells: list[Cell], jobs: int) -> Generator[Finished, None, None]:
    """Yield cells as they finish, those that finish together in the order they were given.

    Few are handed out at a time, so that Ctrl-C ends soon.
    """
    if not cells:
        return
    # Fresh processes: nothing of this one's threads and locks is inherited.
    saved = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
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
    # Of this process alone: other work on the machine does not count.
    begun = time.process_time()
    result = cell.compute()
    return result, time.process_time() - begun


def _short(cell: Cell) -> str:
    where = cell.run.partition(":")[0].removeprefix("experiments.")
    plain = {key: value for key, value in cell.settings.items() if not isinstance(value, list)}
    return where + " " + " ".join(f"{key}={value}" for key, value in plain.items())


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
