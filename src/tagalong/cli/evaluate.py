"""``tagalong evaluate``: a model that does not learn meanwhile, measured on labelled items."""

import argparse
from pathlib import Path

import numpy as np

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError
from tagalong.cli.live import Live
from tagalong.cli.models import check_destination, load_tagger
from tagalong.cli.output import Output, as_json
from tagalong.cli.sources import reading_of
from tagalong.evaluate import Progress
from tagalong.learning.items import Item
from tagalong.learning.rounds import Round
from tagalong.tagger import Tagger

__all__ = ["Frozen", "run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Measure a model, and write the figures."""
    check_destination(args.report, "--report")
    frozen = Frozen(load_tagger(args.model))
    progress = Progress(args.at, args.window)
    reading = reading_of(args)
    unlabelled = 0
    with reading.open() as stream, Live(out.quiet, args.every) as live:
        for item in reading.limited(stream):
            if item.labels is None:
                unlabelled += 1
                continue
            progress.add(frozen.look(item))
            if live.is_due():
                so_far = progress.report(frozen.labels).overall
                cells = {
                    "items": f"{progress.items:,}",
                    f"NDCG@{progress.k}": f"{so_far.ndcg_at_k:.4f}",
                    "AP": f"{so_far.average_precision:.4f}",
                }
                line = "  ".join(f"{name} {cell}" for name, cell in cells.items())
                live.show(list(cells), [list(cells.values())], line)
    report = progress.report(frozen.labels)
    if args.report is not None:
        Path(args.report).write_text(as_json(report.to_dict()) + "\n", encoding="utf-8")
    out.document(
        {
            "model": args.model,
            "unlabelled": unlabelled,
            "unknown_labels": frozen.labels[frozen.known :],
            "skipped": stream.skipped,
            "errors": stream.errors,
            "report": report.to_dict(),
        }
    )
    out.show(str(report))
    if unlabelled:
        out.say(f"{unlabelled:,} items without labels were passed over")
    if new := len(frozen.labels) - frozen.known:
        out.say(f"{new:,} labels that the model does not know count as ranked last")
    out.skipped(stream.skipped, stream.errors)
    return SOME_SKIPPED if stream.skipped else OK


class Frozen:
    """A tagger that is asked only, and the labels that it knows or that were met."""

    def __init__(self, tagger: Tagger):
        self._tagger = tagger
        self.labels = tagger.labels
        self.known = len(self.labels)
        self._number = {label: number for number, label in enumerate(self.labels)}

    def look(self, item: Item) -> Round:
        """Return what the tagger says about an item, and what would have been right."""
        try:
            found, cutoff = self._tagger.learner.score_one(self._tagger.features.read(item))
        except ValueError as error:
            raise CommandError(f"{item.place or item.id}: {error}") from error
        for label in item.labels or ():
            if label not in self._number:
                self._number[label] = len(self.labels)
                self.labels.append(label)
        # The lowest number and not -infinity: from where they are met on, these labels are there.
        scores = np.full(len(self.labels), np.finfo(found.dtype).min, dtype=found.dtype)
        scores[: self.known] = found
        relevant = sorted({self._number[label] for label in item.labels or ()})
        return Round(scores, cutoff, relevant, [])
