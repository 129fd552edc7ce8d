"""Check whether "sure" keeps its promise: ``python -m benchmarks.filing_acceptance``.

Every stream is learnt in several random orders. What must hold for the first suggestion:

- precision: of all that is marked at .90, .95 or .99, pooled over the orders, the 99 % upper
  confidence limit of the share right reaches the target;
- share: at .90 and .95, between items 1,000 and 8,000, at least 92 % of what the best threshold
  on the best of four single measures would mark with hindsight, and 85 % on each stream;
- calibration: an expected calibration error of at most .02, from item 500 on.

Simulations follow: late answers, people who choose what to answer, items that are filed and only
audited, labels that swap their meaning, and sorted streams.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.filing_measures import (
    CALIBRATED_FROM,
    TARGETS,
    Judged,
    calibration_error,
    hindsight,
    single_measures,
    upper_limit,
)
from benchmarks.filing_models import DefaultModel, default_run
from benchmarks.filing_simulations import (
    AUDIT,
    Arrivals,
    delayed,
    filed,
    in_chosen_order,
    sorted_then_random,
    swapped,
)
from benchmarks.filing_streams import ORDERS, filing_stream, names
from benchmarks.markdown import table

SEGMENTS = ((1000, 2000), (2000, 4000), (4000, 8000))
REQUIRED = (0.9, 0.95)
REQUIRED_SHARE, REQUIRED_SHARE_PER_STREAM, LARGEST_ERROR = 0.92, 0.85, 0.02
AUDITED_AT = 0.95
SIMULATED = ("newsgroups", "debtags", "rcv1")
SORTED = ("newsgroups", "pydocs", "debtags")
LIMIT = SEGMENTS[-1][1]
SWAP_STEPS = ((-500, 0), (0, 50), (50, 100), (100, 250), (250, 500), (500, 1000), (1000, 4000))


@dataclass(frozen=True)
class Outcome:
    """One stream in one order."""

    stream: str
    judged: Judged
    attainable: dict[tuple[float, int], int]
    """By target and segment, the number of items that hindsight would mark."""


def measure(arguments: tuple[str, int, int]) -> Outcome:
    """Learn one stream in one order."""
    name, order, limit = arguments
    found = default_run(filing_stream(name, order, limit))
    right = found.judged.right[:, 0]
    measures = single_measures(found.scores, right)
    attainable = {
        (target, i): max(
            hindsight(one[begin:end], right[begin:end], target) for one in measures.values()
        )
        for target in TARGETS
        for i, (begin, end) in enumerate(SEGMENTS)
    }
    return Outcome(name, found.judged, attainable)


class Acceptance:
    """The figures of all streams, and what fell short."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = outcomes
        self.streams = list(dict.fromkeys(one.stream for one in outcomes))
        self.failures: list[str] = []

    def of(self, stream: str) -> list[Outcome]:
        return [one for one in self.outcomes if one.stream == stream]

    def precision(self, places: int) -> Iterator[list[str]]:
        """Per stream and target: precision, its upper limit, and the number marked."""
        for stream in self.streams:
            cells = [stream]
            for target in TARGETS:
                right = marked = 0
                for one in self.of(stream):
                    sure = one.judged.sure(target, places)
                    marked += int(sure.sum())
                    right += int((sure & one.judged.right[:, :places]).sum())
                limit = upper_limit(right, marked)
                self.check(
                    limit >= target, f"{stream}: precision at {target:.2f}: at most {limit:.4f}"
                )
                cells.append(f"{right / marked:.4f} (≤ {limit:.4f}), {marked:,}" if marked else "–")
            yield cells

    def shares(self) -> Iterator[list[str]]:
        """Per stream, target and segment: share marked, share attainable, and their ratio."""
        totals = {target: [0, 0] for target in TARGETS}
        for stream, target in product(self.streams, TARGETS):
            cells, marked_in_all, attainable_in_all = [f"{stream}, {target:.2f}"], 0, 0
            for i, (begin, end) in enumerate(SEGMENTS):
                items = sum(len(one.judged.right[begin:end]) for one in self.of(stream))
                marked = sum(
                    int(one.judged.sure(target)[begin:end].sum()) for one in self.of(stream)
                )
                attainable = sum(one.attainable[target, i] for one in self.of(stream))
                marked_in_all += marked
                attainable_in_all += attainable
                cells.append(f"{marked / items:.3f} of {attainable / items:.3f}" if items else "–")
            ratio = marked_in_all / max(1, attainable_in_all)
            totals[target][0] += marked_in_all
            totals[target][1] += attainable_in_all
            if target in REQUIRED and attainable_in_all:
                self.check(
                    ratio >= REQUIRED_SHARE_PER_STREAM,
                    f"{stream}: {ratio:.3f} of the attainable share at {target:.2f}",
                )
            yield [*cells, f"{ratio:.3f}"]
        for target, (marked, attainable) in totals.items():
            ratio = marked / max(1, attainable)
            if target in REQUIRED and attainable:
                self.check(
                    ratio >= REQUIRED_SHARE, f"{ratio:.3f} of the attainable share at {target:.2f}"
                )
            yield [f"all, {target:.2f}", *[""] * len(SEGMENTS), f"{ratio:.3f}"]

    def calibration(self) -> Iterator[list[str]]:
        """Per stream: calibration errors, and the first item that was marked."""
        for stream in self.streams:
            errors = []
            for one in self.of(stream):
                late = slice(CALIBRATED_FROM, None)
                judged = one.judged
                chances, right = judged.probabilities[late], judged.right[late]
                errors.append(
                    [
                        calibration_error(chances[:, 0], right[:, 0]),
                        calibration_error(chances[:, :5].ravel(), right[:, :5].ravel()),
                        calibration_error(judged.whole[late], judged.whole_right[late]),
                    ]
                )
            means = np.mean(errors, axis=0)
            if np.isfinite(means[0]):
                self.check(means[0] <= LARGEST_ERROR, f"{stream}: calibration error {means[0]:.4f}")
            firsts = []
            for target in TARGETS:
                marks = [np.flatnonzero(one.judged.sure(target)[:, 0]) for one in self.of(stream)]
                found = [f"{place[0]:,}" if len(place) else "never" for place in marks]
                firsts.append(", ".join(found))
            yield [stream, *(f"{mean:.4f}" for mean in means), *firsts]

    def check(self, holds: bool, shortfall: str) -> None:
        if not holds:
            self.failures.append(shortfall)


