"""``tagalong suggest --workers`` and ``--scheduler``: whole archives, by many workers."""

import argparse
import os
import time
from contextlib import suppress

from tagalong.cli.cluster import cluster_flag, workers_of_arguments
from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.flags import keywords_as_flags
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.live import Live
from tagalong.cli.models import load_model_or_workspace
from tagalong.cli.output import Output, items_text
from tagalong.cli.sources import OPTIONAL_COLUMNS, reading_of
from tagalong.cli.suggestion_notes import show_limits, show_protected
from tagalong.cli.table_formats import check_table_format
from tagalong.distributed.archives.manifest import ManifestError
from tagalong.distributed.archives.run import Progress, Tagging
from tagalong.distributed.archives.settings import Settings
from tagalong.files.lock import BusyError
from tagalong.tables.formats import table_format_of
from tagalong.tagger import Tagger

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Write the suggestions for all items into a folder."""
    _check(args)
    tagger = load_model_or_workspace(args, out)
    reading = reading_of(args, tagger, optional=OPTIONAL_COLUMNS)
    settings = Settings(
        args.k,
        args.min_precision,
        args.only_sure,
        args.to,
        args.exact,
        args.bom,
        shard_size=args.shard_size,
        **reading.arguments(),
    )
    tagging = Tagging(tagger, reading.sources, args.out, settings)
    try:
        with workers_of_arguments(args, out) as workers, tagging, Interrupts() as interrupts:
            with Live(out.quiet, args.every) as live, suppress(KeyboardInterrupt):
                start = time.monotonic()
                steps = tagging.run(workers)
                while (progress := interrupts.next(steps)) is not None:
                    if live.is_due():
                        _show(live, progress, time.monotonic() - start)
            done = tagging.progress()
            if interrupts.signal:
                steps.close()
                raise _Interrupted(interrupts.exit_code)
    except ManifestError as error:
        raise CommandError(f"--out {keywords_as_flags(str(error), args.reading_flags)}") from error
    except BusyError as error:
        raise CommandError(f"{error}; wait until it has ended, or give another --out") from error
    except _Interrupted as interrupted:
        _report(tagging.progress(), tagger, args, out, interrupted=True)
        return interrupted.exit_code
    except Exception:
        if tagging.progress().finished:
            out.info(_left_text(tagging.progress()))
        raise
    _report(done, tagger, args, out, interrupted=False)
    return SOME_SKIPPED if done.skipped else OK


class _Interrupted(Exception):
    """Ctrl-C or a termination signal, on which workers end at once."""

    def __init__(self, exit_code: int):
        super().__init__(exit_code)
        self.exit_code = exit_code


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError for options that do not go together."""
    flag = cluster_flag(args)
    if args.out is None:
        raise UsageError(f"{flag}: the workers write files: give a folder with --out DIR")
    if table_format_of(args.out) is not None and not os.path.isdir(args.out):
        raise UsageError(
            f"--out {args.out}: with {flag} this is a folder with one file per source or part of "
            f"it; give a name without the ending {os.path.splitext(args.out)[1]}, and the format "
            "with --to"
        )
    if args.server is not None:
        raise UsageError(f"{flag} contradicts --server: give a --model or a --workspace")
    if not args.sources:
        raise UsageError(f"{flag}: a single text needs no workers; give a SOURCE")
    if args.limit is not None:
        raise UsageError(
            f"--limit contradicts {flag}: each worker sees only its own part of the items"
        )
    check_table_format(args.to, "--to parquet")
    for name, given in (("--exact", args.exact), ("--bom", args.bom)):
        if given and args.to != "csv":
            raise UsageError(f"{name} is for CSV only: use it with --to csv")


def _show(live: Live, found: Progress, seconds: float) -> None:
    """Show how far the run is."""
    state = "counting lines" if found.is_counting else "tagging"
    speed = f"{found.written / seconds:,.0f}" if seconds > 0 and not found.resumed else ""
    shards = f"{found.finished:,} of {found.shards:,}"
    cells = [state, shards, f"{found.written:,}", speed, f"{found.repeated:,}"]
    live.show(
        ["", "shards", "items", "items/s", "repeated"],
        [cells],
        f"{state}: shards {shards}, items {found.written:,}"
        + (f", items/s {speed}" if speed else "")
        + (f", repeated {found.repeated:,}" if found.repeated else ""),
    )


def _left_text(found: Progress) -> str:
    return (
        f"{found.finished:,} of {found.shards:,} shards are finished and stay; the same command "
        "continues with the others"
    )


def _report(
    found: Progress, tagger: Tagger, args: argparse.Namespace, out: Output, *, interrupted: bool
) -> None:
    """Say what was written, and what limits the suggestions."""
    out.json_result(
        {
            "interrupted": interrupted,
            "out": args.out,
            "shards": found.shards,
            "finished": found.finished,
            "resumed": found.resumed,
            "repeated": found.repeated,
            "written": found.written,
            "sure": found.sure,
            "unknown": found.unknown,
            "skipped": found.skipped,
            "errors": list(found.errors),
            "links": list(found.links),
        }
    )
    if interrupted:
        out.info(f"interrupted: {_left_text(found)}")
        return
    out.info(
        f"{items_text(found.written)} written to {found.shards:,} "
        f"{'file' if found.shards == 1 else 'files'} in {args.out}; {found.sure:,} "
        f"{'has' if found.sure == 1 else 'have'} a sure suggestion"
    )
    show_protected(found.protected, out)
    show_limits(found.written, found.unknown, found.in_runs, tagger, out)
    out.report_skipped(found.skipped, found.errors, found.links)
