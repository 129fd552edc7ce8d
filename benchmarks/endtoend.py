"""From text to labels: ``tagalong learn`` beside Vowpal Wabbit, whole processes on the same items.

    python -m benchmarks.endtoend [--repeat 3] [--limit N] [--no-quality]

Ours starts the interpreter, imports, reads JSON lines, makes features of words, predicts, learns
and evaluates; all of it counts. Vowpal Wabbit has no executable in its wheel: a process of its own
hands the file's name to its driver, and only the driver's time counts, without interpreter and
imports. Its text is written by ``tagalong.readers.write``, with the words that our features have,
so that both learn from the same n-grams; it predicts and learns, and evaluates its own loss. Once
the words are numbered beforehand, so that it can keep them all apart, and once they are hashed
to its default of 18 bits.

Everyone takes turns. Items a second are by processor time, of all threads, so that whatever else
the machine does counts for nobody; by the clock Vowpal Wabbit's second thread, which parses, may
help it. Quality comes from one further pass that asks for scores, by the same measures.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tagalong.evaluate import Progress
from tagalong.learning.items import Item
from tagalong.learning.rounds import Round
from tagalong.readers import read, write

MEASURES = ("one_error", "any_mistake", "ranking_loss", "average_precision", "ndcg_at_k")
LEARNERS = {
    "tagalong learn": [],
    "tagalong learn, from .xz": [],
    "tagalong learn, Euclidean optimal": [
        *("--update", "optimal"),
        *("--geometry", "euclidean"),
        *("--average", "no"),
    ],
}

VW_CHILD = """
import json, sys, time
import vowpalwabbit
clock, cpu = time.perf_counter(), time.process_time()
workspace = vowpalwabbit.Workspace(arg_list=sys.argv[1:])
workspace.finish()
print(json.dumps([time.process_time() - cpu, time.perf_counter() - clock]))
"""


@dataclass
class Entry:
    """One contestant: how to run it once, and what came of that."""

    name: str
    run: Callable[[], tuple[float, float]]  # processor time and time by the clock, in seconds
    quality: Callable[[], dict[str, float]]
    seconds: list[tuple[float, float]] = field(default_factory=list)
    failure: str = ""


def words_of(item: Item) -> Item:
    """Return an item whose words, blank by blank, are those that our features have."""
    letters = "".join(c if c.isalnum() else " " for c in str(item.text).casefold())
    return replace(item, text=letters, id="")


def ours(source: Path, options: list[str]) -> tuple[float, float]:
    """Seconds of a whole process."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(_command(source, options), check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, seconds


def our_quality(source: Path, options: list[str]) -> dict[str, float]:
    found = subprocess.run(
        [*_command(source, options), "--json"], check=True, capture_output=True, text=True
    )
    report = json.loads(found.stdout)["report"]
    return {name: report["overall"][name] for name in MEASURES}


def _command(source: Path, options: list[str]) -> list[str]:
    return [sys.executable, "-m", "tagalong", "learn", str(source), "--quiet", *options]


def numbered(items: list[Item]) -> tuple[list[Item], int]:
    """Return items with numbers for words, which Vowpal Wabbit does not hash; and how many."""
    numbers: dict[str, int] = {}
    found = []
    for item in map(words_of, items):
        text = " ".join(str(numbers.setdefault(w, len(numbers))) for w in str(item.text).split())
        found.append(replace(item, text=text))
    return found, len(numbers)


def enough_bits(labels: int, words: int) -> int:
    """As in ``benchmarks.peers``: so many that no two weights of numbered words share a place."""
    return max(18, math.ceil(math.log2(words)) + math.ceil(math.log2(labels)))


def vw(text: Path, arguments: list[str]) -> tuple[float, float]:
    """Seconds of the driver alone."""
    found = subprocess.run(
        [sys.executable, "-c", VW_CHILD, *arguments, "-d", str(text)],
        capture_output=True,
        text=True,
    )
    if found.returncode != 0:
        raise RuntimeError(found.stderr.strip().splitlines()[-1])
    used, seconds = json.loads(found.stdout)
    return used, seconds