def acceptance_page(outcomes: Sequence[Outcome]) -> tuple[str, list[str]]:
    """The tables, and what fell short of its goal."""
    accepted = Acceptance(outcomes)
    targets = [f"{target:.2f}" for target in TARGETS]
    segments = [f"{begin:,}–{end:,}" for begin, end in SEGMENTS]
    parts = [
        "## Precision of what is marked sure, with its 99 % upper limit, and how much is marked",
        "First suggestion:",
        table(["stream", *targets], accepted.precision(1)),
        "Each of the first ten suggestions by itself:",
        table(["stream", *targets], accepted.precision(10)),
        "## Share marked sure, of the share that the best threshold would mark with hindsight",
        table(["stream, target", *segments, "ratio"], accepted.shares()),
        f"## Calibration error from item {CALIBRATED_FROM} on; the first item marked in each order",
        table(
            ["stream", "first", "first five", "whole set", *(f"first at {t}" for t in targets)],
            accepted.calibration(),
        ),
    ]
    return "\n\n".join(parts), accepted.failures


def segment_cells(found: Arrivals, segments: Sequence[tuple[int, int]], target: float) -> list[str]:
    """Share marked sure and precision per segment."""
    cells = []
    for begin, end in segments:
        items, marked, right = found.sure(target, begin, end)
        if not items:
            cells.append("–")
        else:
            cells.append(f"{marked / items:.3f}" + (f" / {right / marked:.3f}" if marked else ""))
    return cells


def simulation_page(stream_name: str, limit: int, target: float = 0.95) -> str:
    """The simulations, on one order of a stream."""
    stream = filing_stream(stream_name, 0, limit)
    runs = {
        "answers at once": delayed(stream, DefaultModel, 0),
        "answers 100 items late": delayed(stream, DefaultModel, 100),
        "answers 1,000 items late": delayed(stream, DefaultModel, 1000),
        "easy ones of 100 first": in_chosen_order(stream, DefaultModel, "easy"),
        "unsure ones of 100 first": in_chosen_order(stream, DefaultModel, "unsure"),
        "only the easy half answered": in_chosen_order(stream, DefaultModel, "easy", 0.5),
        "only the unsure half answered": in_chosen_order(stream, DefaultModel, "unsure", 0.5),
    }
    half = limit // 2
    swap = swapped(stream, DefaultModel, half)
    steps = [(max(0, half + begin), half + end) for begin, end in SWAP_STEPS]
    parts = [
        f"## Ways of answering: {stream_name}, share marked sure at {target} / precision",
        table(
            ["", *(f"{begin:,}–{end:,}" for begin, end in SEGMENTS)],
            ([name, *segment_cells(found, SEGMENTS, target)] for name, found in runs.items()),
        ),
        f"## All labels swap after {half:,} items: share / precision, items from the swap on",
        table(
            ["target", *(f"{begin:,} to {end:,}" for begin, end in SWAP_STEPS)],
            ([f"{one}", *segment_cells(swap, steps, one)] for one in TARGETS),
        ),
    ]
    return "\n\n".join(parts)


