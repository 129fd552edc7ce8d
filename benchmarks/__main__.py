"""Every benchmark in one go: ``python -m benchmarks [names] [--quick]``, or ``make bench``.

Each runs in a process of its own and prints Markdown. Together they make benchmarks/results.md;
benchmarks/results.json has their tables as records, beside commit, machine and versions. Those that
are named replace their own sections and leave the others as they were. One that fails is reported,
and the others go on. The quick form does little of each, two at a time; it writes nothing and
says only whether the benchmarks run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from benchmarks.machine import machine
from benchmarks.markdown import tables

FOLDER = Path(__file__).parent
SOONER = """
import runpy, sys
from tagalong.cli.late_imports import UNUSED_BY_COMMANDS, late_imports

with late_imports(*UNUSED_BY_COMMANDS):
    import sklearn.utils.validation
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""``python -m`` without packages whose import takes longer than a quick form, if it needs none."""


@dataclass(frozen=True)
class Benchmark:
    """A module, what it measures, and the options of both forms."""

    module: str
    title: str
    full: str = ""
    quick: str = ""

    def command(self, quick: bool) -> list[str]:
        options = self.quick if quick else self.full
        return [f"benchmarks.{self.module}", *options.split()]


BENCHMARKS = {
    "online": Benchmark("run", "Online label ranking", "--repeat 5", "--quick"),
    "scaling": Benchmark(
        "scaling", "How speed and memory grow with labels and features", "--rows 1500", "--quick"
    ),
    "growth": Benchmark("growth", "How M3L and partial feedback grow", "", "--quick"),
    "endtoend": Benchmark(
        "endtoend",
        "From text to labels, whole processes",
        "",
        "--repeat 1 --limit 300 --no-quality",
    ),
    "text": Benchmark("text", "Text into features", "", "--repeat 1 --limit 500"),
    "overhead": Benchmark(
        "overhead", "One example from Python, part by part", "", "--rows 400 --batch 100"
    ),
    "threads": Benchmark("threads", "What a second core is worth", "", "--rows 300 --repeat 1"),
    "evaluation": Benchmark(
        "evaluation", "Evaluation beside learning", "", "--rows 200 --repeat 1"
    ),
    "blocks": Benchmark("blocks", "Blocks of rows", "--repeat 7", "--repeat 1 --blocks 60"),
    "ordinal": Benchmark("ordinal", "Grades", "", "swd --repeat 1"),
    "partial": Benchmark(
        "partial", "Partial feedback", "mediamill --rounds 4000", "--rounds 420 --repeat 1"
    ),
    "predtron": Benchmark("predtron", "Predtron", "", "speed --repeat 1 --rounds 200 --queries 30"),
    "m3l-linear": Benchmark(
        "m3l", "M3L, linear", "linear coupled --sample 10", "coupled --sets rcv1 --rows 200"
    ),
    "m3l-kernel": Benchmark(
        "m3l",
        "M3L with a kernel",
        "rbf growth --sets mediamill rcv1 --sample 2",
        "growth --rows 200",
    ),
    "m3l-scale": Benchmark("m3l_scale", "M3L, a million rows", "", "--rows 1000"),
    "roofline": Benchmark("roofline", "What the machine allows", "", "--quick"),
}


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
    machine: dict[str, str] = field(default_factory=dict)

    @property
    def section(self) -> str:
        """Its part of the page."""
        when = f"commit {self.machine['commit']}, {self.machine['date']}"
        lines = [
            f"## {BENCHMARKS[self.name].title}",
            "",
            f"`{self.command}`, {self.seconds:.0f} s, {when}",
            "",
        ]
        if self.status:
            lines += [f"**Failed** (status {self.status}): {self.error}", ""]
        # Headings of a benchmark stand below that of its section.
        body = [f"##{line}" if line.startswith("#") else line for line in self.page.splitlines()]
        return "\n".join(lines + body).rstrip() + "\n"


def run(name: str, quick: bool) -> Run:
    """Run one benchmark, with its progress on standard error."""
    print(f"[{name}] {BENCHMARKS[name].title}", file=sys.stderr, flush=True)
    options = BENCHMARKS[name].command(quick)
    command = [sys.executable, *(["-c", SOONER] if quick else ["-m"]), *options]
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
    error = last if status else ""
    return Run(name, said, seconds, status, text, error, tables(text), machine())


def page(runs: Sequence[Run]) -> str:
    """All of it, as Markdown."""
    facts = runs[-1].machine
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


def write(fresh: Run, path: Path) -> None:
    """Put a run into the results, in place of the last one of the same benchmark."""
    numbers = path.with_suffix(".json")
    before = json.loads(numbers.read_text(encoding="utf-8")) if numbers.exists() else []
    runs = {found["name"]: Run(**found) for found in before} | {fresh.name: fresh}
    ordered = [runs[name] for name in BENCHMARKS if name in runs]
    path.write_text(page(ordered), encoding="utf-8")
    text = json.dumps([asdict(one) for one in ordered], indent=1, ensure_ascii=False)
    numbers.write_text(text + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them; 1 when one has failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(BENCHMARKS), metavar="name")
    parser.add_argument("--quick", action="store_true", help="little of each; nothing is written")
    parser.add_argument("--out", type=Path, default=FOLDER / "results.md")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]}; there are {', '.join(BENCHMARKS)}")
    failed = []
    # Where nothing is measured in earnest, one may wait while the other works.
    with ThreadPoolExecutor(2 if options.quick else 1) as pool:
        for found in pool.map(partial(run, quick=options.quick), options.names):
            print(found.section, flush=True)
            if found.status:
                failed.append(found.name)
            if not options.quick:  # after each one: a run that is interrupted has lost nothing
                write(found, options.out)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