def vw_quality(text: Path, arguments: list[str]) -> dict[str, float]:
    from vowpalwabbit import pyvw

    workspace = pyvw.Workspace(arg_list=[*arguments, "--probabilities"])
    progress = Progress()
    with text.open(encoding="utf-8") as lines:
        for line in lines:
            example = workspace.example(line)
            workspace.learn(example)
            scores = np.array(pyvw.get_prediction(example, pyvw.PredictionType.SCALARS))
            workspace.finish_example(example)
            relevant = [int(label) for label in line.split(" ", 1)[0].split(",") if label]
            progress.add(Round(scores, math.inf, relevant, []))
    workspace.finish()
    overall: Any = progress.report().overall
    return {name: getattr(overall, name) for name in MEASURES}


def contestants(folder: Path, items: list[Item]) -> Iterator[Entry]:
    """Write everyone's input, untimed."""
    plain, packed = folder / "items.jsonl", folder / "items.jsonl.xz"
    write(items, str(plain))
    write(items, str(packed))
    labels = len({label for item in items for label in item.labels or ()})
    with_numbers, words = numbered(items)
    for name, own, bits in (
        ("VW, words as numbers that never collide", with_numbers, enough_bits(labels, words)),
        ("VW, words, -b 18, its default", [words_of(item) for item in items], 18),
    ):
        text = folder / f"{bits}.vw"
        write(own, str(text), number_labels=True)
        arguments = ["--multilabel_oaa", str(labels), "-b", str(bits), "--quiet"]
        yield Entry(
            name,
            lambda text=text, arguments=arguments: vw(text, arguments),
            lambda text=text, arguments=arguments: vw_quality(text, arguments),
        )
    for name, options in LEARNERS.items():
        source = packed if ".xz" in name else plain
        yield Entry(
            name,
            lambda source=source, options=options: ours(source, options),
            lambda source=source, options=options: our_quality(source, options),
        )


def table(entries: list[Entry], items: int, quality: bool) -> Iterator[str]:
    yield "| way | items/s, best | median | × VW | by the clock | " + " | ".join(MEASURES) + " |"
    yield "|---" * (5 + len(MEASURES)) + "|"
    peer = entries[0].seconds  # none, if it could not be run
    for entry in entries:
        if entry.failure:
            yield f"| {entry.name} | {entry.failure} |"
            continue
        used = [cpu for cpu, _ in entry.seconds]
        clock = min(seconds for _, seconds in entry.seconds)
        found = entry.quality() if quality else {}
        cells = " | ".join(f"{found[name]:.4f}" if name in found else "–" for name in MEASURES)
        ratios = [theirs / own for own, (theirs, _) in zip(used, peer, strict=False)]
        ratio = "–"
        if ratios:
            ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
        yield (
            f"| {entry.name} | {items / min(used):,.0f} | {items / statistics.median(used):,.0f} "
            f"| {ratio} | {items / clock:,.0f} | {cells} |"
        )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, help="only the first items")
    parser.add_argument("--no-quality", action="store_true", help="speed alone")
    arguments = parser.parse_args(argv)
    path = Path(os.environ.get("TAGALONG_DATA", ""), "debtags-texts.jsonl.xz")
    source = str(path) if path.is_file() else "pydocs:"
    labelled = (item for item in read(source) if item.labels is not None)
    items = list(islice(labelled, arguments.limit))
    with TemporaryDirectory(prefix="tagalong-endtoend-") as folder:
        entries = list(contestants(Path(folder), items))
        for repetition in range(arguments.repeat):
            for entry in entries:
                if entry.failure:
                    continue
                try:
                    entry.seconds.append(entry.run())
                except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                    entry.failure = str(error)
                    continue
                rate = len(items) / entry.seconds[-1][0]
                print(f"{repetition + 1} {entry.name}: {rate:,.0f} items/s", file=sys.stderr)
        print(f"{Path(source).name}: {len(items):,} items\n")
        for line in table(entries, len(items), not arguments.no_quality):
            print(line, flush=True)


if __name__ == "__main__":
    main()
