"""``tagalong evaluate``: the measures of a model on labelled items, without learning."""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from tagalong.cli.answer_cells import answer_cells
from tagalong.cli.errors import OK, SOME_SKIPPED, UsageError
from tagalong.cli.frozen_tagger import FrozenTagger
from tagalong.cli.live import Live
from tagalong.cli.models import check_destination, load_model_or_workspace
from tagalong.cli.nothing_learnt import nothing_learnt
from tagalong.cli.output import Output
from tagalong.cli.plot_files import check_plot
from tagalong.cli.report_files import write_report
from tagalong.cli.sources import OPTIONAL_COLUMNS, reading_of
from tagalong.evaluate import Progress
from tagalong.learning.items import Item
from tagalong.tagger import Tagger

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Measure a model and print the measures."""
    check_destination(args.report, "--report")
    check_plot(args.plot)
    if args.plot_kind in ("certificate", "mistakes"):
        raise UsageError(
            f"--plot-kind {args.plot_kind}: evaluate learns nothing, so there is no certificate to "
            f"plot; use tagalong learn --plot-kind {args.plot_kind}"
        )
    tagger = load_model_or_workspace(args, out)
    if tagger.ranks_documents:
        from tagalong.cli.documents import evaluate_queries

        return evaluate_queries(tagger, args, out)
    frozen = FrozenTagger(tagger)
    progress = Progress(args.at, args.window)
    columns = [name for name in OPTIONAL_COLUMNS if name != "labels"]
    reading = reading_of(args, tagger, optional=columns)
    with reading.open() as stream, Live(out.quiet, args.every) as live:
        items = LabelledItems(reading.limited(stream))
        for found in frozen.predict(items):
            progress.add(found)
            if live.is_due():
                cells = {
                    "items": f"{progress.items:,}",
                    **answer_cells(progress.report(frozen.labels)),
                }
                line = "  ".join(f"{name} {cell}" for name, cell in cells.items())
                live.show(list(cells), [list(cells.values())], line)
    if not progress.items:
        raise nothing_learnt(reading, items.unlabelled, stream.skipped, "measure", stream.links)
    report = progress.report(
        frozen.labels, one_label=tagger.has_one_label, frozen=True, grades=tagger.has_grades
    )
    if args.plot is not None:
        report.plot(args.plot, args.plot_kind, private=stream.is_private)
    if args.report is not None:
        write_report(report, args.report, private=stream.is_private)
    out.json_result(
        {
            "model": args.model or args.workspace,
            "unlabelled": items.unlabelled,
            "unknown_labels": frozen.labels[frozen.known :],
            "skipped": stream.skipped,
            "errors": stream.errors,
            "links": stream.links,
            "certificate": asdict(tagger.certificate_) if tagger.learns_online else None,
            "report": report.to_dict(),
        }
    )
    out.result(*report.text().split("\n"))
    if args.certificate:
        out.result("", _certificate_line(tagger, args.model or args.workspace))
    if items.unlabelled:
        out.info(f"{items.unlabelled:,} items without labels were ignored")
    if new := len(frozen.labels) - frozen.known:
        out.info(f"{new:,} labels are unknown to the model and count as ranked last")
    if frozen.in_runs:
        out.info(
            "nothing is marked sure: the last items that the model learnt came sorted by label; "
            "learn them in the order in which they arrived, or with --shuffle"
        )
    out.report_skipped(stream.skipped, stream.errors, stream.links)
    return SOME_SKIPPED if stream.skipped else OK


def _certificate_line(tagger: Tagger, path: str) -> str:
    if tagger.is_compact:
        return f"{path} is compact and has no certificate: the full model has one"
    if not tagger.learns_online:
        return f"{path} was made by 'tagalong fit': 'tagalong inspect' shows its duality gap"
    return f"certificate of the items that the model learnt: {tagger.certificate_}"


class LabelledItems:
    """The items that have labels; the others are counted."""

    def __init__(self, items: Iterable[Item]):
        self._items = items
        self.unlabelled = 0

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            if item.labels is None:
                self.unlabelled += 1
            else:
                yield item
