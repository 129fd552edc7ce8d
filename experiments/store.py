"""Storage of finished cells: a journal to resume runs, and the committed results.

The journal (``build/experiments/cells.jsonl``) gets a line as soon as a cell is finished. A line is
valid only for the code that made it: the sources of the library, the shared files in
``experiments/`` and the folder of the cell's function. ``experiments/results/<name>.json`` is
written when all cells of an experiment are finished; reports are made from these files alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from experiments.experiment import Cell, Results

ROOT = Path(__file__).parent.parent
JOURNAL = ROOT / "build" / "experiments" / "cells.jsonl"
RESULTS = ROOT / "experiments" / "results"

Record = dict[str, Any]


class Journal:
    """Finished cells by key, in an append-only file."""

    def __init__(self, path: Path = JOURNAL):
        self.path = path
        self._records: dict[str, Record] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        # An interrupted run may have left an incomplete line.
        self._ends_with_newline = not text or text.endswith("\n")
        for line in text.splitlines():
            with suppress(ValueError):
                record = json.loads(line)
                self._records[record["key"]] = record

    def find(self, cell: Cell) -> Record | None:
        """Return the record of a cell if the current code made it."""
        record = self._records.get(cell.key)
        return record if record and record["code"] == code_digest(cell) else None

    def add(self, cell: Cell, result: dict[str, Any], seconds: float) -> Record:
        """Append a finished cell."""
        record = {
            "key": cell.key,
            "settings": cell.settings,
            "result": result,
            "seconds": round(seconds, 3),
            "commit": commit(),
            "machine": machine(),
            "code": code_digest(cell),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(("" if self._ends_with_newline else "\n") + json.dumps(record) + "\n")
        self._ends_with_newline = True
        self._records[cell.key] = record
        return record


def write_results(
    name: str, form: str, records: list[Record], skipped: list[str], folder: Path = RESULTS
) -> Path:
    """Write the results of an experiment, one cell per line; the file is replaced atomically."""
    head = {
        "experiment": name,
        "form": form,
        "commit": sorted({record["commit"] for record in records}),
        "machine": sorted({record["machine"] for record in records}),
        "seconds": round(sum(record["seconds"] for record in records), 1),
        "skipped": skipped,
    }
    lines = [
        json.dumps({part: record[part] for part in ("settings", "seconds", "result")})
        for record in records
    ]
    opening = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    text = opening + ',\n "cells": [\n' + ",\n".join(lines) + "\n]}\n"
    path = results_path(name, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)
    return path


def read_results(name: str, folder: Path = RESULTS) -> tuple[Record, Results] | None:
    """Return the head of an experiment's results file and the results; None without a file."""
    path = results_path(name, folder)
    if not path.exists():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    cells = [(cell["settings"], cell["result"]) for cell in found.pop("cells")]
    return found, Results(cells, found["form"], found["skipped"])


def results_path(name: str, folder: Path = RESULTS) -> Path:
    """Return the path of an experiment's results file."""
    return folder / f"{name.replace('/', '-')}.json"


@cache
def commit() -> str:
    """Return the current commit, marked "-dirty" if files other than results and pages changed."""
    ignored = [":!experiments/results", ":!docs"]
    try:
        head = _git("rev-parse", "--short", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *ignored)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("-dirty" if changed else "")


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


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


def code_digest(cell: Cell) -> str:
    """Return a digest of the source files that a cell's result depends on."""
    return _digest(cell.run.partition(":")[0].rpartition(".")[0].replace(".", "/"))


@cache
def _digest(folder: str) -> str:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "cpp").rglob("*.?pp")]
    files += [ROOT / "benchmarks" / name for name in ("streams.py", "predtron.py")]
    files += (ROOT / "experiments").glob("*.py")
    files += (ROOT / folder).glob("*.py")
    digest = hashlib.sha256()
    for file in sorted(set(files)):
        digest.update(file.relative_to(ROOT).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]
