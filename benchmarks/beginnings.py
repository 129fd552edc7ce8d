"""Small beginnings: how often the first suggestion is right after 50, 200 or 500 items.

``python -m benchmarks.beginnings`` learns the first items of each stream online, with the features
of a tagger, and judges the next 1,000 items without learning them. The peers are two LinearSVC on
tf-idf, fitted on the same items: with word counts, and with their logarithms (``sublinear_tf``).
They are multiclass where items have one label, and one against the rest otherwise. Figures are
means over five random orders and, after ±, the standard deviation over the orders.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import MultiLabelBinarizer
from sklearn.svm import LinearSVC

from benchmarks.filing_streams import ORDERS, module_items
from benchmarks.learners import RACE, SETTINGS, make_learner
from benchmarks.markdown import table
from benchmarks.streams import NoData, data_path, machine_items, newsgroup_posts
from benchmarks.verdicts import Verdict
from tagalong import Tagger
from tagalong.readers import Item, read

SIZES = (50, 200, 500)
FOLLOWING = 1000
"""Number of items that are judged at each size, or the rest of the stream."""

TITLE_WORDS = 12
SVMS = {"LinearSVC": False, "LinearSVC, sublinear": True}
"""The peers by name, and whether they take the logarithms of counts."""

LEAST_ITEMS_OF_MANY_LABELS, MANY_LABELS_ALLOWANCE = 50, 0.03
MANY_LABELS = ("pydocs", "debtags")
"""Streams with hundreds of labels, where 50 items are less than one per label."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Texts:
    """Texts with labels, and the random orders in which they arrive."""

    items: Sequence[Item]
    order: Callable[[int], Numbers]
    """The numbers of the items in one of the orders, by its seed."""


@dataclass
class Line:
    """One stream at one size: per method, the share right in each order."""

    stream: str
    size: int
    shares: dict[str, list[float]]

    def mean(self, method: str) -> float:
        return float(np.mean(self.shares[method]))

    @property
    def best_svm(self) -> float:
        """The better of the LinearSVC."""
        return max(self.mean(name) for name in SVMS)

    @property
    def reached(self) -> bool:
        """Whether the race is right at least as often as the better LinearSVC."""
        early = self.size == LEAST_ITEMS_OF_MANY_LABELS and self.stream in MANY_LABELS
        return self.mean(RACE) >= self.best_svm - (MANY_LABELS_ALLOWANCE if early else 0.0)

    def cells(self) -> list[str]:
        figures = [
            f"{np.mean(shares):.3f} ± {np.std(shares):.3f}" for shares in self.shares.values()
        ]
        return [self.stream, f"{self.size:,}", *figures, f"{self.mean(RACE) - self.best_svm:+.3f}"]


def texts(items: Sequence[Item]) -> Texts:
    """Texts in random orders."""
    return Texts(items, lambda seed: np.random.default_rng(seed).permutation(len(items)))


def uneven(items: Sequence[Item]) -> Texts:
    """Texts of which group i, in an order drawn at random, has a share of 1 / (i + 1).

    The first group keeps all its items, the second half of them, the third a third.
    """
    groups: dict[object, list[int]] = {}
    for number, item in enumerate(items):
        groups.setdefault(item.labels, []).append(number)
    members = [groups[name] for name in sorted(groups, key=str)]

    def order(seed: int) -> Numbers:
        rng = np.random.default_rng(seed)
        kept = [
            rng.permutation(members[group])[: round(len(members[group]) / (place + 1))]
            for place, group in enumerate(rng.permutation(len(members)))
        ]
        return rng.permutation(np.concatenate(kept)).astype(np.int64)

    return Texts(items, order)


def shortened(items: Sequence[Item]) -> list[Item]:
    """The items with the first twelve words of their texts only."""
    return [
        replace(item, text=" ".join(str(item.text).split()[:TITLE_WORDS]))
        for item in items
        if item.text
    ]


STREAMS: Mapping[str, Callable[[], Texts]] = {
    "newsgroups": lambda: texts(newsgroup_posts()),
    "first words": lambda: texts(shortened(newsgroup_posts())),
    "uneven": lambda: uneven(newsgroup_posts()),
    "pydocs": lambda: texts(module_items()),
    "debtags": lambda: texts(list(read(data_path("debtags-texts.jsonl.xz")))),
}
CONFIRMATION: Mapping[str, Callable[[], Texts]] = {
    "newsgroups-test": lambda: texts(newsgroup_posts("test")),
    "sections": lambda: texts(machine_items("sections")),
    "source": lambda: texts(machine_items("source")),
}
"""Streams on which nothing was chosen."""


