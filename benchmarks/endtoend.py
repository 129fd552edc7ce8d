"""End to end, from text to labels: ``tagalong learn`` beside Vowpal Wabbit on the same items.

    python -m benchmarks.endtoend [--repeat 3] [--limit N] [--no-quality]

For Tagalong, the whole process counts: it starts the interpreter, imports, reads JSON lines,
extracts word features, predicts, learns and evaluates. Vowpal Wabbit's wheel has no executable. A
Python process passes the file name to its driver, and only the driver's time counts, without
interpreter and imports. Its input is written by ``tagalong.readers.write`` with the words of our
features, so that both learn from the same words. It predicts, learns and computes its own loss.
In one variant the words are numbered beforehand, so that no two words collide; in the other they
are hashed to its default of 18 bits.

Methods run alternately. Items per second are by the processor time of all threads, so that other
work on the machine matters less. In wall-clock time, Vowpal Wabbit's second thread, which parses,
can help it. Quality comes from one more pass that requests the scores, with the same measures.
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
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.turns import prepare_turn
from tagalong.evaluate import Progress
from tagalong.learning.items import Item
from tagalong.learning.rounds import Round
from tagalong.readers import read, write

TOUCHED_BYTES = 512 << 20
"""Memory that is touched before every turn; no method takes more."""

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
    """One contestant: how to run it once, and its times."""

    name: str
    run: Callable[[], tuple[float, float]]  # seconds of processor time and of wall-clock time
    quality: Callable[[], dict[str, float]]
    seconds: list[tuple[float, float]] = field(default_factory=list)
    failure: str = ""


def normalise_words(item: Item) -> Item:
    """Return an item whose text has the words of our features, separated by blanks."""
    letters = "".join(c if c.isalnum() else " " for c in str(item.text).casefold())
    return replace(item, text=letters, id="")


def time_tagalong(source: Path, options: list[str]) -> tuple[float, float]:
    """Seconds of a whole process: processor time and wall-clock time."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(_command(source, options), check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, seconds


def tagalong_quality(source: Path, options: list[str]) -> dict[str, float]:
    found = subprocess.run(
        [*_command(source, options), "--json"], check=True, capture_output=True, text=True
    )
    report = json.loads(found.stdout)["report"]
    return {name: report["overall"][name] for name in MEASURES}


def _command(source: Path, options: list[str]) -> list[str]:
    return [sys.executable, "-m", "tagalong", "learn", str(source), "--quiet", *options]


def number_words(items: list[Item]) -> tuple[list[Item], int]:
    """Return items with words replaced by numbers, and the number of different words.

    Vowpal Wabbit does not hash numbers.
    """
    numbers: dict[str, int] = {}
    found = []
    for item in map(normalise_words, items):
        text = " ".join(str(numbers.setdefault(w, len(numbers))) for w in str(item.text).split())
        found.append(replace(item, text=text))
    return found, len(numbers)


def collision_free_bits(labels: int, words: int) -> int:
    """Return the hash bits with which no two weights collide, as in ``benchmarks.peers``."""
    return max(18, math.ceil(math.log2(words)) + math.ceil(math.log2(labels)))


def time_vw(text: Path, arguments: list[str]) -> tuple[float, float]:
    """Seconds of the driver, without interpreter: processor time and wall-clock time."""
    found = subprocess.run(
        [sys.executable, "-c", VW_CHILD, *arguments, "-d", str(text)],
        capture_output=True,
        text=True,
    )
    if found.returncode != 0:
        raise RuntimeError(found.stderr.strip().splitlines()[-1])
    cpu, seconds = json.loads(found.stdout)
    return cpu, seconds


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
    """Write the input of all contestants and yield them."""
    plain, packed = folder / "items.jsonl", folder / "items.jsonl.xz"
    write(items, str(plain))
    write(items, str(packed))
    labels = len({label for item in items for label in item.labels or ()})
    numbered, words = number_words(items)
    for name, vw_items, bits in (
        ("VW, numbered words, no collisions", numbered, collision_free_bits(labels, words)),
        ("VW, hashed words, -b 18 (its default)", [normalise_words(item) for item in items], 18),
    ):
        text = folder / f"{bits}.vw"
        write(vw_items, str(text), number_labels=True)
        arguments = ["--multilabel_oaa", str(labels), "-b", str(bits), "--quiet"]
        yield Entry(
            name,
            partial(time_vw, text, arguments),
            partial(vw_quality, text, arguments),
        )
    for name, options in LEARNERS.items():
        source = packed if ".xz" in name else plain
        yield Entry(
            name,
            partial(time_tagalong, source, options),
            partial(tagalong_quality, source, options),
        )


def table(entries: list[Entry], items: int, quality: bool) -> Iterator[str]:
    yield "| method | items/s, best | median | × VW | wall clock | " + " | ".join(MEASURES) + " |"
    yield "|---" * (5 + len(MEASURES)) + "|"
    peer = entries[0].seconds  # empty if the peer could not be run
    for entry in entries:
        if entry.failure:
            yield f"| {entry.name} | {entry.failure} |"
            continue
        cpu_times = [cpu for cpu, _ in entry.seconds]
        clock = min(seconds for _, seconds in entry.seconds)
        found = entry.quality() if quality else {}
        cells = " | ".join(f"{found[name]:.4f}" if name in found else "–" for name in MEASURES)
        ratios = [theirs / own for own, (theirs, _) in zip(cpu_times, peer, strict=False)]
        ratio = "–"
        if ratios:
            ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"
        yield (
            f"| {entry.name} | {items / min(cpu_times):,.0f} "
            f"| {items / statistics.median(cpu_times):,.0f} "
            f"| {ratio} | {items / clock:,.0f} | {cells} |"
        )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, help="number of items (default: all)")
    parser.add_argument("--no-quality", action="store_true", help="measure speed only")
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
                prepare_turn(TOUCHED_BYTES)
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
