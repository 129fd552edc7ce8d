"""TextFeatures beside scikit-learn's HashingVectorizer, in MB per second.

    python -m benchmarks.text [--repeat 3]

The texts are in TAGALONG_DATA/debtags-texts.jsonl.xz; if that file is missing, they are the
docstrings of the Python library. Methods run alternately; times are processor time on one core. The
input bytes are the same; the words differ slightly (scikit-learn drops words of one letter).
"""

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import HashingVectorizer

from benchmarks.markdown import table
from benchmarks.turns import Times, take_turns
from tagalong.features import TextFeatures
from tagalong.readers import read

Method = tuple[str, Callable[[list[str]], object]]


def texts(limit: int | None = None) -> tuple[str, list[str]]:
    """The source of the texts, and the first ``limit`` texts."""
    path = Path(os.environ.get("TAGALONG_DATA", ""), "debtags-texts.jsonl.xz")
    source = str(path) if path.is_file() else "pydocs:"
    return source, [str(item.text) for item in islice(read(source), limit)]


def one_by_one(**params: Any) -> Callable[[list[str]], object]:
    def learn(items: list[str]) -> None:
        features = TextFeatures(**params)
        for item in items:
            features.read(item, learn=True)

    return learn


def methods() -> list[Method]:
    def sklearn(analyzer: str, n: tuple[int, int]) -> Callable[[list[str]], object]:
        vectorizer = HashingVectorizer(analyzer=analyzer, ngram_range=n, norm=None)
        return lambda items: vectorizer.transform(items)

    return [
        ("scikit-learn, words", sklearn("word", (1, 1))),
        ("words", TextFeatures().transform),
        ("words, learnt one by one", one_by_one()),
        ("words, tf-idf, learnt one by one", one_by_one(weighting="tfidf")),
        ("words, vocabulary, learnt one by one", one_by_one(buckets=None)),
        ("scikit-learn, pairs of words", sklearn("word", (1, 2))),
        ("pairs of words", TextFeatures(words=(1, 2)).transform),
        ("scikit-learn, characters 3-5", sklearn("char_wb", (3, 5))),
        ("words and characters 3-5", TextFeatures(chars=(3, 5)).transform),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, help="number of texts (default: all)")
    options = parser.parse_args()
    source, items = texts(options.limit)
    size = sum(len(item.encode()) for item in items) / 1e6
    work = {name: partial(run, items) for name, run in methods()}
    found = take_turns(work, options.repeat, time.process_time)
    print(f"{Path(source).name}: {len(items):,} texts, {size:.1f} MB\n")
    rows = []
    peer = Times()
    for name, times in found.items():
        if name.startswith("scikit-learn"):
            peer = times
        rows.append(
            [name, f"{size / times.best:.1f}", f"{size / times.median:.1f}", str(peer.over(times))]
        )
    print(table(["method", "MB/s, best", "median", "× scikit-learn"], rows))


if __name__ == "__main__":
    main()
