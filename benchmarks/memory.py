"""Peak memory of ``tagalong learn --model``, by stage: ``python -m benchmarks.memory``.

A process runs the command. It reports the peak of its resident memory (VmHWM) after each stage and
then resets it: the start with all imports, learning with reading and evaluation, and saving the
model. The last column is the peak of the stage relative to the memory of the weights at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.markdown import table

GOAL = 2.0
"""Goal: the peak is at most this many times the memory of the weights."""

LEARNERS = {
    "default": [],
    "one learner (`--race none`)": ["--race", "none"],
    "Euclidean single": ["--update", "single", "--geometry", "euclidean", "--average", "no"],
}

CHILD = """
import json, sys

peaks, weights = {}, 0

def note(stage):
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith("VmHWM")]
    peaks[stage] = max(peaks.get(stage, 0), 1024 * int(line.split()[1]))
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

from tagalong.cli.main import main

def noted(function, before, after):
    def run(self, *args):
        global weights
        note(before)
        result = function(self, *args)
        note(after)
        if after == "saving the model":
            weights = self._tagger.size().weight_bytes
        return result
    return run

def hook(saving, loop):
    saving.ModelFile.save = noted(saving.ModelFile.save, "learning", "saving the model")
    loop.LearningLoop.run_to_end = noted(
        loop.LearningLoop.run_to_end, "start and imports", "learning"
    )

class Finder:
    # Patches the command when it is imported, so that its imports are those of the command.
    def find_spec(self, name, path, target=None):
        if name == "tagalong.cli.learn.command":
            sys.meta_path.remove(self)
            from tagalong.cli.learn import loop, saving
            hook(saving, loop)

sys.meta_path.insert(0, Finder())
code = main(sys.argv[1:])
print(json.dumps({"code": code, "weights": weights, "peaks": peaks}))
"""


def measure(source: str, options: Sequence[str], limit: int | None) -> dict[str, object]:
    """Return the weights' bytes, the bytes of the file, and the peaks by stage."""
    with TemporaryDirectory(prefix="tagalong-memory-") as folder:
        model = Path(folder, "m.tagalong")
        given = [*options, *([] if limit is None else ["--limit", str(limit)])]
        found = subprocess.run(
            [sys.executable, "-c", CHILD, "learn", source, "--model", str(model), "-q", *given],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        figures: dict[str, object] = json.loads(found.stdout.splitlines()[-1])
        if figures["code"]:
            raise RuntimeError(f"tagalong learn failed: {figures['code']}")
        return {**figures, "file": model.stat().st_size}


def rows(name: str, figures: dict[str, object]) -> list[list[str]]:
    """Rows of the table: one per stage."""
    peaks, weights, file = figures["peaks"], figures["weights"], figures["file"]
    assert isinstance(peaks, dict)
    assert isinstance(weights, int)
    assert isinstance(file, int)
    return [
        [
            name,
            stage,
            _megabytes(peak),
            _megabytes(weights),
            _megabytes(file),
            f"{peak / weights:.2f}",
            f"≤ {GOAL:g}",
            "reached" if peak <= GOAL * weights else "not reached",
        ]
        for stage, peak in peaks.items()
    ]


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--limit", type=int, help="number of items (default: all)")
    options = parser.parse_args(arguments)
    if not Path("/proc/self/clear_refs").exists():
        print("the peak of a stage is known on Linux only", file=sys.stderr)
        return 2
    path = Path(os.environ.get("TAGALONG_DATA", ""), "debtags-texts.jsonl.xz")
    source = str(path) if path.is_file() else "pydocs:"
    print(f"{Path(source).name}\n")
    found = [
        row
        for name, flags in LEARNERS.items()
        for row in rows(name, measure(source, flags, options.limit))
    ]
    headers = ["learner", "stage", "peak", "weights", "model file", "peak / weights", "goal", ""]
    print(table(headers, found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
