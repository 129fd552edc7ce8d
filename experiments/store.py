"""Storage of finished cells: the committed results, and a journal of runs that are not committed.

``experiments/results/<name>.json`` has the cells of an experiment in one form; reports are made
from these files alone. ``experiments/results/unfinished/<name>.json`` has the finished cells of a
full form that is not complete. A later run resumes from both, in any copy of the repository. The
journal (``build/experiments/cells.jsonl``) gets a line as soon as a cell is finished, so that
nothing is lost if a run is killed.

Each cell is stored with what made it: the digests of its code (`experiments.code`), the machine and
the day. It is run again only if the digests have changed.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from experiments import code
from experiments.experiment import Cell, Results

ROOT = code.ROOT
JOURNAL = ROOT / "build" / "experiments" / "cells.jsonl"
RESULTS = ROOT / "experiments" / "results"
UNFINISHED = "unfinished"

Record = dict[str, Any]
"""A finished cell: key, settings, result, seconds and ``made`` (see `made_here`)."""


class Journal:
    """Finished cells by key: those of the committed results, and those of an append-only file."""

    def __init__(self, path: Path = JOURNAL, results: Path = RESULTS):
        self.path = path
        self._records: dict[str, list[Record]] = {}
        for file in sorted([*results.glob("*.json"), *(results / UNFINISHED).glob("*.json")]):
            for record in read_records(file):
                self._keep(record)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        # An interrupted run may have left an incomplete line.
        self._ends_with_newline = not text or text.endswith("\n")
        for line in text.splitlines():
            with suppress(ValueError):
                record = json.loads(line)
                if "made" in record:
                    self._keep(record)

    def _keep(self, record: Record) -> None:
        self._records.setdefault(record["key"], []).append(record)

    def find(self, cell: Cell) -> Record | None:
        """Return the latest record of a cell that the current code would make again."""
        records = reversed(self._records.get(cell.key, []))
        return next((record for record in records if is_current(record["made"])), None)

    def add(self, cell: Cell, result: dict[str, Any], seconds: float) -> Record:
        """Append a finished cell."""
        record = {
            "key": cell.key,
            "settings": cell.settings,
            "result": result,
            "seconds": round(seconds, 3),
            "made": made_here(cell),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(("" if self._ends_with_newline else "\n") + json.dumps(record) + "\n")
        self._ends_with_newline = True
        self._keep(record)
        return record


def made_here(cell: Cell) -> Record:
    """Return what makes a cell here and now: function, digests, machine and day (UTC)."""
    return {
        "run": cell.run,
        "code": code.digest(cell.run),
        "golden": code.golden(cell.run),
        "machine": machine(),
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
    }


def is_current(made: Record) -> bool:
    """Return whether the current code would compute the same as the code that made a cell."""
    return bool(made["code"] == code.digest(made["run"])) and (
        made["golden"].items() <= code.golden(made["run"]).items()
    )


def write_results(
    name: str,
    form: str,
    records: list[Record],
    skipped: list[str],
    folder: Path = RESULTS,
    missing: int = 0,
) -> Path:
    """Write the results of an experiment, one cell per line; the file is replaced atomically.

    If cells are ``missing``, the results of the other form stay, and these are kept as unfinished.
    """
    made: list[Record] = []
    for record in records:
        if record["made"] not in made:
            made.append(record["made"])
    head = {
        "experiment": name,
        "form": form,
        "seconds": round(sum(record["seconds"] for record in records), 1),
        "skipped": skipped,
        **({"missing": missing} if missing else {}),
    }
    lines = [
        json.dumps(
            {
                "made": made.index(record["made"]),
                **{part: record[part] for part in ("settings", "seconds", "result")},
            }
        )
        for record in records
    ]
    opening = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    makers = ",\n".join(json.dumps(each) for each in made)
    text = f'{opening},\n "made": [\n{makers}\n],\n "cells": [\n' + ",\n".join(lines) + "\n]}\n"
    path = unfinished_path(name, folder) if missing else results_path(name, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
    if not missing and form == "full":
        unfinished_path(name, folder).unlink(missing_ok=True)
    return path


def read_results(name: str, folder: Path = RESULTS) -> tuple[Record, Results] | None:
    """Return the head of an experiment's results file and the results; None without a file."""
    path = results_path(name, folder)
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    cells = [(cell["settings"], cell["result"]) for cell in found.pop("cells")]
    return found, Results(cells, found["form"], found["skipped"])


def read_unfinished(name: str, folder: Path = RESULTS) -> tuple[int, int] | None:
    """Return how many cells of an unfinished full form are finished, and of how many."""
    path = unfinished_path(name, folder)
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    return len(found["cells"]), len(found["cells"]) + found["missing"]


def state(name: str, folder: Path = RESULTS) -> str:
    """Return the form of an experiment's results, and whether the current code made them."""
    stored = read_results(name, folder)
    text = "no results"
    if stored is not None:
        made = stored[0]["made"]
        current = all(is_current(each) for each in made)
        text = f"{stored[0]['form']}{'' if current else ', by older code'}"
    unfinished = read_unfinished(name, folder)
    if unfinished is not None:
        text += f", full: {unfinished[0]} of {unfinished[1]}"
    return text


def read_records(path: Path) -> list[Record]:
    """Return the records of a results file."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return [
        {**cell, "made": made, "key": Cell(made["run"], cell["settings"]).key}
        for cell in found["cells"]
        for made in [found["made"][cell["made"]]]
    ]


def results_path(name: str, folder: Path = RESULTS) -> Path:
    """Return the path of an experiment's results file."""
    return folder / f"{name.replace('/', '-')}.json"


def unfinished_path(name: str, folder: Path = RESULTS) -> Path:
    """Return the path of the finished cells of an experiment whose full form is not complete."""
    return results_path(name, folder / UNFINISHED)


@cache
def machine() -> str:
    """Return processor, number of cores, system and Python version."""
    name = platform.processor() or platform.machine()
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    system = f"{platform.system()} {platform.machine()}"
    return f"{name}, {os.cpu_count()} cores, {system}, Python {platform.python_version()}"
