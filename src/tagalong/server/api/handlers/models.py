"""The model: its figures, its hash, its file, and the items as a table."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from tagalong.evaluate.json_values import for_json
from tagalong.journal import Workspace
from tagalong.readers.writing import write
from tagalong.server.api.calls import Call, json_answer
from tagalong.server.api.item_tables import write_table
from tagalong.server.api.operations import NDJSON, Operation, W
from tagalong.server.api.schemas import Choice, Flag, Record, Text, Whole

__all__ = ["OPERATIONS"]

OCTETS = "application/octet-stream"
FORMATS = {"csv": "text/csv", "jsonl": NDJSON}

MODEL = Record(
    "Model",
    {
        "hash": Text(meaning="equal models have equal hashes"),
        "seq": Whole(meaning="the last event in it"),
        "labels": Whole(),
        "bytes": Whole(),
        "exact": Flag("whether a replay by this build gives the same bits"),
    },
    is_open=True,
)
FIGURES = Record("Figures", is_open=True)
REPORT = Record("Report", {"model": Text(), "report": FIGURES}, is_open=True)


async def get_report(call: Call) -> Response:
    """Return the figures, in the form of ``tagalong evaluate --json``."""
    async with call.workspace() as workspace:
        return json_answer(await call.run(_report, workspace, call.names["name"]))


def _report(workspace: Workspace, name: str) -> dict[str, Any]:
    counts = workspace.item_counts()
    found = {
        "model": name,
        "unlabelled": counts.get("open", 0) + counts.get("asked", 0),
        "unknown_labels": [],
        "skipped": 0,
        "errors": [],
        "links": [],
        "certificate": asdict(workspace.tagger.certificate_),
        "report": workspace.report().to_dict(),
    }
    return dict(for_json(found))


async def get_model(call: Call) -> Response:
    """Return the hash and the size of the model, when it has followed every event."""
    async with call.workspace() as workspace:
        return json_answer(asdict(await call.run(workspace.model)))


async def get_model_file(call: Call) -> Response:
    """Return the model as a file."""

    def save(workspace: Workspace, path: Path) -> None:
        workspace.settle()
        workspace.tagger.save(path, private=True)

    return await _file(call, save, "tagalong", OCTETS)


async def export_items(call: Call) -> Response:
    """Return the items with their present labels as a table."""
    format = call.query.get("format", "jsonl")

    def save(workspace: Workspace, path: Path) -> None:
        if format == "csv":
            write_table(workspace.export_records(), path)
        else:
            write(workspace.export_items(), path, format)

    return await _file(call, save, format, FORMATS[format])


async def _file(
    call: Call, save: Callable[[Workspace, Path], None], ending: str, media: str
) -> Response:
    """Return a file that is made for this answer, and removed when it is sent."""
    folder = tempfile.TemporaryDirectory(prefix="tagalong-")
    path = Path(folder.name, f"{call.names['name']}.{ending}")
    try:
        async with call.workspace() as workspace:
            await call.run(save, workspace, path)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        path, media_type=media, filename=path.name, background=BackgroundTask(folder.cleanup)
    )


OPERATIONS = (
    Operation(
        "getReport",
        "GET",
        f"{W}/report",
        "Return the figures: how good predictions were before each answer was learnt.",
        get_report,
        answers={200: REPORT},
        is_change=False,
    ),
    Operation(
        "getModel",
        "GET",
        f"{W}/model",
        "Return hash and size of the model, when it has followed every event.",
        get_model,
        answers={200: MODEL},
        is_change=False,
    ),
    Operation(
        "getModelFile",
        "GET",
        f"{W}/model/file",
        "Return the model as a file, for 'tagalong suggest --model' and tagalong.load.",
        get_model_file,
        answers={200: OCTETS},
        is_change=False,
    ),
    Operation(
        "exportItems",
        "GET",
        f"{W}/export",
        "Return the items with their present labels as CSV or JSON lines.",
        export_items,
        query={"format": Choice(tuple(FORMATS))},
        answers={200: tuple(FORMATS.values())},
        is_change=False,
    ),
)