def audit_run(arguments: tuple[str, int, int]) -> tuple[Arrivals, int]:
    """Learn one stream in one order, if sure items are filed and only audited."""
    name, order, limit = arguments
    return filed(filing_stream(name, order, limit), DefaultModel, AUDITED_AT, order)


def audit_page(pool: Executor, orders: int, limit: int) -> tuple[str, list[str]]:
    """Sure items are filed and only audited: precision and share, pooled over the orders."""
    thousands = [(begin, begin + 1000) for begin in range(0, limit, 1000)]
    rows, failures = [], []
    for name in SIMULATED:
        runs = list(pool.map(audit_run, [(name, order, limit) for order in range(orders)]))
        pooled = [[one.sure(AUDITED_AT, *span) for one, _ in runs] for span in thousands]
        cells = []
        for span in pooled:
            items, marked, right = map(sum, zip(*span, strict=True))
            cells.append(f"{marked / items:.2f} / {right / max(1, marked):.3f}" if items else "–")
        _, marked, right = map(sum, zip(*(one for span in pooled for one in span), strict=True))
        most = upper_limit(right, marked)
        if most < AUDITED_AT:
            failures.append(f"{name}, audited only: precision at {AUDITED_AT}: at most {most:.4f}")
        asked = np.mean([audited for _, audited in runs])
        precision = f"{right / max(1, marked):.4f} (≤ {most:.4f})"
        rows.append([name, precision, f"{asked:.0f}", *cells])
    title = f"## Sure items are filed, {AUDIT:.0%} of them asked: share at {AUDITED_AT} / precision"
    headers = ["stream", "precision", "asked per order", *(f"{begin:,}" for begin, _ in thousands)]
    return f"{title}\n\n{table(headers, rows)}", failures


def sorted_page(limit: int, target: float = 0.95) -> str:
    """Streams whose first half comes sorted by label."""
    steps = ((0, 250), (250, 500), (500, 1000), (1000, 2000))
    rows = []
    for name in SORTED:
        half = limit // 2
        run = sorted_then_random(filing_stream(name, 0, limit), DefaultModel, half)
        rows.append(
            [
                name,
                *segment_cells(run.during, ((0, 500), (500, half)), target),
                *segment_cells(run.after, ((0, 500),), target),
                *segment_cells(run.continued, steps, target),
            ]
        )
    headers = ["stream", "sorted, to 500", "sorted, from 500", "500 judged after it"]
    headers += [f"random, {begin:,}–{end:,}" for begin, end in steps]
    return f"## Sorted by label, then random: share marked at {target} / precision\n\n" + table(
        headers, rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("streams", nargs="*", metavar="stream", help="default: all")
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--limit", type=int, default=LIMIT, help="number of items per order")
    parser.add_argument("--no-simulations", action="store_true")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.streams if name not in names()]
    if unknown:
        parser.error(f"unknown stream {unknown[0]!r}; choose from {', '.join(names())}")
    tasks = [
        (name, order, options.limit)
        for name in options.streams or names()
        for order in range(options.orders)
    ]
    with ProcessPoolExecutor() as pool:
        page, failures = acceptance_page(list(pool.map(measure, tasks)))
        print(page, flush=True)
        if not options.no_simulations:
            page, also = audit_page(pool, options.orders, options.limit)
            failures += also
            print(f"\n{page}", flush=True)
            print(f"\n{simulation_page('newsgroups', options.limit)}", flush=True)
            print(f"\n{sorted_page(options.limit // 2)}", flush=True)
    print("\nMissed:" if failures else "\nAll goals are reached.")
    for failure in failures:
        print(f"- {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
