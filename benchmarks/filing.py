"""How much is filed without asking, and how much rightly: ``python -m benchmarks.filing``.

A stream is learnt item by item. After 50, 200, 500, ... items the model judges the following items,
without learning them: how often is the first suggestion right, how many are sure at a target, and
how many of those are right? The hindsight limit is what the best threshold, chosen on those items
themselves, could mark. The peers are fitted on the same items and judge the same ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.filing_measures import (
    RECENT_SHARE,
    TARGETS,
    calibration_error,
    hindsight,
    single_measures,
)
from benchmarks.filing_peers import Answers, Peer, peers
from benchmarks.filing_streams import FilingStream, filing_stream, from_items, names
from benchmarks.markdown import table
from benchmarks.streams import NoData
from tagalong import LabelRanker
from tagalong.readers import Item

SIZES = (50, 200, 500, 1000, 2000, 5000)
FOLLOWING = 1000
"""Number of items that are judged at each size."""

OURS = "Tagalong"


class Tagalong:
    """The default learner, which learns on from size to size."""

    def __init__(self, stream: FilingStream) -> None:
        self.stream = stream
        self.learner = LabelRanker()
        self.learner.start()
        self.learnt = 0

    def answers(self, learnt: int, end: int) -> Answers:
        """Learn the items up to a number and judge those after it."""
        targets = self.learner.encode_rows(self.stream.labels[self.learnt : learnt], None)
        self.learner.watch_rows(self.stream.part(self.learnt, learnt), targets)
        self.learnt = learnt
        places = self.learner.find_places(self.stream.part(learnt, end), 1)
        names = self.learner.labels.names
        truth = self.stream.labels[learnt:end]
        first = places.labels[:, 0].tolist()
        right = np.array([names[i] in labels for i, labels in zip(first, truth, strict=True)])
        rows = [self.learner.score_one(self.stream.row(row))[0] for row in range(learnt, end)]
        measures = single_measures(np.array(rows), right)
        del measures[RECENT_SHARE]  # a function of the score while nothing is learnt
        return Answers(
            right, places.probabilities[:, 0], places.assured[:, 0], list(measures.values())
        )


@dataclass
class Line:
    """One method at one size, pooled over the orders."""

    items: int
    method: str
    answers: list[Answers]
    failure: str = ""

    def sure(self, target: float) -> tuple[float, float, float]:
        """The share that is sure, its precision, and the hindsight limit of the share."""
        marked = right = limit = count = 0
        for one in self.answers:
            sure = one.assured >= target
            marked += int(sure.sum())
            right += int((sure & one.right).sum())
            count += len(sure)
            limit += max(hindsight(measure, one.right, target) for measure in one.measures)
        return marked / count, right / marked if marked else float("nan"), limit / count

    @property
    def accuracy(self) -> float:
        return float(np.mean(np.concatenate([one.right for one in self.answers])))

    def cells(self) -> list[str]:
        if not self.answers:
            return [f"{self.items:,}", self.method, self.failure, *[""] * (len(TARGETS) + 1)]
        error = np.mean([calibration_error(one.probability, one.right) for one in self.answers])
        sure = []
        for target in TARGETS:
            share, precision, limit = self.sure(target)
            rightly = f"{precision:.1%}" if share else "–"
            sure.append(f"{share:.1%} / {rightly} ({limit:.1%})")
        return [f"{self.items:,}", self.method, f"{self.accuracy:.1%}", *sure, f"{error:.3f}"]


def compare(
    streams: Sequence[FilingStream], sizes: Sequence[int], with_peers: bool = True
) -> Iterator[Line]:
    """Judge at every size, with every method; the streams are orders of the same items."""
    count, following = len(streams[0]), min(FOLLOWING, len(streams[0]) // 4)
    fits = [size for size in sizes if size < count - following]
    methods = peers(streams[0]) if with_peers else {}
    ours = [Tagalong(stream) for stream in streams]
    for size in [*fits, count - following]:
        end = size + following
        yield Line(size, OURS, [one.answers(size, end) for one in ours])
        for name, peer in methods.items():
            yield _peer_line(name, peer, streams, size, end)


def _peer_line(name: str, peer: Peer, streams: Sequence[FilingStream], size: int, end: int) -> Line:
    print(f"  {size:,} items: {name}", file=sys.stderr, flush=True)
    try:
        return Line(size, name, [peer(stream, size, end) for stream in streams])
    except ImportError:
        return Line(size, name, [], "not installed")
    except (ValueError, RuntimeError) as error:
        return Line(size, name, [], f"failed: {error}")


def describe(streams: Sequence[FilingStream]) -> str:
    """A line about a stream."""
    first = streams[0]
    labels = len({label for one in first.labels for label in one})
    each = sum(map(len, first.labels)) / len(first)
    return (
        f"{len(first):,} items, {labels} labels ({each:.1f} per item), "
        f"{len(streams)} random order{'s' if len(streams) > 1 else ''}."
    )


def sentence(lines: Sequence[Line], target: float = 0.95) -> str:
    """The figures of the default learner in words."""
    parts = []
    for line in lines:
        share, precision, _ = line.sure(target)
        if share:
            parts.append(
                f"after {line.items:,} it files {share:.0%}, {precision:.0%} of them rightly"
            )
    return f"Asked for {target:.0%}: {'; '.join(parts)}." if parts else "Nothing is filed."


def generated(items: int) -> FilingStream:
    """A stream of made-up texts, for the quick form."""
    rng = np.random.default_rng(0)
    topics = ["money", "travel", "family", "work"]
    texts = []
    for number in range(items):
        topic = int(rng.integers(len(topics)))
        words = [f"{topics[topic]}{rng.integers(30)}" for _ in range(4)]
        words += [f"word{rng.integers(200)}" for _ in range(8)]
        texts.append(Item(str(number), " ".join(words), labels=(topics[topic],)))
    return from_items("generated", texts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table per stream."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("streams", nargs="*", metavar="stream", help="default: all")
    parser.add_argument("--orders", type=int, default=2, help="number of random orders")
    parser.add_argument("--limit", type=int, help="number of items (default: all)")
    parser.add_argument("--no-peers", action="store_true", help="Tagalong only")
    parser.add_argument("--quick", action="store_true", help="300 made-up items only")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.streams if name not in names()]
    if unknown:
        parser.error(f"unknown stream {unknown[0]!r}; choose from {', '.join(names())}")
    chosen = ["generated"] if options.quick else options.streams or names()
    print(
        "Sure at a target: share marked / of those right (share that the best threshold could mark "
        "with hindsight). Calibration: expected calibration error of the first suggestion.\n"
    )
    headers = ["items learnt", "method", "first right", *(f"sure at {one:.2f}" for one in TARGETS)]
    for name in chosen:
        print(name, file=sys.stderr, flush=True)
        try:
            streams = (
                [generated(300)]
                if options.quick
                else [filing_stream(name, order, options.limit) for order in range(options.orders)]
            )
        except NoData as missing:
            print(f"# {name}\n\n{missing}\n")
            continue
        lines = list(compare(streams, SIZES, not options.no_peers))
        print(f"# {name}\n\n{describe(streams)}\n")
        print(table([*headers, "calibration"], (line.cells() for line in lines)))
        print(f"\n{sentence([line for line in lines if line.method == OURS])}\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
