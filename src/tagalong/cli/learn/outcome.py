"""What the command tells when a run has ended."""

import os
from typing import Any

from tagalong.cli.learn.loop import LearningLoop
from tagalong.cli.output import Output, size_text
from tagalong.cli.run_state import Run
from tagalong.evaluate import ListLosses

__all__ = ["tell"]


def tell(
    out: Output, path: str | None, loop: LearningLoop, report: Any, *, interrupted: bool
) -> None:
    """Tell how a run went, as JSON or as text.

    Parameters
    ----------
    out : Output
        Where to.
    path : str, optional
        The model file.
    loop : LearningLoop
        The loop that has ended.
    report : Report or QueryReport
        The figures of the run.
    interrupted : bool
        Whether a signal ended it.
    """
    run = loop.run
    out.document(_document(path, loop, report, interrupted))
    out.show(str(report))
    if run.lists is not None:
        out.show(_lists_line(run.lists))
    if run.unlabelled:
        out.say(f"{run.unlabelled:,} items without labels were passed over")
    out.skipped(loop.skipped, loop.problems)
    if interrupted:
        out.say(_interruption(run, path))
    elif path is not None:
        out.say(f"the model is in {path} ({size_text(os.path.getsize(path))})")


def _document(
    path: str | None, loop: LearningLoop, report: Any, interrupted: bool
) -> dict[str, Any]:
    run = loop.run
    document = {
        "model": path,
        "interrupted": interrupted,
        "pass": run.number,
        "passes": run.passes,
        "read": run.position,
        "unlabelled": run.unlabelled,
        "skipped": loop.skipped,
        "errors": loop.problems,
        "report": report.to_dict(),
    }
    if run.lists is not None:
        document["lists"] = {
            "overall": run.lists.means(),
            "recent": run.lists.means(recent=True),
        }
    return document


def _lists_line(lists: ListLosses) -> str:
    means = lists.means()
    return (
        f"lists: {means['shown']:.2f} labels shown an item, {means['accepted']:.2f} of them "
        f"right; slot loss {means['slot_loss']:.4f}, partial rank loss "
        f"{means['partial_rank_loss']:.4f}"
    )


def _interruption(run: Run, path: str | None) -> str:
    where = f"after {run.position:,} items of pass {run.number}"
    if path is None:
        return f"interrupted {where}; without --model nothing is kept"
    return f"interrupted {where}; saved. Go on with: tagalong learn --model {path} --resume"
