"""Streams on which contestants of a race leave, and start again because the answers change.

Python's `random` generates them: its numbers never change.
"""

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tests.changing_answers import SWAPPED_AT, changing_items

__all__ = ["LABELS", "N_FEATURES", "SWAPPED_AT", "changing_columns", "changing_words"]

N_FEATURES = 6
LABELS = ["a", "b", "c", "d", "e"]
SCALES = (1.0, 1.0, 1.0, 4.0, 0.25, 1.0)
SWAPPED_COLUMNS = (1, 0, 3, 2, 4)  # of the scores, after the change


def changing_columns(rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Dense rows with columns of unlike scales, and the indicator of two labels per row.

    From row ``SWAPPED_AT`` on, two pairs of labels have swapped their meaning.

    Parameters
    ----------
    rows : int
        Number of rows.
    """
    chance = random.Random(50)
    hidden = [[chance.randint(-8, 8) for _ in range(N_FEATURES)] for _ in LABELS]
    X = [[scale * chance.randint(-8, 8) / 4 for scale in SCALES] for _ in range(rows)]
    Y = np.zeros((rows, len(LABELS)))
    for number, row in enumerate(X):
        scores = [sum(w * x for w, x in zip(own, row, strict=True)) for own in hidden]
        if number >= SWAPPED_AT:
            scores = [scores[column] for column in SWAPPED_COLUMNS]
        best = sorted(range(len(LABELS)), key=lambda label: (-scores[label], label))
        Y[number, best[:2]] = 1
    return np.array(X), Y


def changing_words(rows: int) -> tuple[sp.csr_array, list[str]]:
    """Rows of a few words each, one label per row, two of which swap their meaning.

    Parameters
    ----------
    rows : int
        Number of rows.
    """
    numbers: dict[str, int] = {}
    indices, ends, labels = [], [0], []
    for words, label in changing_items(rows):
        indices += sorted(numbers.setdefault(word, len(numbers)) for word in words)
        ends.append(len(indices))
        labels.append(label)
    shape = (rows, len(numbers))
    return sp.csr_array((np.ones(len(indices)), indices, ends), shape=shape), labels
