"""``tagalong compare``: several learners on the same items.

The items are read in chunks. While the main thread computes the features of a chunk, the learners
learn earlier chunks in other threads. Each learner sees all chunks in order. Therefore the results
do not depend on the number of threads, and they are the same to the bit as when each learner runs
separately, which is what workers do (`tagalong.cli.compare_workers`).
"""

import argparse
import os
from contextlib import suppress

from tagalong.cli.chunk_workers import ChunkWorkers
from tagalong.cli.cluster import has_workers
from tagalong.cli.compare_table import as_markdown, as_table, best_first, live_cells
from tagalong.cli.compared import Compared
from tagalong.cli.errors import OK, SOME_SKIPPED
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.live import Live
from tagalong.cli.measured_learners import Chunks, measured_learners
from tagalong.cli.nothing_learnt import nothing_learnt
from tagalong.cli.output import Output
from tagalong.cli.sources import Reading, reading_of

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Compare the learners and print a table of their measures."""
    reading = reading_of(args)
    if has_workers(args):
        from tagalong.cli.compare_workers import compare_on_workers  # slow to import

        found = compare_on_workers(args, reading, out)
    else:
        found = _compare_in_threads(args, reading, out)
    if not found.items and not found.signal:
        raise nothing_learnt(reading, found.unlabelled, found.skipped, "compare", found.links)
    rows = best_first(found.rows)
    out.json_result(
        {
            "interrupted": bool(found.signal),
            "items": found.items,
            "labels": found.labels,
            "unlabelled": found.unlabelled,
            "skipped": found.skipped,
            "errors": found.errors,
            "links": found.links,
            "k": args.at,
            "learners": [row.to_dict() for row in rows],
        }
    )
    if any(row.report.order == "sorted" for row in rows):
        out.result(
            "THE ITEMS CAME SORTED BY LABEL, so these figures are too good and must not be "
            "trusted:",
            "compare the items in the order in which they arrived, or with --shuffle.",
            "",
        )
    out.result(*(as_markdown(rows) if args.markdown else as_table(rows)))
    out.info(f"{found.items:,} items, {found.labels:,} labels")
    if found.unlabelled:
        out.info(f"{found.unlabelled:,} items without labels were ignored")
    out.report_skipped(found.skipped, found.errors, found.links)
    if found.signal:
        out.info(found.interrupted)
        return 128 + found.signal
    return SOME_SKIPPED if found.skipped else OK


def _compare_in_threads(args: argparse.Namespace, reading: Reading, out: Output) -> Compared:
    reader = Chunks(args)
    learners = measured_learners(args)
    threads = args.threads or min(len(learners), os.cpu_count() or 1)
    with (
        reading.open() as stream,
        Interrupts() as interrupts,
        Live(out.quiet, args.every) as live,
        ChunkWorkers(learners, threads) as workers,
    ):
        chunks = reader.chunks(reading.limited(stream))
        try:
            with suppress(KeyboardInterrupt):
                while (chunk := interrupts.next(chunks)) is not None:
                    if live.is_due():
                        workers.finish()
                        live.show(*live_cells([learner.row() for learner in learners]))
                    workers.add(chunk)
        finally:  # a learner that fails at an item before an error of reading comes first
            workers.finish()
    return Compared(
        [learner.row() for learner in learners],
        learners[0].progress.items,
        reader.labels,
        reader.unlabelled,
        stream.skipped,
        stream.errors,
        stream.links,
        interrupts.signal,
        "interrupted; the measures cover the items learnt so far",
    )
