"""``tagalong convert``: items in another format."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.flags import parameters_as_flags
from tagalong.cli.live import Live
from tagalong.cli.losses import SeenParts, losses_of
from tagalong.cli.models import check_destination
from tagalong.cli.output import Output, items_text
from tagalong.cli.sources import reading_of
from tagalong.learning.items import Item, ReadError
from tagalong.readers.option_texts import options_from_texts
from tagalong.readers.registry import format_for_writing
from tagalong.readers.writing import write
from tagalong.streams.format import OptionError

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Convert the items, and report what the format cannot hold."""
    if args.out == "-":
        if out.json:
            raise UsageError("--json: standard output is used for the items, as OUT is -")
        if args.to == "parquet" and sys.stdout.isatty():
            raise UsageError("--to parquet: a terminal cannot show Parquet; name a file as OUT")
    else:
        check_destination(args.out, "OUT")
    texts = {
        name.removeprefix("out_"): value
        for name, value in vars(args).items()
        if name.startswith("out_") and value is not None
    }
    try:
        target = format_for_writing(args.out, args.to)
        options = options_from_texts(texts, [target], writing=True)
    except OptionError as error:
        raise UsageError(parameters_as_flags(str(error), args.writing_flags)) from error
    reading = reading_of(args)
    seen = SeenParts()
    with reading.open() as stream, Live(out.quiet) as live:
        items = seen.record(_counted(reading.limited(stream), live))
        first = list(islice(items, 1))  # the stream knows then whether it is mail
        try:
            count = write(
                chain(first, items),
                args.out,
                target.name,
                private=stream.is_private,
                **options,
            )
        except ReadError:
            raise
        except ValueError as error:
            raise CommandError(parameters_as_flags(str(error), args.writing_flags)) from error
    losses = losses_of(target.name, seen.parts)
    out.json_result(
        {
            "out": args.out,
            "format": target.name,
            "written": count,
            "losses": losses,
            "skipped": stream.skipped,
            "errors": stream.errors,
            "links": stream.links,
        }
    )
    if not out.json:
        where = "standard output" if args.out == "-" else args.out
        out.info(f"{items_text(count)} written to {where} as {target.name}")
    for loss in losses:
        out.info(f"{target.name} files cannot hold everything: {loss}")
    out.report_skipped(stream.skipped, stream.errors, stream.links)
    return SOME_SKIPPED if stream.skipped else OK


def _counted(items: Iterable[Item], live: Live) -> Iterator[Item]:
    for count, item in enumerate(items, 1):
        if live.is_due():
            live.show(["items"], [[f"{count:,}"]], f"items {count:,}")
        yield item
