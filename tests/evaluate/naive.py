"""Reference implementation of the measures: it enumerates all orders of equal scores."""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Row:
    """Scores of all labels, relevant labels, labels of unknown relevance, and the cut-off."""

    scores: tuple[float, ...]
    relevant: frozenset[int]
    unknown: frozenset[int] = frozenset()
    cutoff: float = 0.0

    @property
    def known(self) -> list[int]:
        return [label for label in range(len(self.scores)) if label not in self.unknown]

    @property
    def chosen(self) -> set[int]:
        return {label for label in self.known if self.scores[label] >= self.cutoff}

    @property
    def has_pair(self) -> bool:
        return 0 < len(self.relevant) < len(self.known)


def orders(row: Row) -> list[tuple[int, ...]]:
    """All rankings that are consistent with the scores."""
    permutations = itertools.permutations(row.known)
    return [
        order
        for order in permutations
        if all(row.scores[a] >= row.scores[b] for a, b in itertools.pairwise(order))
    ]


def ranking(row: Row, k: int) -> dict[str, float]:
    """The ranking measures of a row."""
    scores, relevant = row.scores, row.relevant
    irrelevant = [label for label in row.known if label not in relevant]
    pairs = [(r, n) for r in relevant for n in irrelevant]
    wrong = sum(scores[r] <= scores[n] for r, n in pairs)
    at_least = {r: [q for q in row.known if scores[q] >= scores[r]] for r in relevant}
    precision = [len(relevant.intersection(at_least[r])) / len(at_least[r]) for r in relevant]
    consistent = orders(row)
    best = sum(1 / math.log2(1 + place) for place in range(1, min(k, len(relevant)) + 1))
    gains = [
        sum(1 / math.log2(2 + place) for place, label in enumerate(order[:k]) if label in relevant)
        for order in consistent
    ]
    hits = [len(relevant.intersection(order[:k])) for order in consistent]
    return {
        "any_mistake": float(wrong > 0),
        "one_error": float(np.mean([order[0] not in relevant for order in consistent])),
        "ranking_loss": wrong / len(pairs),
        "coverage": float(max(len(labels) for labels in at_least.values())),
        "average_precision": float(np.mean(precision)),
        "precision_at_k": float(np.mean(hits)) / k,
        "ndcg_at_k": float(np.mean(gains)) / best,
    }


def f1_of(rows: Sequence[Row], label: int) -> float:
    """F1 of one label; NaN if it was neither relevant nor chosen."""
    relevant = [label in row.relevant for row in rows]
    chosen = [label in row.chosen for row in rows]
    either = sum(relevant) + sum(chosen)
    hits = sum(r and c for r, c in zip(relevant, chosen, strict=True))
    return 2 * hits / either if either else math.nan


def measures(rows: Sequence[Row], k: int) -> dict[str, float]:
    """All measures of some rows."""
    ranked = [ranking(row, k) for row in rows if row.has_pair]
    names: tuple[str, ...] = (
        "any_mistake",
        "one_error",
        "ranking_loss",
        "coverage",
        "average_precision",
    )
    names += ("precision_at_k", "ndcg_at_k")
    found = {name: mean([row[name] for row in ranked]) for name in names}
    found["hamming"] = mean(
        [len(row.chosen ^ row.relevant) / len(row.known) if row.known else 0.0 for row in rows]
    )
    found["subset_accuracy"] = mean([float(row.chosen == row.relevant) for row in rows])
    both = sum(len(row.chosen) + len(row.relevant) for row in rows)
    hits = sum(len(row.chosen & row.relevant) for row in rows)
    found["micro_f1"] = 2 * hits / both if both else math.nan
    labels = max((len(row.scores) for row in rows), default=0)
    each = [f1_of(rows, label) for label in range(labels)]
    found["macro_f1"] = mean([f1 for f1 in each if not math.isnan(f1)])
    return found


def mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
