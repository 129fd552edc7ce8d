"""``tagalong explain``: how much each word adds to the score of a label."""

import argparse

from tagalong.cli.errors import OK, CommandError, UsageError
from tagalong.cli.models import find_label, load_model_or_workspace
from tagalong.cli.output import Output
from tagalong.cli.sources import OPTIONAL_COLUMNS, reading_of
from tagalong.learning.items import Item
from tagalong.tagger import Tagger

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Explain one item."""
    if not args.sources and args.text is None:
        raise UsageError("nothing to explain: give a SOURCE or --text 'some text'")
    if not args.sources and args.id is not None:
        raise UsageError("--id selects an item of a SOURCE, but no SOURCE is given")
    tagger = load_model_or_workspace(args, out)
    label = None if args.label is None else find_label(tagger, args.label)
    item = _selected_item(args, tagger) if args.sources else Item(text=args.text)
    explanation = tagger.explain(item, label)
    out.json_result(
        {
            "id": item.id,
            "label": explanation.label,
            "score": explanation.score,
            "base": explanation.base,
            "parts": [{"name": name, "adds": value} for name, value in explanation.parts],
        }
    )
    out.result(*str(explanation).split("\n"))
    if not tagger.suggest(item, k=0).known:
        out.info(
            "the item has no word or value that the model knows, so the score only reflects how "
            "frequent the label is"
        )
    return OK


def _selected_item(args: argparse.Namespace, tagger: Tagger) -> Item:
    reading = reading_of(args, tagger, optional=OPTIONAL_COLUMNS)
    with reading.open() as stream:
        for item in reading.limited(stream):
            if args.id is None or item.id == args.id:
                return item
    raise CommandError(
        f"{' '.join(args.sources)}: there are no items"
        if args.id is None
        else f"{' '.join(args.sources)}: there is no item with the id {args.id!r}"
    )
