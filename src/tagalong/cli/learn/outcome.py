"""The report of a run when it ends."""

from typing import Any

from tagalong.cli.learn.destination import Destination
from tagalong.cli.learn.held_out import HeldOut
from tagalong.cli.learn.loop import LearningLoop
from tagalong.cli.output import Output
from tagalong.evaluate import ListLosses, Report
from tagalong.evaluate.query_report import QueryReport
from tagalong.evaluate.report_text import report_text

__all__ = ["report_outcome"]


def report_outcome(
    out: Output,
    destination: Destination,
    loop: LearningLoop,
    report: Report | QueryReport,
    *,
    interrupted: bool,
    certificate: bool = False,
    held_out: HeldOut | None = None,
) -> None:
    """Print the measures of a run, as JSON or as text.

    Parameters
    ----------
    out : Output
        Writes the report.
    destination : Destination
        Where the run has put what it learnt.
    loop : LearningLoop
        The finished loop.
    report : Report or QueryReport
        The measures of the run.
    interrupted : bool
        Whether a signal ended the run.
    certificate : bool, default False
        Whether the text shows the certificate of the learner.
    held_out : HeldOut, optional
        The estimate for items that came sorted by label.
    """
    run = loop.run
    out.json_result(_document(destination, loop, report, interrupted, held_out))
    if isinstance(report, Report) and held_out is not None:
        text = report_text(report, certificate, str(held_out))
    else:
        text = report.text(certificate)
    out.result(*text.split("\n"))
    if run.passes > 1:
        out.result(
            "",
            f"These are the figures of pass 1 of {run.passes}: only there were the items new. "
            "Later passes change the weights, not the figures.",
        )
    if run.lists is not None:
        out.result(_lists_line(run.lists))
    if run.unlabelled:
        out.info(destination.unlabelled_line(run.unlabelled))
    out.report_skipped(loop.skipped, loop.problems, loop.links)
    if interrupted:
        out.info(destination.interruption(run))
    elif (line := destination.saved_line()) is not None:
        out.info(line)


def _document(
    destination: Destination,
    loop: LearningLoop,
    report: Report | QueryReport,
    interrupted: bool,
    held_out: HeldOut | None,
) -> dict[str, Any]:
    run = loop.run
    document = {
        **destination.to_dict(),
        "interrupted": interrupted,
        "pass": run.number,
        "passes": run.passes,
        "measured_pass": 1,
        "read": run.position,
        "unlabelled": run.unlabelled,
        "skipped": loop.skipped,
        "errors": loop.problems,
        "links": loop.links,
        "report": report.to_dict(),
    }
    if isinstance(report, Report):
        document["order"] = report.order
        document["held_out"] = None if held_out is None else held_out.to_dict()
    if run.lists is not None:
        document["lists"] = {
            "overall": run.lists.means(),
            "recent": run.lists.means(recent=True),
        }
    return document


def _lists_line(lists: ListLosses) -> str:
    means = lists.means()
    return (
        f"lists: {means['shown']:.2f} labels shown per item, {means['accepted']:.2f} of them "
        f"right; slot loss {means['slot_loss']:.4f}, partial rank loss "
        f"{means['partial_rank_loss']:.4f}"
    )