def compare(name: str, stream: Texts, sizes: Sequence[int], orders: int) -> Iterator[Line]:
    """Judge at every size with every method."""
    items = stream.items
    counts = CountVectorizer().fit_transform(str(item.text) for item in items)
    smallest = min(len(stream.order(seed)) for seed in range(orders))
    fits = [size for size in sizes if size < smallest]
    lines = [Line(name, size, {method: [] for method in [*SETTINGS, *SVMS]}) for size in fits]
    for seed in range(orders):
        print(f"  {name}: order {seed}", file=sys.stderr, flush=True)
        order = stream.order(seed)
        arrived = [items[i] for i in order[: max(fits) + FOLLOWING]]
        for method in SETTINGS:
            for line, share in zip(lines, learnt_online(method, arrived, fits), strict=True):
                line.shares[method].append(share)
        for line in lines:
            end = line.size + FOLLOWING
            for method, sublinear in SVMS.items():
                share = fitted(counts[order[:end]], arrived[:end], line.size, sublinear)
                line.shares[method].append(share)
    yield from lines


def learnt_online(method: str, items: Sequence[Item], sizes: Sequence[int]) -> Iterator[float]:
    """The share right at each size, of a tagger that learns on from size to size."""
    tagger, learnt = Tagger(make_learner(method)), 0
    for size in sizes:
        tagger.watch_together(items[learnt:size])
        learnt = size
        following = items[size : size + FOLLOWING]
        found = tagger.suggest_many([replace(item, labels=None) for item in following], k=1)
        right = [
            bool(first) and first[0].label in (item.labels or ())
            for first, item in zip(found, following, strict=True)
        ]
        yield float(np.mean(right))


def fitted(counts: sp.csr_matrix, items: Sequence[Item], size: int, sublinear: bool) -> float:
    """The share right of a LinearSVC on tf-idf, fitted on the first items.

    Words that do not occur in these are left out, as TfidfVectorizer does.
    """
    seen = np.flatnonzero(counts[:size].getnnz(axis=0))
    tfidf = TfidfTransformer(sublinear_tf=sublinear)
    train = tfidf.fit_transform(counts[:size, seen])
    test = tfidf.transform(counts[size:, seen])
    labels = [item.labels or () for item in items]
    if all(len(one) == 1 for one in labels):
        model = LinearSVC(random_state=0).fit(train, [one[0] for one in labels[:size]])
        best = model.predict(test)
    else:
        binarizer = MultiLabelBinarizer()
        Y = binarizer.fit_transform(labels[:size])
        kept = np.flatnonzero(Y.sum(axis=0) < size)
        models = (LinearSVC(random_state=0).fit(train, Y[:, label]) for label in kept)
        scores = np.column_stack([model.decision_function(test) for model in models])
        best = np.array(binarizer.classes_, dtype=object)[kept[scores.argmax(axis=1)]]
    return float(np.mean([x in one for x, one in zip(best, labels[size:], strict=True)]))


def verdict(lines: Sequence[Line]) -> Verdict:
    """Whether the race is right as often as the better LinearSVC, wherever that is required."""
    missed = [line for line in lines if not line.reached]
    names = (
        f"{line.stream} at {line.size:,} by {line.best_svm - line.mean(RACE):.3f}"
        for line in missed
    )
    behind = f" (behind on {', '.join(names)})" if missed else ""
    return Verdict(
        "at least as often right as the better LinearSVC, within "
        f"{MANY_LABELS_ALLOWANCE} where hundreds of labels meet {LEAST_ITEMS_OF_MANY_LABELS} items",
        not missed,
        f"so in {len(lines) - len(missed)} of {len(lines)} cells{behind}",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of all streams and sizes, and the verdict."""
    known = {**STREAMS, **CONFIRMATION}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", nargs="+", choices=known, metavar="NAME")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--orders", type=int, default=ORDERS, help="random orders (default: 5)")
    parser.add_argument(
        "--confirm", action="store_true", help="take the streams on which nothing was chosen"
    )
    options = parser.parse_args(arguments)
    chosen = options.streams or list(CONFIRMATION if options.confirm else STREAMS)
    lines: list[Line] = []
    for name in chosen:
        try:
            stream = known[name]()
        except NoData as missing:
            print(f"{name} is left out: {missing}\n")
            continue
        lines += compare(name, stream, sorted(options.sizes), options.orders)
    headers = ["stream", "items learnt", *SETTINGS, *SVMS, "race above the better LinearSVC"]
    print(table(headers, [line.cells() for line in lines]))
    print(f"\n{verdict(lines)}")


if __name__ == "__main__":
    main()
