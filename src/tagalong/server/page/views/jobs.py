"""The progress of an import, and what became of its items."""

from dataclasses import dataclass

from starlette.responses import PlainTextResponse, Response

from tagalong.journal import Workspace
from tagalong.printable import printable
from tagalong.server.api.calls import Call
from tagalong.server.api.handlers.imports import job_of
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Record
from tagalong.server.jobs import Job
from tagalong.server.page.item_rows import ItemRow, item_rows
from tagalong.server.page.rendering import FORM, NOTICE, P, fragment, page, redirect
from tagalong.server.page.undo_texts import listed_event
from tagalong.server.page.views.start import FORMAT_NAMES

__all__ = ["OPERATIONS"]

FIRST_ITEMS = 5
MOST_ERRORS = 50


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The state in which an import has left the workspace.

    Parameters
    ----------
    rows : list of ItemRow
        Some of its items that wait for an answer.
    can_undo : bool
        Whether some of its events still count.
    is_undone : bool
        Whether it had events, and none of them counts.
    """

    rows: list[ItemRow]
    can_undo: bool
    is_undone: bool


def _outcome(workspace: Workspace, job: Job) -> _Outcome:
    seqs = workspace.events_of_batch(job.id)
    listed = [listed_event(workspace, seq) for seq in sorted({*seqs[:1], *seqs[-1:]})]
    counts = any(each is not None and not each.is_undone for each in listed)
    records = []
    if job.open and counts and not job.is_active:
        records = workspace.page(state="open", source=job.title, limit=FIRST_ITEMS).records
    rows = item_rows(workspace, records, [[] for _ in records])
    return _Outcome(rows, counts, bool(seqs) and not counts)


async def show_job(call: Call) -> Response:
    """Show the progress of an import, or what it has brought."""
    job = await job_of(call)
    async with call.workspace() as workspace:
        outcome = await call.run(_outcome, workspace, job)
        return await page(
            call,
            workspace,
            "job.html",
            view="job",
            job=job,
            outcome=outcome,
            format_names=FORMAT_NAMES,
            errors=job.errors[:MOST_ERRORS],
        )


async def show_progress(call: Call) -> Response:
    """Return the progress as a part of the page."""
    job = await job_of(call)
    async with call.workspace() as workspace:
        return fragment(call, workspace, "job_progress.html", job=job)


async def stop_job(call: Call) -> Response:
    """Let an import end soon."""
    job = await job_of(call)
    job.cancel()
    return redirect(call, f"/jobs/{job.id}")


async def download_errors(call: Call) -> Response:
    """Return the reasons why items were left out, one per line."""
    job = await job_of(call)
    lines = [printable(error) for error in job.errors]
    if job.skipped > len(lines):
        lines.append(f"and {job.skipped - len(lines):,} more")
    headers = {"Content-Disposition": 'attachment; filename="left-out.txt"'}
    return PlainTextResponse("".join(f"{line}\n" for line in lines), headers=headers)


OPERATIONS = (
    Operation(
        "jobPage",
        "GET",
        f"{P}/jobs/{{job}}",
        "Show the progress of an import.",
        show_job,
        query=NOTICE,
        is_change=False,
    ),
    Operation(
        "jobPart",
        "GET",
        f"{P}/parts/jobs/{{job}}",
        "Return the progress of an import.",
        show_progress,
        is_change=False,
    ),
    Operation(
        "jobErrors",
        "GET",
        f"{P}/jobs/{{job}}/errors",
        "Return the reasons why items were left out.",
        download_errors,
        is_change=False,
    ),
    Operation(
        "stopJobForm",
        "POST",
        f"{P}/jobs/{{job}}/stop",
        "Stop an import.",
        stop_job,
        body=Record("StopForm"),
        body_media=FORM,
    ),
)
