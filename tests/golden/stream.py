"""The stream of the golden runs. Python's `random` generates it: its numbers never change."""

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tests.golden.settings import N_FEATURES

N_LABELS = 19
ROWS = 70
LABELS = [f"label-{y}" for y in range(N_LABELS)]
WORDS = [
    "invoice",
    "flight",
    "birthday",
    "Grüße",
    "東京",
    "ticket",
    "due",
    "hotel",
    "mother",
    "bank",
]

_random = random.Random(17)


def _rows() -> npt.NDArray[np.float64]:
    """Return rows with a third of the features; multiples of 1/8 are exact in float32."""
    found = [
        [_random.randint(-4, 15) / 8 if _random.random() < 0.33 else 0.0 for _ in range(N_FEATURES)]
        for _ in range(ROWS)
    ]
    return np.array(found)


def _sets(X: npt.NDArray[np.float64]) -> list[list[int]]:
    """Return up to three labels per row, by hidden integer weights; every ninth row has none."""
    hidden = [[_random.randint(-8, 8) for _ in range(N_FEATURES)] for _ in range(N_LABELS)]
    found = []
    for number, row in enumerate(X.tolist()):
        scores = [sum(w * x for w, x in zip(weights, row, strict=True)) for weights in hidden]
        best = sorted(range(N_LABELS), key=lambda label: (-scores[label], label))
        found.append(sorted(best[: 0 if number % 9 == 8 else 1 + number % 3]))
    return found


X = _rows()
SPARSE = sp.csr_array(X)
SETS = _sets(X)
NAMED_SETS = [[LABELS[label] for label in labels] for labels in SETS]
SINGLE = [labels[0] if labels else "label-0" for labels in NAMED_SETS]
WEIGHTS = np.array([0.5 if number % 7 == 3 else 1.0 for number in range(ROWS)])
INDICATOR = np.zeros((ROWS, N_LABELS))
for _row, _labels in enumerate(SETS):
    INDICATOR[_row, _labels] = 1.0
    if _row % 5 == 2:  # one label of unknown relevance
        INDICATOR[_row, (_row * 3) % N_LABELS] = np.nan
GRADES = [["poor", "fair", "good"][1 + (row[0] > row[1]) - (row[0] < row[2])] for row in X]
RELEVANCES = np.array([(number * 7 + int(row[0] * 8)) % 4 for number, row in enumerate(X)])
QUERY_SIZES = [7] * (ROWS // 7)

PAIRS = [
    (
        SPARSE.indices[start:end].astype(np.int64),
        SPARSE.data[start:end],
    )
    for start, end in zip(SPARSE.indptr[:-1], SPARSE.indptr[1:], strict=True)
]
NAMED = [
    {f"word-{i}": float(v) for i, v in zip(pair[0].tolist(), pair[1], strict=True)}
    for pair in PAIRS
]
TEXTS = [
    {"subject": WORDS[number % 10], "": " ".join(_random.choices(WORDS, k=2 + number % 6))}
    for number in range(ROWS)
]


def items() -> list[dict[str, Any]]:
    """Return items with text, labels and weight, as objects of a JSONL file."""
    return [
        {"id": str(number), "text": text, "labels": labels, "weight": float(weight)}
        for number, (text, labels, weight) in enumerate(
            zip(TEXTS, NAMED_SETS, WEIGHTS, strict=True)
        )
    ]
