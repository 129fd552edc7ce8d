"""``tagalong convert``: items in another format."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.flags import parameters_as_flags
from tagalong.cli.live import Live
from tagalong.cli.models import check_destination
from tagalong.cli.output import Output, items_text
from tagalong.cli.sources import options_for, reading_of
from tagalong.learning.items import Item, ReadError
from tagalong.readers.registry import format_for_writing
from tagalong.readers.writing import write
from tagalong.streams.format import OptionError

__all__ = ["run"]

# Parts of an item that a writer omits or changes. Any other part that it cannot write causes an
# error.
LOSSES = {
    "fasttext": {
        "ids": "ids are omitted",
        "fields": "the fields of a text are joined",
        "dates": "dates are omitted",
        "layout": "line breaks and repeated spaces become single spaces",
    },
    "vw": {
        "dates": "dates are omitted",
        "fields": "the fields of a text become namespaces of words",
        "text": "texts are split into words, with _ for bars and colons",
        "categories": "categories become features name=category",
    },
    "svmlight": {
        "dates": "dates are omitted",
        "categories": "categories become features name=category",
    },
    "arff": {
        "ids": "ids are omitted",
        "dates": "dates are omitted",
        "zeros": "features with value 0 are omitted",
    },
}


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
        options = options_for(texts, [target], writing=True)
    except OptionError as error:
        raise UsageError(parameters_as_flags(str(error), args.writing_flags)) from error
    reading = reading_of(args)
    seen = _SeenParts()
    with reading.open() as stream, Live(out.quiet) as live:
        items = seen.record(reading.limited(stream), live)
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
    losses = [loss for part, loss in LOSSES.get(target.name, {}).items() if part in seen.parts]
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


class _SeenParts:
    """Records which parts the items have that a format may be unable to hold."""

    def __init__(self) -> None:
        self.parts: set[str] = set()

    def record(self, items: Iterable[Item], live: Live) -> Iterator[Item]:
        for count, item in enumerate(items, 1):
            self.parts.update(_parts(item))
            if live.is_due():
                live.show(["items"], [[f"{count:,}"]], f"items {count:,}")
            yield item


def _parts(item: Item) -> Iterator[str]:
    if item.id:
        yield "ids"
    if item.date is not None:
        yield "dates"
    texts: list[str] = [item.text] if isinstance(item.text, str) else [*item.text.values()]
    if not isinstance(item.text, str):
        yield "fields"
    if any(texts):
        yield "text"
    if any(text != " ".join(text.split()) for text in texts):
        yield "layout"
    for value in item.features.values():
        if isinstance(value, str):
            yield "categories"
        elif value == 0:
            yield "zeros"
