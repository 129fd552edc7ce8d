"""Online label ranking, Tagalong beside its peers: ``python -m benchmarks.run``.

Prints a page. ``--out`` also writes the page to a file, and all measurements to a JSON file. Rates
are of one online pass in one thread; each row is ranked before it is learnt. Learners run
alternately, and ratios compare the same turn.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks import bandwidth, contest, ours, peers, streams
from benchmarks.contest import Entry
from benchmarks.machine import machine
from benchmarks.measures import Measures
from benchmarks.turns import Ratio

GOALS = {
    "euclidean single": 25.0,
    "euclidean optimal": 18.0,
    "adaptive optimal averaged": 8.0,
    ours.DEFAULT: 9.0,
}
"""Goal: at least this multiple of the items/s of Vowpal Wabbit's default mode."""

RANK_ONE_GOALS = {"euclidean single": 12.0, ours.DEFAULT: 25.0}
"""Goal: at most this many microseconds per prediction."""

QUICK_ROWS = 500


@dataclass
class Report:
    """All measurements of a run."""

    stream: str
    repeat: int
    machine: dict[str, str]
    entries: list[Entry]
    bandwidth: bandwidth.Bandwidth
    nnz: float
    K: int
    rank_one: dict[str, float] = field(default_factory=dict)
    cutoff: tuple[float, float] | None = None
    failures: list[str] = field(default_factory=list)

    @property
    def baseline(self) -> Entry | None:
        """Vowpal Wabbit's default mode, if it ran."""
        found = [entry for entry in self.entries if entry.name == peers.VW_DEFAULT]
        return found[0] if found and not found[0].failure else None

    def ratio(self, entry: Entry) -> Ratio | None:
        """Items per second as a multiple of the baseline's, turn by turn."""
        if self.baseline is None:
            return None
        pairs = zip(self.baseline.seconds, entry.seconds, strict=True)
        share = entry.rows / self.baseline.rows
        return Ratio([share * theirs / mine for theirs, mine in pairs])


def benchmark(
    stream: streams.Stream, only_peers: list[str], repeat: int = 3, quick: bool = False
) -> Report:
    """Time and evaluate all learners on a stream."""
    if quick:
        stream, repeat = stream.head(QUICK_ROWS), 1
    _log(stream.describe())
    others, absent = peers.contestants(stream, only_peers, quick)
    us = list(ours.contestants(stream))
    entries = contest.alternate(_interleave(others, us), repeat, _log)
    entries.sort(key=lambda entry: entry.name in ours.SETTINGS)
    size = bandwidth.MEMORY_BYTES // (8 if quick else 1)
    report = Report(
        stream=stream.describe(),
        repeat=repeat,
        machine=machine(),
        entries=absent + entries,
        bandwidth=bandwidth.measure(memory=size),
        nnz=stream.nnz,
        K=len(stream.labels),
    )
    report.failures = [
        f"{e.name}: {e.failure}" for e in entries if e.failure and e.name in ours.SETTINGS
    ]
    try:
        for setting in ours.RANK_ONE:
            calls, batches = (200, 3) if quick else (2000, 9)
            report.rank_one[setting] = ours.rank_one_micros(setting, stream, calls, batches)
        report.cutoff = ours.cutoff_f1(stream)
    except Exception as error:
        report.failures.append(f"one row at a time: {type(error).__name__}: {error}")
    return report


