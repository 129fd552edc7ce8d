"""Peers and ours, alternating in one run: ``python -m benchmarks.run``.

Prints a page; with ``--out`` it is written too, and everything behind it as JSON. Rates are of one
online pass, ranking each row before it is learnt, in one thread. Ratios are of the same turn.
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
    "euclidean optimal": 12.0,
    "adaptive optimal averaged": 8.0,
    ours.DEFAULT: 5.0,
}
"""Wanted: this many times the items/s of Vowpal Wabbit's default mode."""

RANK_ONE_GOALS = {"euclidean single": 12.0, ours.DEFAULT: 25.0}
"""Wanted: at most this many microseconds for one prediction."""

QUICK_ROWS = 500


@dataclass
class Report:
    """Everything a run found out."""

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
    def yardstick(self) -> Entry | None:
        """Vowpal Wabbit's default mode, if it ran."""
        found = [entry for entry in self.entries if entry.name == peers.VW_DEFAULT]
        return found[0] if found and not found[0].failure else None

    def ratio(self, entry: Entry) -> Ratio | None:
        """How many times as many items a second as the yardstick, turn by turn."""
        if self.yardstick is None:
            return None
        pairs = zip(self.yardstick.seconds, entry.seconds, strict=True)
        share = entry.rows / self.yardstick.rows
        return Ratio([share * theirs / mine for theirs, mine in pairs])


def benchmark(
    stream: streams.Stream, only_peers: list[str], repeat: int = 3, quick: bool = False
) -> Report:
    """Time and measure everyone on a stream."""
    if quick:
        stream, repeat = stream.head(QUICK_ROWS), 1
    _say(stream.describe())
    others, absent = peers.contestants(stream, only_peers, quick)
    us = list(ours.contestants(stream))
    entries = contest.alternate(_interleave(others, us), repeat, _say)
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
            report.rank_one[setting] = ours.rank_one(setting, stream, calls, batches)
        report.cutoff = ours.cutoff(stream)
    except Exception as error:
        report.failures.append(f"one row at a time: {type(error).__name__}: {error}")
    return report


def markdown(report: Report) -> str:
    """The report as a page."""
    machine = [f"{name} {value}" for name, value in report.machine.items()]
    lines = [
        f"# Speed and quality on {report.stream}",
        "",
        f"One online pass, rank then learn, one thread; {report.repeat} repetition(s), everyone "
        "in turn. Before each turn some memory is touched, so that nobody waits for what the host "
        "of a virtual machine has taken back. "
        "Ratios are of the same turn, the median and the range. Rows without a relevant "
        "or without an irrelevant label are left out of the measures; equal scores count against "
        "any-mistake and average precision, half in the ranking loss, and go to the lowest label "
        "elsewhere. Peers marked "
        "'first' had only that many rows, and their measures are over those.",
        "",
        "; ".join(machine) + ".",
        "",
        "| learner | items/s, best | median | × VW default | goal | one-error | any-mistake "
        "| ranking loss | average precision | NDCG@5 |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(report, entry) for entry in report.entries]
    lines += ["", *_better(report), "", "## One prediction from Python", ""]
    lines += ["| learner | µs, `rank_one((indices, values), k=5)` | goal |", "|---|---|---|"]
    for name, micros in report.rank_one.items():
        goal = RANK_ONE_GOALS[name]
        lines.append(f"| {name} | {micros:.1f} | ≤ {goal:.0f} {_mark(micros <= goal)} |")
    if report.cutoff is not None:
        learnt, best = report.cutoff
        reached = learnt >= max(0.55, best - 0.02)
        lines += [
            "",
            f"Learnt cut-off of the default: progressive micro-F1 {learnt:.3f}; best constant "
            f"threshold in hindsight {best:.3f} (goal: above .55, within .02: {_mark(reached)}).",
        ]
    lines += ["", "## The limit set by memory traffic", ""]
    lines += bandwidth.table(report.bandwidth, report.nnz, report.K)
    if report.failures:
        lines += ["", "## Failures", "", *(f"- {failure}" for failure in report.failures)]
    return "\n".join(lines) + "\n"


def as_json(report: Report) -> str:
    """The report with every single time."""
    found = asdict(report)
    for entry, row in zip(report.entries, found["entries"], strict=True):
        if entry.seconds:
            ratio = report.ratio(entry)
            row |= {"best": entry.best, "median": entry.median, "ratio": ratio and ratio.turns}
    allowed = bandwidth.limits(report.bandwidth, report.nnz, report.K)
    return json.dumps(found | {"limits": allowed}, indent=1) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and write; 1 when something of ours failed, 2 when there is no stream."""
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
        help="Markdown file to write, with JSON beside it that has every single time",
    )
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error(f"--repeat is {options.repeat}; it takes at least 1")
    return options


def _interleave(
    others: Sequence[contest.Contestant], us: Sequence[contest.Contestant]
) -> list[contest.Contestant]:
    """Spread the peers evenly between ours."""
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
            goal += f" {_mark(ratio.median >= GOALS[entry.name])}"
    shown = "" if ratio is None else str(ratio)
    cells = [entry.name, f"{entry.best:,.0f}", f"{entry.median:,.0f}", shown, goal]
    return "| " + " | ".join(cells + _measures(entry.measures)) + " |"


def _measures(found: Measures | None) -> list[str]:
    if found is None:
        return [""] * 5
    values = (found.one_error, found.any_mistake, found.ranking_loss)
    return [f"{value:.3f}" for value in (*values, found.average_precision, found.ndcg)]


def _better(report: Report) -> list[str]:
    """Where the default stands against Vowpal Wabbit's default mode on the five measures."""
    default = [entry for entry in report.entries if entry.name == ours.DEFAULT]
    if report.yardstick is None or report.yardstick.measures is None:
        return ["Vowpal Wabbit's default mode was not measured, so there are no ratios."]
    if not default or default[0].measures is None:
        return ["The default was not measured."]
    better = default[0].measures.beats(report.yardstick.measures)
    names = ", ".join(name.replace("_", "-") for name in better) or "none"
    return [
        f"The default is better than VW default on {len(better)} of 5 measures: {names} "
        f"(goal: all five, {_mark(len(better) == 5)})."
    ]


def _mark(reached: bool) -> str:
    return "reached" if reached else "**not reached**"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
