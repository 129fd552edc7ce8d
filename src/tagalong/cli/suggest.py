"""``tagalong suggest``: suggested labels, as lines of JSON or as a table."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import chain, islice
from typing import IO

from tagalong.cli.cluster import has_workers
from tagalong.cli.errors import OK, SOME_SKIPPED, UsageError
from tagalong.cli.live import Live
from tagalong.cli.models import (
    check_destination,
    check_not_an_input,
    load_model_or_workspace,
)
from tagalong.cli.output import Bold, Output, is_terminal, items_text, table
from tagalong.cli.server_options import check_server_options
from tagalong.cli.sources import OPTIONAL_COLUMNS, is_live_stream, reading_of
from tagalong.cli.suggestion_notes import show_limits, show_protected
from tagalong.cli.table_formats import check_table_format
from tagalong.files.named_errors import open_in_place
from tagalong.learning.items import Item
from tagalong.readers.stream import Stream
from tagalong.readers.writing import open_destination
from tagalong.streams.compression import strip_compression_suffix
from tagalong.tables.formats import TABLE_ENDINGS, table_format_of
from tagalong.tables.suggested import Suggested, Suggests
from tagalong.tables.suggestions import make_writer
from tagalong.tables.writers import TableFormat
from tagalong.tagger import Tagger
from tagalong.tagger.suggestions import Suggestion

__all__ = ["run"]

MOST_OF_A_SERVER = 1000


def run(args: argparse.Namespace, out: Output) -> int:
    """Write the suggestions for each item."""
    if not args.sources and args.text is None:
        raise UsageError("nothing to suggest labels for: give a SOURCE or --text 'some text'")
    args.out = None if args.out == "-" else args.out
    if has_workers(args):
        from tagalong.cli import suggest_archive  # slow to import

        return suggest_archive.run(args, out)
    format = _checked_format(args, out)
    if args.server is None:
        check_server_options(args)
        tagger = load_model_or_workspace(args, out)
        if tagger.ranks_documents:
            from tagalong.cli.documents import suggest_orders

            return suggest_orders(tagger, args, out)
        return _suggest(tagger, tagger, format, args, out)
    if args.k > MOST_OF_A_SERVER:
        raise UsageError(f"-k {args.k}: a server suggests at most {MOST_OF_A_SERVER:,} labels")
    from tagalong.cli.servers import open_client  # slow to import

    with open_client(args, out) as client:
        return _suggest(client, None, format, args, out)


def _suggest(
    model: Suggests,
    tagger: Tagger | None,
    format: TableFormat | None,
    args: argparse.Namespace,
    out: Output,
) -> int:
    """Write the suggestions of a model; those of a server have no tagger."""
    if not args.sources:
        found = Suggested(model, iter([Item(text=args.text)]), args.k, args.min_precision)
        _write(found, format, args, out, None, is_live=False)
        _report(found, [], 0, [], tagger, args, out)
        return OK
    reading = reading_of(args, tagger, optional=OPTIONAL_COLUMNS)
    is_live = any(map(is_live_stream, args.sources))
    with reading.open() as stream:
        found = Suggested(
            model,
            reading.limited(stream),
            args.k,
            args.min_precision,
            one_by_one=is_live,
            skip=reading.on_error == "skip",
        )
        _write(found, format, args, out, stream, is_live=is_live)
    skipped = stream.skipped + found.skipped
    errors = [*stream.errors, *found.errors]
    _report(found, errors, skipped, stream.links, tagger, args, out)
    return SOME_SKIPPED if skipped else OK


def _checked_format(args: argparse.Namespace, out: Output) -> TableFormat | None:
    """Return the format of the table, None for nested lines; UsageError for a contradiction."""
    format: TableFormat | None = args.to
    if args.out is not None:
        check_destination(args.out, "--out")
        check_not_an_input(args.out, "--out", args.model, args.sources)
        by_name = table_format_of(args.out)
        if format is None and by_name is None and _has_ending(args.out):
            raise UsageError(
                f"--out {args.out}: the ending names no format; use one of "
                f"{', '.join(TABLE_ENDINGS)}, or give --to"
            )
        format = format or (by_name if by_name != "jsonl" else None)
    check_table_format(format, "--to parquet" if args.to else f"--out {args.out}")
    for flag, given in (("--exact", args.exact), ("--bom", args.bom)):
        if given and format != "csv":
            raise UsageError(f"{flag} is for CSV only: use it with --to csv")
    if args.out is None and format in ("csv", "parquet"):
        if out.json:
            raise UsageError(f"--json contradicts --to {format}: give a file with --out FILE")
        if format == "parquet" and is_terminal(sys.stdout):
            raise UsageError("--to parquet: a terminal cannot show Parquet; use --out FILE")
    return format


def _has_ending(path: str) -> bool:
    return bool(os.path.splitext(strip_compression_suffix(path))[1])


def _write(
    found: Suggested,
    format: TableFormat | None,
    args: argparse.Namespace,
    out: Output,
    source: Stream | None,
    *,
    is_live: bool,
) -> None:
    """Write all suggestions to the terminal, to standard output or to a file."""
    answers = iter(found)
    to_file = args.out is not None
    private = False
    if to_file:
        answers = chain(list(islice(answers, 1)), answers)
        private = source is not None and source.is_private  # known after the first item
    if not (to_file or format or out.json or is_live) and is_terminal(sys.stdout):
        first = list(islice(answers, 2))
        if len(first) == 1:
            out.result(*_as_table(_shown(first[0][1], args)))
            return
        answers = chain(first, answers)
    with (
        _destination(args.out, format, is_live, private) as stream,
        Live(out.quiet or not to_file) as live,
    ):
        writer = make_writer(stream, format, args.k, exact=args.exact, mark=args.bom)
        for item, suggestions in answers:
            writer.write(item, suggestions, _shown(suggestions, args))
            if is_live:  # a program that sends items one by one waits for each answer
                stream.flush()
            if live.is_due():
                live.show(["items"], [[f"{found.count:,}"]], f"items {found.count:,}")
        writer.close()
    show_protected(writer.protected, out)


def _destination(
    path: str | None, format: TableFormat | None, is_live: bool, private: bool
) -> AbstractContextManager[IO[bytes]]:
    """Open the destination. A file is replaced when it is complete, or at once for live items."""
    if path is None:
        return open_destination("-")
    if is_live and format != "parquet" and strip_compression_suffix(path) == path:
        return open_in_place(path, private=private)
    return open_destination(path, private=private)


def _shown(found: Sequence[Suggestion], args: argparse.Namespace) -> list[Suggestion]:
    return [one for one in found if one.sure or not args.only_sure]


def _as_table(found: list[Suggestion]) -> list[str]:
    if not found:
        return ["no suggestions"]
    rows = [("label", "probability", "score", "")]
    for one in found:
        mark = "sure" if one.sure else "chosen" if one.chosen else ""
        mark = "explores" if one.explores else mark
        rows.append((str(one.label), f"{one.probability:.0%}", f"{one.score:+.3f}", mark))
    heading, *lines = table(rows)
    return [heading, *(Bold(s) if one.chosen else s for one, s in zip(found, lines, strict=True))]


def _report(
    found: Suggested,
    errors: list[str],
    skipped: int,
    links: list[str],
    tagger: Tagger | None,
    args: argparse.Namespace,
    out: Output,
) -> None:
    """Say what was written, and what limits the suggestions."""
    if args.out is not None:
        out.json_result(
            {
                "out": args.out,
                "written": found.count,
                "sure": found.sure,
                "unknown": found.unknown,
                "skipped": skipped,
                "errors": errors,
                "links": links,
            }
        )
        out.info(
            f"{items_text(found.count)} written to {args.out}; {found.sure:,} "
            f"{'has' if found.sure == 1 else 'have'} a sure suggestion"
        )
    show_limits(found.count, found.unknown, found.in_runs, tagger, out)
    out.report_skipped(skipped, errors, links)
