"""``tagalong suggest``: suggested labels, one line of JSON per item."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain, islice

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.models import load_tagger
from tagalong.cli.output import Output, as_json, is_terminal, table
from tagalong.cli.sources import OPTIONAL_COLUMNS, reading_of
from tagalong.learning.items import Item
from tagalong.tagger import Tagger
from tagalong.tagger.suggestions import Suggestion

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Print the suggestions for each item."""
    if not args.sources and args.text is None:
        raise UsageError("nothing to suggest labels for: give a SOURCE or --text 'some text'")
    if not 0 < args.min_precision <= 1:
        raise UsageError(
            f"--min-precision must be above 0 and at most 1, got {args.min_precision:g}"
        )
    tagger = load_tagger(args.model)
    if not args.sources:
        _write(iter([Item(text=args.text)]), tagger, args, out)
        return OK
    reading = reading_of(args, tagger, optional=OPTIONAL_COLUMNS)
    with reading.open() as stream:
        _write(reading.limited(stream), tagger, args, out)
    out.report_skipped(stream.skipped, stream.errors)
    return SOME_SKIPPED if stream.skipped else OK


def _write(items: Iterator[Item], tagger: Tagger, args: argparse.Namespace, out: Output) -> None:
    if not out.json and is_terminal(sys.stdout):
        first = list(islice(items, 2))
        if len(first) == 1:
            print(_as_table(_suggested(first[0], tagger, args), out))
            return
        items = chain(first, items)
    for item in items:
        found = _suggested(item, tagger, args)
        line = {"id": item.id, "suggestions": [asdict(one) for one in found]}
        # A program that pipes items in one by one waits for each answer.
        print(as_json(line), flush="-" in args.sources)


def _suggested(item: Item, tagger: Tagger, args: argparse.Namespace) -> list[Suggestion]:
    try:
        found = tagger.suggest(item, args.k, args.min_precision)
    except ValueError as error:
        raise CommandError(f"{item.place or item.id}: {error}") from error
    return [one for one in found if one.sure or not args.only_sure]


def _as_table(found: list[Suggestion], out: Output) -> str:
    if not found:
        return "no suggestions"
    rows = [("label", "probability", "score", "")]
    for one in found:
        mark = "sure" if one.sure else "chosen" if one.chosen else ""
        mark = "explores" if one.explores else mark
        rows.append((str(one.label), f"{one.probability:.0%}", f"{one.score:+.3f}", mark))
    heading, *lines = table(rows)
    return "\n".join(
        [heading, *(out.bold(s) if one.chosen else s for one, s in zip(found, lines, strict=True))]
    )
