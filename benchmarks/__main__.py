"""Run the benchmarks: ``python -m benchmarks [names] [--quick | --report]``, or ``make bench``.

Each benchmark runs in its own process and prints Markdown. benchmarks/results.md has the output of
all benchmarks; benchmarks/results.json has their tables as records, with commit, machine and
versions. A run of some benchmarks by name replaces their sections only. If a benchmark fails, its
section says so and the others still run. The quick form does a small part of each benchmark, two
benchmarks at a time. It writes no files; it only checks that the benchmarks run. ``--report``
writes results.md from results.json and runs nothing.
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
from benchmarks.markdown import parse_tables

FOLDER = Path(__file__).parent
QUICK_LAUNCHER = """
import runpy, sys
from tagalong.cli.late_imports import UNUSED_BY_COMMANDS, late_imports

with late_imports(*UNUSED_BY_COMMANDS):
    import sklearn.utils.validation
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""
"""Does what ``python -m`` does, but delays imports that take longer than a quick benchmark."""

RCV1_CORRECTED = "2026-11-17"
"""The day on which the RCV1 file was replaced by a corrected one (ISO 8601)."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark module, the title of its section, and its options in both forms."""

    module: str
    title: str
    full: str = ""
    quick: str = ""
    uses_rcv1: bool = False

    def command(self, quick: bool) -> list[str]:
        options = self.quick if quick else self.full
        return [f"benchmarks.{self.module}", *options.split()]


BENCHMARKS = {
    "online": Benchmark("run", "Online label ranking", "--repeat 5", "--quick"),
    "scaling": Benchmark("scaling", "Scaling with labels and features", "--rows 1500", "--quick"),
    "working-sets": Benchmark(
        "working_sets", "Steps on a working set of labels", "", "--quick", uses_rcv1=True
    ),
    "growth": Benchmark("growth", "Scaling of M3L and partial feedback", "", "--quick"),
    "endtoend": Benchmark(
        "endtoend",
        "End to end, from text to labels",
        "",
        "--repeat 1 --limit 300 --no-quality",
    ),
    "filing": Benchmark(
        "filing", "Filing: how much is sure, and how much of it is right", "", "--quick"
    ),
    "text": Benchmark("text", "Text features", "", "--repeat 1 --limit 500"),
    "overhead": Benchmark(
        "overhead",
        "Cost of one call from Python",
        "",
        "--rows 400 --batch 100 --texts 200 --peer-rows 10",
    ),
    "threads": Benchmark(
        "threads", "Speed-up with a second core", "", "--rows 300 --repeat 1", uses_rcv1=True
    ),
    "evaluation": Benchmark("evaluation", "Cost of evaluation", "", "--rows 200 --repeat 1"),
    "memory": Benchmark("memory", "Peak memory of tagalong learn", "", "--limit 300"),
    "journal": Benchmark(
        "journal",
        "The journal: appending, replaying, undo, size, start",
        "",
        "--limit 300 --answers 50 --repeat 1 --events 500",
    ),
    "service": Benchmark(
        "service",
        "The service under load",
        "",
        "--learnt 300 --suggestions 40 --answers 40 --items 100 --repeat 1",
    ),
    "cluster": Benchmark("cluster", "Work on a cluster", "", "--items 300 --tasks 20 --repeat 1"),
    "mixing": Benchmark(
        "mixing", "Streams learnt in shards", "", "--rows 400 --epochs 1 --orders 1 --shards 2"
    ),
    "m3l-rows": Benchmark(
        "m3l_rows",
        "M3L with the rows divided into shards: RCV1",
        "rcv1",
        "rcv1 --rows 200 --shards 2 --max-rounds 2",
        uses_rcv1=True,
    ),
    "m3l-rows-debtags": Benchmark(
        "m3l_rows",
        "M3L with the rows divided into shards: Debian tags",
        "debtags",
        "debtags --rows 200 --shards 2 --max-rounds 2",
    ),
    "page": Benchmark(
        "page", "The page in a browser", "", "--items 3 --pause 100 --opened 1 --repeat 1"
    ),
    "blocks": Benchmark("blocks", "Blocks of rows", "--repeat 7", "--repeat 1 --blocks 60"),
    "ordinal": Benchmark("ordinal", "Ordinal regression", "", "swd --repeat 1"),
    "partial": Benchmark(
        "partial", "Partial feedback", "mediamill --rounds 4000", "--rounds 420 --repeat 1"
    ),
    "predtron": Benchmark("predtron", "Predtron", "", "speed --repeat 1 --rounds 200 --queries 30"),
    "m3l-linear": Benchmark(
        "m3l",
        "M3L, linear",
        "linear coupled --sets debtags mediamill --sample 10",
        "coupled --sets debtags --rows 200",
    ),
    "m3l-linear-rcv1": Benchmark(
        "m3l",
        "M3L, linear: RCV1",
        "linear coupled --sets rcv1 --sample 10",
        "coupled --sets rcv1 --rows 200",
        uses_rcv1=True,
    ),
    "m3l-kernel": Benchmark(
        "m3l", "M3L with a kernel", "rbf growth --sets mediamill --sample 2", "growth --rows 200"
    ),
    "m3l-kernel-rcv1": Benchmark(
        "m3l",
        "M3L with a kernel: RCV1",
        "rbf --sets rcv1 --sample 2",
        "rbf --sets rcv1 --sample 1 --rows 200",
        uses_rcv1=True,
    ),
    "m3l-schedule": Benchmark(
        "m3l_schedule",
        "M3L, linear: when conjugate gradients run",
        "--sets rcv1",
        "--rows 200 --repeat 1",
        uses_rcv1=True,
    ),
    "m3l-scale": Benchmark("m3l_scale", "M3L, a million rows", "", "--rows 1000"),
    "model-size": Benchmark("model_size", "Model files", "", "--limit 300 --repeat 1"),
    "roofline": Benchmark("roofline", "Roofline", "", "--quick"),
}