def markdown(report: Report) -> str:
    """The report as a Markdown page."""
    machine = [f"{name} {value}" for name, value in report.machine.items()]
    lines = [
        f"# Speed and quality on {report.stream}",
        "",
        f"One online pass in one thread; each row is ranked, then learnt. {report.repeat} "
        "repetition(s), in which the learners run alternately. Before each turn the benchmark "
        "touches some memory, so that no learner waits for memory that the host of a virtual "
        "machine has reclaimed. Ratios compare the same turn: median and range. The measures leave "
        "out rows without a relevant or without an irrelevant label. Tied scores count as wrong in "
        "any-mistake and average precision and as half wrong in the ranking loss; in the other "
        "measures the label with the lowest index comes first. A peer marked 'first n' learns only "
        "the first n rows, and its measures cover those.",
        "",
        "; ".join(machine) + ".",
        "",
        "| learner | items/s, best | median | × VW default | goal | one-error | any-mistake "
        "| ranking loss | average precision | NDCG@5 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(report, entry) for entry in report.entries]
    lines += ["", *_quality_goal(report), "", "## One prediction from Python", ""]
    lines += ["| learner | µs, `rank_one((indices, values), k=5)` | goal |", "|---|---|---|"]
    for name, micros in report.rank_one.items():
        goal = RANK_ONE_GOALS[name]
        lines.append(f"| {name} | {micros:.1f} | ≤ {goal:.0f} {_goal_mark(micros <= goal)} |")
    if report.cutoff is not None:
        learnt, best = report.cutoff
        reached = learnt >= max(0.55, best - 0.02)
        lines += [
            "",
            f"Learnt cut-off of the default: progressive micro-F1 {learnt:.3f}; the best constant "
            f"threshold, chosen in hindsight, has {best:.3f} (goal: above .55 and at most .02 "
            f"below that: {_goal_mark(reached)}).",
        ]
    lines += ["", "## The limit set by memory traffic", ""]
    lines += bandwidth.table(report.bandwidth, report.nnz, report.K)
    if report.failures:
        lines += ["", "## Failures", "", *(f"- {failure}" for failure in report.failures)]
    return "\n".join(lines) + "\n"


def as_json(report: Report) -> str:
    """The report as JSON, with the time of every repetition."""
    found = asdict(report)
    for entry, row in zip(report.entries, found["entries"], strict=True):
        if entry.seconds:
            ratio = report.ratio(entry)
            row |= {"best": entry.best, "median": entry.median, "ratio": ratio and ratio.turns}
    allowed = bandwidth.limits(report.bandwidth, report.nnz, report.K)
    return json.dumps(found | {"limits": allowed}, indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and write; return 1 if a learner of ours failed, 2 if the stream is missing."""
    options = _options(arguments)
    try:
        stream = streams.load(options.stream)
    except streams.NoData as error:
        print(error, file=sys.stderr)
        return 2
    report = benchmark(stream, options.peers, options.repeat, options.quick)
    page = markdown(report)
    print(page)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(page, encoding="utf-8")
        options.out.with_suffix(".json").write_text(as_json(report), encoding="utf-8")
    return 1 if report.failures else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--stream", default="debtags", choices=streams.names())
    parser.add_argument("--repeat", type=int, default=3, help="repetitions (default 3)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROWS} rows, one repetition")
    parser.add_argument(
        "--peers", nargs="*", default=list(peers.PACKAGES), choices=list(peers.PACKAGES)
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="Markdown file to write; a JSON file next to it gets the time of every repetition",
    )
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error(f"--repeat is {options.repeat}; it must be at least 1")
    return options


def _interleave(
    others: Sequence[contest.Contestant], us: Sequence[contest.Contestant]
) -> list[contest.Contestant]:
    """Spread the peers evenly among our learners."""
    every = max(1, len(us) // max(1, len(others)))
    order: list[contest.Contestant] = []
    rest = list(others)
    for place, contestant in enumerate(us):
        if place % every == 0 and rest:
            order.append(rest.pop(0))
        order.append(contestant)
    return order + rest


def _row(report: Report, entry: Entry) -> str:
    if entry.failure:
        return f"| {entry.name} | {entry.failure} |" + " |" * 8
    ratio = report.ratio(entry)
    goal = ""
    if entry.name in GOALS:
        goal = f"≥ {GOALS[entry.name]:.0f} ×"
        if ratio is not None:
            goal += f" {_goal_mark(ratio.median >= GOALS[entry.name])}"
    shown = "" if ratio is None else str(ratio)
    cells = [entry.name, f"{entry.best:,.0f}", f"{entry.median:,.0f}", shown, goal]
    return "| " + " | ".join(cells + _measures(entry.measures)) + " |"


def _measures(found: Measures | None) -> list[str]:
    if found is None:
        return [""] * 5
    values = (found.one_error, found.any_mistake, found.ranking_loss)
    return [f"{value:.3f}" for value in (*values, found.average_precision, found.ndcg)]


def _quality_goal(report: Report) -> list[str]:
    """Compare our default with Vowpal Wabbit's default mode on the five measures."""
    default = [entry for entry in report.entries if entry.name == ours.DEFAULT]
    if report.baseline is None or report.baseline.measures is None:
        return ["Vowpal Wabbit's default mode was not measured, so there are no ratios."]
    if not default or default[0].measures is None:
        return ["The default was not measured."]
    better = default[0].measures.beats(report.baseline.measures)
    names = ", ".join(name.replace("_", "-") for name in better) or "none"
    return [
        f"The default is better than VW default on {len(better)} of 5 measures: {names} "
        f"(goal: all five, {_goal_mark(len(better) == 5)})."
    ]


def _goal_mark(reached: bool) -> str:
    return "reached" if reached else "**not reached**"


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
