"""Animals with Attributes: the real table of attributes, and features that are made up for it.

The images' PHOG features are not to be had. In their place an image of class c has

    x = signs_c M + spread · o_c + noise · e,

252 numbers: M mixes the 85 signs of its attributes, the same for all animals, o_c is what the
class has besides, e what the image has; all are normal with variance 1, signs_c M too. How far
attributes can be told of animals that were never seen depends on ``spread`` and ``noise``, which
are chosen so that one-vs-rest errs about as often as in the paper, on 200 images (29.38%) and on
all of them (28.64%).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import streams

Array = npt.NDArray[Any]

FEATURES = 252
SPREAD, NOISE = 3.0, 6.0
TEST = (
    *("chimpanzee", "giant+panda", "hippopotamus", "humpback+whale", "leopard"),
    *("persian+cat", "pig", "raccoon", "rat", "seal"),
)


@cache
def table() -> tuple[Array, list[str], list[str]]:
    """Return classes × attributes (0 and 1), the classes and the attributes."""
    A = np.loadtxt(streams.data_path("awa", "predicate-matrix-binary.txt"), dtype=np.int8)
    names = [
        [line.split()[1] for line in streams.data_path("awa", file).read_text().splitlines()]
        for file in ("classes.txt", "predicates.txt")
    ]
    return A, names[0], names[1]


def is_test() -> npt.NDArray[np.bool_]:
    """Return which classes are kept for the test, as in the paper."""
    return np.isin(table()[1], TEST)


def images(
    train: int, test: int, seed: int, spread: float = SPREAD, noise: float = NOISE
) -> tuple[Array, Array, Array, Array]:
    """Return rows and attributes of images of the train classes, then of the test classes."""
    A = table()[0]
    rng = np.random.default_rng([seed, 252])
    signs = 2.0 * A - 1
    mix = rng.normal(size=(A.shape[1], FEATURES)) / np.sqrt(A.shape[1])
    centre = signs @ mix + spread * rng.normal(size=(len(A), FEATURES))
    out: list[Array] = []
    for classes, count in ((~is_test(), train), (is_test(), test)):
        drawn = rng.choice(np.flatnonzero(classes), count)
        rows = centre[drawn] + noise * rng.normal(size=(count, FEATURES))
        out += [rows.astype(np.float32), A[drawn]]
    return out[0], out[1], out[2], out[3]
