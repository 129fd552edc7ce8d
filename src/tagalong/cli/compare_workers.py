"""``tagalong compare --workers`` and ``--scheduler``: one task per learner.

Every worker reads the items itself, so what is sent is the command line and a row of the table.
"""

import argparse
from contextlib import suppress
from dataclasses import dataclass, replace

from tagalong.cli.cluster import cluster_flag, workers_of_arguments
from tagalong.cli.compare_table import live_cells
from tagalong.cli.compared import Compared
from tagalong.cli.errors import UsageError
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.live import Live
from tagalong.cli.measured_learners import Chunks, measured_learners
from tagalong.cli.output import Output
from tagalong.cli.sources import Reading, is_live_stream
from tagalong.distributed.paths import everywhere
from tagalong.distributed.workers import run_tasks

__all__ = ["compare_on_workers"]


@dataclass(frozen=True)
class _Failed:
    """The failure of a learner, or of reading, after a number of chunks."""

    chunk: int
    error: Exception


def compare_on_workers(args: argparse.Namespace, reading: Reading, out: Output) -> Compared:
    """Return the measures of all learners, each of which a worker has computed.

    Parameters
    ----------
    args : Namespace
        The parsed command line.
    reading : Reading
        Its sources, which every worker must see.
    out : Output
        For messages.
    """
    flag = cluster_flag(args)
    if any(map(is_live_stream, reading.sources)):
        raise UsageError(f"{flag}: workers cannot share a pipe; write the items to a file")
    if args.threads is not None:
        raise UsageError(f"--threads contradicts {flag}: each learner has a worker")
    Chunks(args)  # checks the options
    count = len(measured_learners(args))
    reading.open().close()
    if args.scheduler is not None:
        reading = replace(reading, sources=[everywhere(source) for source in reading.sources])
    sent = argparse.Namespace(**{**vars(args), "sources": reading.sources})
    found: dict[int, Compared] = {}
    failed: dict[int, _Failed] = {}
    with workers_of_arguments(args, out) as workers, Interrupts() as interrupts:
        outcomes = run_tasks(workers, _measured, range(count), sent, reading)
        with suppress(KeyboardInterrupt), Live(out.quiet, args.every) as live:
            while (outcome := interrupts.next(outcomes)) is not None:
                if isinstance(outcome.result, _Failed):
                    failed[outcome.task] = outcome.result
                    continue
                found[outcome.task] = outcome.result
                if live.is_due():
                    live.show(*live_cells([one.rows[0] for one in found.values()]))
        outcomes.close()
        if interrupts.signal and not found:
            raise KeyboardInterrupt
    if failed and not interrupts.signal:
        # The failure that the threads of one process would report: by chunk, then by learner.
        raise min((one.chunk, number, one.error) for number, one in failed.items())[2]
    return replace(
        found[min(found)],
        rows=[found[number].rows[0] for number in sorted(found)],
        signal=interrupts.signal,
        interrupted=f"interrupted; {len(found)} of {count} learners have learnt all items",
    )


def _measured(number: int, args: argparse.Namespace, reading: Reading) -> Compared | _Failed:
    """Have one learner learn all items. It runs on a worker."""
    reader = Chunks(args)
    learner = measured_learners(args)[number]
    done = 0
    try:
        with reading.open() as stream:
            for chunk in reader.chunks(reading.limited(stream)):
                learner.learn(chunk)
                done += 1
    except Exception as error:
        return _Failed(done, error)
    return Compared(
        [learner.row()],
        learner.progress.items,
        reader.labels,
        reader.unlabelled,
        stream.skipped,
        stream.errors,
        stream.links,
    )
