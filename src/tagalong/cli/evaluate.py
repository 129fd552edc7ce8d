"""``tagalong evaluate``: the measures of a model on labelled items, without learning."""

import argparse
from pathlib import Path

import numpy as np

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError
from tagalong.cli.live import Live
from tagalong.cli.models import check_destination, load_tagger
from tagalong.cli.output import Output, as_json
from tagalong.cli.sources import OPTIONAL_COLUMNS, reading_of
from tagalong.evaluate import Progress
from tagalong.learning.items import Item
from tagalong.learning.rounds import Round
from tagalong.tagger import Tagger

__all__ = ["FrozenTagger", "run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Measure a model and print the measures."""
    check_destination(args.report, "--report")
    tagger = load_tagger(args.model)
    frozen = FrozenTagger(tagger)
    progress = Progress(args.at, args.window)
    columns = [name for name in OPTIONAL_COLUMNS if name != "labels"]
    reading = reading_of(args, tagger, optional=columns)
    unlabelled = 0
    with reading.open() as stream, Live(out.quiet, args.every) as live:
        for item in reading.limited(stream):
            if item.labels is None:
                unlabelled += 1
                continue
            progress.add(frozen.predict(item))
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
    out.json_result(
        {
            "model": args.model,
            "unlabelled": unlabelled,
            "unknown_labels": frozen.labels[frozen.known :],
            "skipped": stream.skipped,
            "errors": stream.errors,
            "report": report.to_dict(),
        }
    )
    out.result(str(report))
    if unlabelled:
        out.info(f"{unlabelled:,} items without labels were ignored")
    if new := len(frozen.labels) - frozen.known:
        out.info(f"{new:,} labels are unknown to the model and count as ranked last")
    out.report_skipped(stream.skipped, stream.errors)
    return SOME_SKIPPED if stream.skipped else OK


class FrozenTagger:
    """A tagger that predicts without learning, and the labels of the model and of the items."""

    def __init__(self, tagger: Tagger):
        self._tagger = tagger
        self.labels = tagger.labels
        self.known = len(self.labels)
        self._number = {label: number for number, label in enumerate(self.labels)}

    def predict(self, item: Item) -> Round:
        """Return the scores of all labels for an item, with its relevant labels."""
        try:
            found, cutoff = self._tagger.learner.score_one(self._tagger.features.read(item))
        except ValueError as error:
            raise CommandError(f"{item.place or item.id}: {error}") from error
        for label in item.labels or ():
            if label not in self._number:
                self._number[label] = len(self.labels)
                self.labels.append(label)
        # -infinity means that a label does not exist; these labels exist from their first item on,
        # so they get the lowest finite score.
        scores = np.full(len(self.labels), np.finfo(found.dtype).min, dtype=found.dtype)
        scores[: self.known] = found
        relevant = sorted({self._number[label] for label in item.labels or ()})
        return Round(scores, cutoff, relevant, [])