@dataclass
class Run:
    """The output and exit status of one benchmark."""

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
        """The section of the page for this benchmark."""
        when = f"commit {self.machine['commit']}, {self.machine['date']}"
        benchmark = BENCHMARKS[self.name]
        lines = [
            f"## {benchmark.title}",
            "",
            f"`{self.command}`, {self.seconds:.0f} s, {when}",
            "",
        ]
        if self.status:
            lines += [f"**Failed** (status {self.status}): {self.error}", ""]
        if benchmark.uses_rcv1 and self.machine["date"] < RCV1_CORRECTED:
            lines += [
                "**The RCV1 figures of this section are void until they are measured again:** "
                f"they were measured before the RCV1 file was corrected on {RCV1_CORRECTED}.",
                "",
            ]
        # The benchmark's own headings go below the heading of its section.
        body = [f"##{line}" if line.startswith("#") else line for line in self.page.splitlines()]
        return "\n".join(lines + body).rstrip() + "\n"


def run(name: str, quick: bool) -> Run:
    """Run one benchmark; its progress goes to standard error."""
    print(f"[{name}] {BENCHMARKS[name].title}", file=sys.stderr, flush=True)
    options = BENCHMARKS[name].command(quick)
    command = [sys.executable, *(["-c", QUICK_LAUNCHER] if quick else ["-m"]), *options]
    start, last_line = time.monotonic(), ""
    with (
        TemporaryFile("w+", encoding="utf-8") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as process,
    ):
        assert process.stderr is not None
        for line in process.stderr:
            print(line, end="", file=sys.stderr, flush=True)
            last_line = line.strip() or last_line
        status = process.wait()
        out.seek(0)
        text = out.read()
    seconds = time.monotonic() - start
    shown_command = " ".join(["python -m", *options])
    error = last_line if status else ""
    return Run(name, shown_command, seconds, status, text, error, parse_tables(text), machine())


def page(runs: Sequence[Run]) -> str:
    """The whole page, as Markdown."""
    facts = runs[-1].machine
    head = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Within a benchmark, Tagalong and its peers run alternately, in "
        "several turns. Figures are medians over the turns unless a table says otherwise; ratios "
        "are computed turn by turn and shown as the median and the range. Goals are the project's "
        "own; the page shows whether they are reached.",
        "",
        "; ".join(f"{name} {value}" for name, value in facts.items()) + ".",
        "",
    ]
    return "\n".join(head) + "\n" + "\n".join(one.section for one in runs)


def write(fresh: Run, path: Path) -> None:
    """Add a run to the results; it replaces the last run of the same benchmark."""
    runs = stored_runs(path) | {fresh.name: fresh}
    ordered = [runs[name] for name in BENCHMARKS if name in runs]
    path.write_text(page(ordered), encoding="utf-8")
    text = json.dumps([asdict(one) for one in ordered], indent=1, ensure_ascii=False)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def stored_runs(path: Path) -> dict[str, Run]:
    """The runs in the JSON file next to a page, by benchmark."""
    records = path.with_suffix(".json")
    stored = json.loads(records.read_text(encoding="utf-8")) if records.exists() else []
    return {run["name"]: Run(**run) for run in stored}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", default=list(BENCHMARKS), metavar="name", help="default: all"
    )
    parser.add_argument(
        "--quick", action="store_true", help="run a small part of each; write no files"
    )
    parser.add_argument(
        "--report", action="store_true", help="only write the page, from the stored results"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=FOLDER / "results.md",
        help="page to write, with a JSON file next to it (default: benchmarks/results.md)",
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from {', '.join(BENCHMARKS)}")
    if options.report:
        runs = stored_runs(options.out)
        ordered = [runs[name] for name in BENCHMARKS if name in runs]
        options.out.write_text(page(ordered), encoding="utf-8")
        return 0
    failed = []
    # The quick form measures nothing, so two benchmarks may run at the same time.
    with ThreadPoolExecutor(2 if options.quick else 1) as pool:
        for found in pool.map(partial(run, quick=options.quick), options.names):
            print(found.section, flush=True)
            if found.status:
                failed.append(found.name)
            if not options.quick:  # after each benchmark, so that an interrupted run loses nothing
                write(found, options.out)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
