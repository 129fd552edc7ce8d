"""The cost of a suggestion for a text, and of many: see `benchmarks.overhead`.

A tagger learns the first half of the texts and suggests labels for the others: one by one, and
together in one and in two threads. The native work in a suggestion is the time of the two native
calls that it makes, for the features of the text and for the first places. Methods take turns.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.text import texts
from tagalong import Tagger
from tagalong.readers import read

K = 5
TURNS = 5


def trained_tagger(count: int) -> tuple[Tagger, list[str]]:
    """A tagger that has learnt the first half of the texts, and the other half."""
    source, _ = texts(1)
    items = []
    for item in read(source):
        items.append(item)
        if len(items) == count:
            break
    half = len(items) // 2
    tagger = Tagger()
    for item in items[:half]:
        tagger.learn(item.text, item.labels or ())
    return tagger, [str(item.text) for item in items[half:]]


def methods(tagger: Tagger, items: list[str]) -> dict[str, Callable[[], Any]]:
    """The work that is timed, by name."""
    features, learner = tagger.features, tagger.learner
    native_features: Any = features._native
    native: Any = learner._native  # type: ignore[attr-defined]
    ties = tagger.history.count, tagger.history.last

    def native_work() -> None:
        for item in items:
            native.judge(native_features.read_rows([item], True).matrix(), K, *ties)

    return {
        "`suggest(text)`": lambda: [tagger.suggest(item, K) for item in items],
        "the native work in it": native_work,
        "`suggest_many(texts, threads=1)`": lambda: tagger.suggest_many(items, K, threads=1),
        "`suggest_many(texts, threads=2)`": lambda: tagger.suggest_many(items, K, threads=2),
        "`explain(text)`": lambda: [tagger.explain(item) for item in items[:100]],
    }


def suggestion_rows(count: int) -> list[list[str]]:
    """Rows of a table: method, best and median wall-clock time in µs per text, ratio."""
    tagger, items = trained_tagger(count)
    work = methods(tagger, items)
    assert tagger.suggest_many(items, K, threads=2) == [tagger.suggest(x, K) for x in items]
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(TURNS):
        for name, run in work.items():
            start = time.perf_counter()
            run()
            done = min(len(items), 100) if "explain" in name else len(items)
            times[name].append((time.perf_counter() - start) / done * 1e6)
    first = times["`suggest(text)`"]
    rows = []
    for name, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(first, found, strict=True))
        rows.append([name, f"{min(found):.1f}", f"{statistics.median(found):.1f}", f"{ratio:.2f}"])
    return rows
