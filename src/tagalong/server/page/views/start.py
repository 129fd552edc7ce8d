"""The start view: bring in files, or begin with a single text."""

import re
from urllib.parse import quote

from starlette.responses import Response

from tagalong.journal import Workspace
from tagalong.server.api.calls import Call
from tagalong.server.api.handlers.imports import UPLOAD, begin_import
from tagalong.server.api.json_forms import LABEL
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Record, Text
from tagalong.server.page.rendering import FORM, NOTICE, P, page, redirect
from tagalong.server.problems import Problem
from tagalong.server.uploads import FILE_FORM, UPLOADED

__all__ = ["OPERATIONS"]

KNOWN_LABELS = 200
"""Number of labels that the form for a single text offers."""
SHOWN_PROBLEMS = (400, 413, 422)
"""Problems with a file, after which the person tries again."""
OPTIONS_TEXT = re.compile(r"; (name|the columns are|its keys are) ")
"""Where a reason goes on with the options of the command line, and with all columns."""
TEXT = Record(
    "TextForm",
    {"text": Text(1, pattern=r"[\s\S]*\S[\s\S]*", meaning="a text that is not only spaces")},
    {"labels": Text(most=10_000, meaning="its labels, with commas between them")},
)
COMMON_FORMATS = {
    "csv": "Table (CSV)",
    "jsonl": "JSON lines",
    "mbox": "Mailbox (mbox)",
    "fasttext": "Text, one item per line",
}
FORMAT_NAMES = COMMON_FORMATS | {
    name: each.description for name, each in UPLOADED.items() if name not in COMMON_FORMATS
}
"""The formats as the form lists them: first those that people have."""


async def show_start(call: Call) -> Response:
    """Show the forms for files and for a text."""
    return await _shown(call)


async def _shown(call: Call, problem: Problem | None = None) -> Response:
    columns = [] if problem is None else problem.facts.get("columns", [])
    reason = "" if problem is None else problem.detail
    if columns:  # the page says where to name them
        reason = OPTIONS_TEXT.split(reason)[0]
    async with call.workspace() as workspace:
        stats = await call.run(workspace.stats)
        found = await page(
            call,
            workspace,
            "start.html",
            view="start",
            status=200 if problem is None else problem.status,
            problem=problem,
            reason=reason,
            columns=columns,
            formats=FORMAT_NAMES,
            is_empty=not sum(stats.items.values()),
            labels=workspace.labels[:KNOWN_LABELS],
            most_bytes=call.service.limits.body_bytes,
        )
    if problem is not None:
        found.headers.update(problem.headers)
    return found


async def take_files(call: Call) -> Response:
    """Begin to learn files, and lead to the progress; show the form again if they are no use."""
    try:
        job = await begin_import(call, empty_counts=False)
    except Problem as problem:
        if problem.status not in SHOWN_PROBLEMS:
            raise
        return await _shown(call, problem)
    return redirect(call, f"/jobs/{job.id}")


async def take_text(call: Call) -> Response:
    """Keep a text: learn it if it has labels, else show what is suggested for it."""

    def work(workspace: Workspace) -> tuple[int, str]:
        labels = _labels(call.body.get("labels", ""), one=workspace.tagger.has_one_label)
        added = workspace.add(call.body["text"], labels or None, **call.key)
        return added.seq, "" if labels else added.id

    async with call.workspace() as workspace:
        seq, open_id = await call.run(work, workspace)
    if open_id:
        return redirect(call, f"/items/{quote(open_id, safe='')}")
    return redirect(call, "/start", seq)


def _labels(text: str, *, one: bool) -> list[str]:
    """Return the labels that a person has typed."""
    parts = [text] if one else text.split(",")
    found = dict.fromkeys(part.strip() for part in parts if part.strip())
    return [LABEL.check(label, "labels") for label in found]


OPERATIONS = (
    Operation(
        "startPage",
        "GET",
        f"{P}/start",
        "Show how to bring in items.",
        show_start,
        query=NOTICE,
        is_change=False,
    ),
    Operation(
        "importForm",
        "POST",
        f"{P}/start",
        "Learn uploaded files.",
        take_files,
        body=UPLOAD,
        body_media=FILE_FORM,
    ),
    Operation(
        "textForm",
        "POST",
        f"{P}/start/text",
        "Keep a text.",
        take_text,
        body=TEXT,
        body_media=FORM,
    ),
)
