"""Fields: back-off features, and texts without the fields that a model was taught on.

    python -m benchmarks.fields [--orders 5] [--limit N]

The items are 20 Newsgroups posts with a subject (the first eight words), a body and, in some
streams, a made-up sender; Debian packages with name, summary and description; and Python objects
with name and docstring (TAGALONG_DATA). Both tables are for the default learner.

The first table is progressive: how often the first suggestion was right, over the first 500 items,
the next 1,500 and the rest, as a mean over random orders. The features are those of
``TextFeatures(backoff=False)``, the words of all fields without their fields, both of these
together, and ``backoff=True``. The last columns are the processor time per item in microseconds,
without reading the text, and the weights in megabytes.

The second table is about items that have other fields than those learnt: how often the first
suggestion is right for 1,000 items after 4,000 learnt. "unmatched" reads the fields as they are,
"matched" with ``match=True``. In the last column, the learnt items have the same form.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from benchmarks.markdown import table
from benchmarks.streams import SEED, NoData, data_path
from tagalong import LabelRanker, Tagger
from tagalong.features import TextFeatures
from tagalong.learning.examples import SparseRows
from tagalong.readers import Item, read

SUBJECT_WORDS = 8
SENDERS_PER_LABEL, STRANGERS, FAITHFUL = 120, 0.3, 0.7
"""A sender is new with probability STRANGERS; a known one writes to its group with FAITHFUL."""

CHUNK, LEARNT, TESTED = 2_000, 4_000, 1_000
SEGMENTS = {"1-500": (0, 500), "501-2,000": (500, 2_000), "2,001-": (2_000, None)}

Row = list[str]


def _posts(part: str) -> list[Item]:
    path = data_path("newsgroups", f"20newsgroups-{part}.tab.xz")
    posts = list(read(path, columns=("group", "text"), labels="group", quoting=False))[3:]
    return [post for post in posts if post.text]


def _mail(post: Item, rng: np.random.Generator, groups: list[str], sender: bool) -> Item:
    words = str(post.text).split()
    text = {"subject": " ".join(words[:SUBJECT_WORDS]), "body": " ".join(words[SUBJECT_WORDS:])}
    if sender:
        assert post.labels
        if rng.random() < STRANGERS:
            name = f"new{rng.integers(10**9)}"
        else:
            faithful = rng.random() < FAITHFUL
            group = post.labels[0] if faithful else groups[int(rng.integers(len(groups)))]
            # A few senders write most of the mail.
            number = int(SENDERS_PER_LABEL * rng.random() ** 2)
            name = f"{group.replace('.', '')}{number}"
        text = {"from": name, **text}
    return replace(post, text=text)


def mailbox(part: str, sender: bool) -> Callable[[], list[Item]]:
    def load() -> list[Item]:
        rng = np.random.default_rng(20)
        posts = _posts(part)
        groups = sorted({label for post in posts for label in post.labels or ()})
        return [_mail(post, rng, groups, sender) for post in posts]

    return load


def debian() -> list[Item]:
    found = []
    for item in read(data_path("debtags-texts.jsonl.xz")):
        head, _, description = str(item.text).partition("\n")
        name, _, summary = head.partition(" ")
        text = {"name": name, "summary": summary, "description": description}
        found.append(replace(item, text=text))
    return found


def python_objects() -> list[Item]:
    found = []
    for item in read("pydocs:"):
        name, _, doc = str(item.text).partition("\n")
        labels = tuple(label for label in item.labels or () if ":" not in label)
        found.append(replace(item, text={"name": name, "doc": doc}, labels=labels))
    return found


STREAMS: dict[str, Callable[[], list[Item]]] = {
    "newsgroups, train": mailbox("train", sender=False),
    "newsgroups, train, senders": mailbox("train", sender=True),
    "pydocs": python_objects,
    "newsgroups, test": mailbox("test", sender=False),
    "newsgroups, test, senders": mailbox("test", sender=True),
    "Debian tags": debian,
}


def without_fields(item: Item) -> Item:
    assert not isinstance(item.text, str)
    return replace(item, text=" ".join(item.text.values()))


def first_field(item: Item) -> Item:
    """The item with the text of its first field but the sender, as plain text."""
    assert not isinstance(item.text, str)
    return replace(item, text=next(text for field, text in item.text.items() if field != "from"))


def rows_of(items: Iterable[Item], backoff: bool = False) -> sp.csr_array:
    return TextFeatures(names=False, backoff=backoff).transform(items)


def with_both(items: list[Item]) -> sp.csr_array:
    both: sp.csr_array = (rows_of(items) + rows_of(map(without_fields, items))).tocsr()
    both.sort_indices()
    return both


FEATURES: dict[str, Callable[[list[Item]], sp.csr_array]] = {
    "`backoff=False`": rows_of,
    "no fields": lambda items: rows_of(map(without_fields, items)),
    "both": with_both,
    "`backoff=True`": lambda items: rows_of(items, backoff=True),
}


@dataclass(frozen=True)
class Run:
    """Whether each first suggestion was right, seconds per item, and megabytes of weights."""

    right: npt.NDArray[np.bool_]
    seconds: float
    megabytes: float


def progressive(X: sp.csr_array, labels: list[tuple[str, ...]]) -> Run:
    ranker = LabelRanker(n_features=X.shape[1])
    ranker.start()
    right: list[bool] = []
    seconds = 0.0
    for start in range(0, X.shape[0], CHUNK):
        part = X[start : start + CHUNK]
        rows = SparseRows(part.indptr.astype(np.int64), part.indices.astype(np.int32), part.data)
        targets = ranker.encode_rows(labels[start : start + CHUNK], None)
        began = time.process_time()
        rounds = ranker.watch_rows(rows, targets)
        seconds += time.process_time() - began
        best, highest = rounds.scores.argmax(axis=1), rounds.scores.max(axis=1)
        ends, relevant = rounds.relevant.indptr, rounds.relevant.indices
        right += [
            bool(np.isfinite(highest[row])) and best[row] in relevant[ends[row] : ends[row + 1]]
            for row in range(len(best))
        ]
    return Run(np.array(right), seconds / X.shape[0], ranker.bytes_of_weights / 1e6)


def progressive_rows(name: str, items: list[Item], orders: int) -> Iterator[Row]:
    for kind, make in FEATURES.items():
        X = make(items)
        runs = []
        for seed in range(orders):
            order = np.random.default_rng(seed).permutation(len(items))
            runs.append(progressive(X[order], [items[i].labels or () for i in order]))
        accuracy = [
            f"{np.mean([run.right[first:last].mean() for run in runs]):.3f}"
            for first, last in SEGMENTS.values()
        ]
        cost = f"{1e6 * np.median([run.seconds for run in runs]):.0f}"
        yield [name, kind, *accuracy, cost, f"{runs[0].megabytes:.0f}"]


def accuracy(learnt: Iterable[Item], tested: list[Item], match: bool = True, **params: Any) -> str:
    tagger = Tagger(features=TextFeatures(names=False, **params))
    for item in learnt:
        tagger.learn(item)
    right = 0
    for item in tested:
        scores, _ = tagger.learner.score_one(tagger.features.read(item, match=match))
        right += tagger.labels[int(scores.argmax())] in (item.labels or ())
    return f"{right / len(tested):.3f}"


def other_form_rows(name: str, items: list[Item]) -> Iterator[Row]:
    order = np.random.default_rng(SEED).permutation(len(items))[: LEARNT + TESTED]
    mails = [items[i] for i in order]
    plain = [without_fields(item) for item in mails]
    firsts = [first_field(item) for item in mails]
    for form, learnt, tested, alike in (
        ("fields → plain text", mails, plain, plain),
        ("fields → first field, plain", mails, firsts, firsts),
        ("plain text → fields", plain, mails, mails),
    ):
        new = tested[-TESTED:]
        yield [
            name,
            form,
            accuracy(learnt[:-TESTED], new, match=False, backoff=False),
            accuracy(learnt[:-TESTED], new, backoff=False),
            accuracy(learnt[:-TESTED], new, backoff=False, buckets=None),
            accuracy(learnt[:-TESTED], new, backoff=True),
            accuracy(alike[:-TESTED], new, backoff=True),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=5, help="random orders per stream")
    parser.add_argument("--limit", type=int, help="number of items per stream (default: all)")
    parser.add_argument("--streams", nargs="*", default=list(STREAMS), choices=list(STREAMS))
    options = parser.parse_args()
    streams = {}
    for name in options.streams:
        items = STREAMS[name]()
        order = np.random.default_rng(SEED).permutation(len(items))[: options.limit]
        streams[name] = [items[i] for i in order]
    first = [
        row for name in streams for row in progressive_rows(name, streams[name], options.orders)
    ]
    print(table(["stream", "features", *SEGMENTS, "µs", "MB"], first), flush=True)
    second = [row for name in streams for row in other_form_rows(name, streams[name])]
    columns = ["unmatched", "matched", "matched, `buckets=None`", "`backoff=True`", "same form"]
    print("\n" + table(["stream", "learnt → suggested for", *columns], second))


if __name__ == "__main__":
    try:
        main()
    except NoData as error:
        raise SystemExit(str(error)) from None
