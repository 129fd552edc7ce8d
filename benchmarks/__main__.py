"""Every benchmark in one go: ``python -m benchmarks [names] [--quick]``, or ``make bench``.

Each runs in a process of its own and prints Markdown. Together they make benchmarks/results.md;
benchmarks/results.json has their tables as records, beside commit, machine and versions. One that
fails is reported in both, and the others go on. The quick form takes a minute or two, writes
nothing and says only whether the benchmarks run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryFile

from benchmarks.machine import machine
from benchmarks.markdown import tables

FOLDER = Path(__file__).parent

TITLES = {
    "run": "Online label ranking",
    "scaling": "Labels, features, items: how speed and memory grow",
    "endtoend": "From text to labels, end to end",
    "text": "Text into features",
    "evaluation": "Evaluation beside learning",
    "blocks": "Blocks of rows",
    "ordinal": "Grades",
    "partial": "Partial feedback",
    "predtron": "Predtron",
    "m3l": "M3L",
    "roofline": "What the machine allows",
}
"""What each module of that name measures."""


@dataclass
class Run:
    """What a benchmark printed, and how it ended."""

    name: str
    command: str
    seconds: float
    status: int
    page: str
    error: str = ""
    tables: list[list[dict[str, str]]] = field(default_factory=list)

    @property
    def section(self) -> str:
        """Its part of the page."""
        lines = [f"## {TITLES[self.name]}", "", f"`{self.command}`, {self.seconds:.0f} s", ""]
        if self.status:
            lines += [f"**Failed** (status {self.status}): {self.error}", ""]
        # Headings of a benchmark stand below that of its section.
        body = [f"##{line}" if line.startswith("#") else line for line in self.page.splitlines()]
        return "\n".join(lines + body).rstrip() + "\n"


def run(name: str, quick: bool) -> Run:
    """Run one benchmark, with its progress on standard error."""
    options = [f"benchmarks.{name}", *(["--quick"] if quick else [])]
    command = [sys.executable, "-m", *options]
    begun, last = time.monotonic(), ""
    with (
        TemporaryFile("w+", encoding="utf-8") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as process,
    ):
        assert process.stderr is not None
        for line in process.stderr:
            print(line, end="", file=sys.stderr, flush=True)
            last = line.strip() or last
        status = process.wait()
        out.seek(0)
        text = out.read()
    seconds = time.monotonic() - begun
    said = " ".join(["python -m", *options])
    return Run(name, said, seconds, status, text, last if status else "", tables(text))


def page(runs: Sequence[Run], facts: dict[str, str]) -> str:
    """All of it, as Markdown."""
    head = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Peers and ours take turns in one process; medians count unless "
        "a table says otherwise, and a ratio's range is that of the turns. Goals are those the "
        "project has set itself, whether they are reached or not.",
        "",
        "; ".join(f"{name} {value}" for name, value in facts.items()) + ".",
        "",
    ]
    return "\n".join(head) + "\n" + "\n".join(one.section for one in runs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them; 1 when one has failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(TITLES), metavar="name")
    parser.add_argument("--quick", action="store_true", help="little of each; nothing is written")
    parser.add_argument("--out", type=Path, default=FOLDER / "results.md")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in TITLES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]}; there are {', '.join(TITLES)}")
    facts, runs = machine(), []
    for place, name in enumerate(options.names, 1):
        print(f"[{place}/{len(options.names)}] {TITLES[name]}", file=sys.stderr, flush=True)
        runs.append(run(name, options.quick))
        print(runs[-1].section, flush=True)
        if not options.quick:  # After each one: a run that is interrupted has lost nothing.
            options.out.write_text(page(runs, facts), encoding="utf-8")
            found = {"machine": facts, "runs": [asdict(one) for one in runs]}
            text = json.dumps(found, indent=1, ensure_ascii=False)
            options.out.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    failed = [one.name for one in runs if one.status]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
