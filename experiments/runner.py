"""Run cells in processes or on a cluster, and store each result as soon as it is finished."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from experiments import store
from experiments.experiment import Cell, Experiment, Form, MissingData, Result
from tagalong.distributed.connection import opened_workers
from tagalong.distributed.workers import Workers, local_workers, run_tasks

Log = Callable[[str], None]

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
    scheduler: str | None = None,
) -> list[str]:
    """Run all unfinished cells, and write the results of each complete experiment.

    The cells are computed by processes on this machine, or by the workers of a Dask cluster if the
    address of its scheduler is given. These need this folder as their working directory.

    Returns one line per failed cell. A cell whose data is missing is skipped; the results name the
    data. If a cell fails, the results of its experiment are not replaced, but other experiments
    continue. After Ctrl-C, finished cells remain in the journal; those of a full form are also kept
    with the results, as unfinished. The quick form never replaces the results of a full form.
    """
    journal = journal or store.Journal(results=results)
    log = log or _log
    wanted = {experiment.name: experiment.cells(form) for experiment in experiments}
    work = {cell.key: cell for cells in wanted.values() for cell in cells}
    if not again:
        work = {key: cell for key, cell in work.items() if journal.find(cell) is None}
    total = sum(len({cell.key for cell in cells}) for cells in wanted.values())
    by = f"{jobs} at a time" if scheduler is None else f"by the workers of {scheduler}"
    log(f"{form.name} form: {total} cells, {len(work)} to run, {by}")
    missing: dict[str, str] = {}
    failed: dict[str, str] = {}
    try:
        if work:
            opened = _processes(jobs) if scheduler is None else opened_workers(None, scheduler, log)
            with opened as workers:
                _run_cells(list(work.values()), workers, journal, log, missing, failed)
    finally:
        for name, cells in wanted.items():
            _write(name, form, cells, journal, missing, results, log)
    return list(failed.values())


def _write(
    name: str,
    form: Form,
    cells: list[Cell],
    journal: store.Journal,
    missing: dict[str, str],
    results: Path,
    log: Log,
) -> None:
    """Write the results of an experiment if they are complete; keep a part of a full form."""
    unique = {cell.key: cell for cell in cells}
    found = {key: journal.find(cell) for key, cell in unique.items()}
    records = [record for record in found.values() if record is not None]
    skipped = [key for key in unique if found[key] is None and key in missing]
    unfinished = len(unique) - len(records) - len(skipped)
    reasons = list(dict.fromkeys(missing[key] for key in skipped))
    stored = store.read_results(name, results)
    if unfinished:
        log(f"{name}: results not written, because {unfinished} of {len(unique)} cells are missing")
        if form.full and records:
            store.write_results(name, form.name, records, reasons, results, missing=unfinished)
    elif stored is not None and stored[0]["form"] == "full" and not form.full:
        log(f"{name}: the results of the full form are kept")
    else:
        store.write_results(name, form.name, records, reasons, results)


def _run_cells(
    cells: list[Cell],
    workers: Workers,
    journal: store.Journal,
    log: Log,
    missing: dict[str, str],
    failed: dict[str, str],
) -> None:
    """Run cells; add the reasons of skipped cells and of failed cells, by key."""
    start = time.monotonic()
    # closing() gives up the cells that wait before a KeyboardInterrupt reaches the caller.
    with closing(run_tasks(workers, _attempt, cells)) as outcomes:
        for done, outcome in enumerate(outcomes, 1):
            cell, attempt = outcome.task, outcome.result
            line = _describe(cell)
            if attempt.missing:
                missing[cell.key] = attempt.missing
                line += f": skipped, {attempt.missing}"
            elif attempt.result is None:
                failed[cell.key] = f"{line}: {attempt.failed}"
                line += f": failed, {attempt.failed}"
            else:
                journal.add(cell, attempt.result, attempt.seconds)
                line += f": {attempt.seconds:.1f} s"
            elapsed = time.monotonic() - start
            left = elapsed / done * (len(cells) - done)
            log(f"[{done}/{len(cells)}, {elapsed:.0f} s, about {left:.0f} s left] {line}")


@contextmanager
def _processes(jobs: int) -> Iterator[Workers]:
    """Return processes on this machine; each uses one thread."""
    saved = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    try:
        with local_workers(jobs) as workers:
            yield workers
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class Attempt:
    """The outcome of a cell: its result with the seconds it took, or why there is none."""

    result: Result | None = None
    seconds: float = 0.0
    missing: str = ""
    failed: str = ""


def _attempt(cell: Cell) -> Attempt:
    # Processor time of this process, so that other work on the machine does not count.
    start = time.process_time()
    try:
        return Attempt(cell.compute(), time.process_time() - start)
    except MissingData as error:
        return Attempt(missing=str(error) or "its data is missing")
    except Exception as error:
        return Attempt(failed=f"{type(error).__name__}: {error}")


def _describe(cell: Cell) -> str:
    where = cell.run.partition(":")[0].removeprefix("experiments.")
    plain = {key: value for key, value in cell.settings.items() if not isinstance(value, list)}
    return where + " " + " ".join(f"{key}={value}" for key, value in plain.items())


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
