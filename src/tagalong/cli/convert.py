"""``tagalong convert``: items from one format into another."""

import argparse
import re
from collections.abc import Iterable, Iterator
from typing import Any

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.live import Live
from tagalong.cli.models import check_destination
from tagalong.cli.output import Output
from tagalong.cli.sources import options_for, reading_of
from tagalong.learning.items import Item, ReadError
from tagalong.readers.registry import format_for_writing
from tagalong.readers.writing import write
from tagalong.streams.format import OptionError

__all__ = ["run"]

# What a writer leaves out or changes, if items have it. It refuses what else it cannot hold.
LOSSES = {
    "fasttext": {
        "ids": "ids are left out",
        "fields": "the fields of a text become one text",
        "layout": "line ends and runs of blanks become single blanks",
    },
    "vw": {
        "fields": "the fields of a text become namespaces of words",
        "text": "texts become words, with _ for bars and colons",
        "categories": "categories become features name=category",
    },
    "svmlight": {"categories": "categories become features name=category"},
    "arff": {"ids": "ids are left out", "zeros": "features that are 0 are left out"},
}


def run(args: argparse.Namespace, out: Output) -> int:
    """Convert, and tell what was lost."""
    if args.out == "-":
        if out.json:
            raise UsageError("--json and the items cannot both go to standard output")
    else:
        check_destination(args.out, "OUT")
    try:
        target = format_for_writing(args.out, args.to)
    except OptionError as error:
        raise UsageError(str(error).replace("give format= one of", "give --to one of")) from error
    texts = {
        name.removeprefix("out_"): value
        for name, value in vars(args).items()
        if name.startswith("out_") and value is not None
    }
    options = options_for(texts, [target], writing=True)
    reading = reading_of(args)
    seen = _Seen()
    with reading.open() as stream, Live(out.quiet) as live:
        items = seen.watch(reading.limited(stream), live)
        try:
            count = write(items, args.out, target.name, **options)
        except ReadError:
            raise
        except ValueError as error:
            raise CommandError(_as_flags(str(error))) from error
    losses = [loss for what, loss in LOSSES.get(target.name, {}).items() if what in seen.what]
    out.document(
        {
            "out": args.out,
            "format": target.name,
            "written": count,
            "losses": losses,
            "skipped": stream.skipped,
            "errors": stream.errors,
        }
    )
    if not out.json:  # standard output may be where the items are
        out.say(f"{count:,} items written to {args.out} as {target.name}")
    for loss in losses:
        out.say(f"{target.name} cannot hold everything: {loss}")
    out.skipped(stream.skipped, stream.errors)
    return SOME_SKIPPED if stream.skipped else OK


def _as_flags(message: str) -> str:
    """Return a writer's message with options as the command line has them."""
    return re.sub(r"\b(unlabelled|separator|delimiter|prefix)='([^']*)'", r"--out-\1 \2", message)


class _Seen:
    """Notes what the items have that formats may lose."""

    def __init__(self) -> None:
        self.what: set[str] = set()

    def watch(self, items: Iterable[Item], live: Live) -> Iterator[Item]:
        for count, item in enumerate(items, 1):
            self.what.update(_kinds(item))
            if live.is_due():
                live.show(["items"], [[f"{count:,}"]], f"items {count:,}")
            yield item


def _kinds(item: Item) -> Iterator[str]:
    if item.id:
        yield "ids"
    texts: list[Any] = [item.text] if isinstance(item.text, str) else [*item.text.values()]
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
