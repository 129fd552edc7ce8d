"""Filing all that is sure: first what would happen, then doing it as one batch."""

from dataclasses import dataclass

from starlette.responses import Response

from tagalong.journal import Filed, Workspace
from tagalong.journal.contents import title_of
from tagalong.server.api.calls import Call
from tagalong.server.api.forms import FORM
from tagalong.server.api.json_forms import PRECISION
from tagalong.server.api.operations import Operation
from tagalong.server.api.schemas import Record
from tagalong.server.page.rendering import NOTICE, P, page, redirect

__all__ = ["OPERATIONS"]

MOST_SHOWN = 200
PRECISIONS = (0.9, 0.95, 0.99)
FORM_FIELDS = Record("SureForm", optional={"min_precision": PRECISION})


@dataclass(frozen=True, slots=True)
class SureRow:
    """An item that would be filed.

    Parameters
    ----------
    id : str
        Its id.
    title : str
        A short text.
    labels : list of str
        Where it would be filed.
    """

    id: str
    title: str
    labels: list[str]


@dataclass(frozen=True, slots=True)
class SurePreview:
    """The items that would be filed, and numbers about all of them.

    Parameters
    ----------
    rows : list of SureRow
        The first items.
    filed : int
        Number of all items that would be filed.
    asked : int
        Number of sure items that would be left for spot checks.
    limited : int
        Number of items left out because of the limit per day.
    """

    rows: list[SureRow]
    filed: int
    asked: int
    limited: int


def _preview(workspace: Workspace, min_precision: float | None) -> SurePreview:
    found: Filed = workspace.file_sure(min_precision, preview=True)
    rows = [
        SureRow(id, title_of(workspace.item(id).content), labels)
        for id, labels in found.items[:MOST_SHOWN]
    ]
    return SurePreview(rows, len(found.items), len(found.asked), found.limited)


async def show_sure(call: Call) -> Response:
    """Show what would be filed."""
    precision = call.query.get("min_precision")
    async with call.workspace() as workspace:
        preview = await call.run(_preview, workspace, precision)
        default = workspace.settings.min_precision
        precision = default if precision is None else precision
        return await page(
            call,
            workspace,
            "sure.html",
            view="sure",
            preview=preview,
            precision=precision,
            precisions=sorted({*PRECISIONS, default, precision}),
        )


async def file_sure(call: Call) -> Response:
    """File all that is sure, and tell about the batch."""

    def work(workspace: Workspace) -> int | None:
        filed = workspace.file_sure(call.body.get("min_precision"), **call.key)
        events = workspace.events_of_batch(filed.batch) if filed.batch else []
        return events[-1] if events else None

    async with call.workspace() as workspace:
        seq = await call.run(work, workspace)
    return redirect(call, "", seq)


OPERATIONS = (
    Operation(
        "surePage",
        "GET",
        f"{P}/sure",
        "Show what would be filed without asking.",
        show_sure,
        query={**NOTICE, "min_precision": PRECISION},
        is_change=False,
    ),
    Operation(
        "sureForm",
        "POST",
        f"{P}/sure",
        "File all that is sure.",
        file_sure,
        body=FORM_FIELDS,
        body_media=FORM,
    ),
)
