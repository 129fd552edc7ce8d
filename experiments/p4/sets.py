"""P4's data sets, as far as they are available, with a training and a test part.

Rows have unit length. Experiments that need a bias add a constant feature: M3L has no bias, and the
paper does not say how it handled it.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer
from sklearn.preprocessing import StandardScaler, normalize

from benchmarks import streams
from benchmarks.data_check import warn_of_faults
from experiments.experiment import MissingData
from experiments.p4 import animals
from tagalong.readers import read

Array = npt.NDArray[Any]

AVAILABLE = {
    "animals": "the real attributes of 50 animals with generated features, in place of the images "
    "of Animals with Attributes; the generator was calibrated so that the error of one-vs-rest is "
    "about the paper's",
    "rcv1": "two samples of RCV1, 6,000 texts each",
    "tmc2007": "the SIAM reports, reduced to 500 words where the paper had 30,438",
    "mediamill": "Media Mill, as in the paper",
    "yeast": "Yeast, as in the paper",
}
STANDARDISED = ("mediamill", "yeast")
"""Dense data sets, whose columns are standardised before rows are scaled to unit length."""


class Part(NamedTuple):
    """Rows and their labels (0 and 1)."""

    X: Any
    Y: Array

    def take(self, rows: Any) -> Part:
        return Part(self.X[rows], self.Y[rows])


class Set(NamedTuple):
    train: Part
    test: Part


def describe(names: list[str]) -> str:
    """Return the text of a report about its data sets."""
    described = [f"{name} ({AVAILABLE[name]})" for name in names if name in AVAILABLE]
    return f"Data sets: {'; '.join(described)}."


@contextmanager
def missing_set_named(name: str) -> Iterator[None]:
    """Convert NoData into MissingData with the name of the data set."""
    try:
        yield
    except streams.NoData as missing:
        text = str(missing).replace(os.environ.get(streams.DATA_VARIABLE) or "\0", "a folder")
        raise MissingData(f"the set {name}: {text}") from None


@cache
def load(name: str) -> Set:
    """Return a data set with rows of unit length; MissingData if it is not available."""
    with missing_set_named(name):
        if name == "animals":
            found = animals.images(24_292, 6_180, seed=0)
            train, test = Part(*found[:2]), Part(*found[2:])
        else:
            train, test = _READERS[name](name)
            _warn_of_faults(name, train, test)
    if name in STANDARDISED:
        scale = StandardScaler().fit(train.X)
        train, test = (Part(scale.transform(part.X), part.Y) for part in (train, test))
    return Set(*(Part(unit_rows(part.X), part.Y.astype(np.float64)) for part in (train, test)))


def _warn_of_faults(name: str, train: Part, test: Part) -> None:
    stack: Any = sp.vstack if sp.issparse(train.X) else np.vstack
    labels = [str(label) for label in range(train.Y.shape[1])]
    both = stack([train.X, test.X]), np.vstack([train.Y, test.Y])
    warn_of_faults(name, *both, labels, border=train.X.shape[0])


def unit_rows(X: Any) -> Any:
    """Scale rows to unit length."""
    return normalize(X.astype(np.float32))


def with_constant(X: Any) -> Any:
    """Append a constant feature."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    stack: Any = sp.hstack if sp.issparse(X) else np.hstack
    found = stack([X, ones])
    return found.tocsr() if sp.issparse(X) else found


def _rcv1(name: str) -> tuple[Part, Part]:
    parts = []
    for file in ("rcv1sub1.npz", "rcv1sub2.npz"):
        with np.load(streams.data_path("rcv1", file)) as kept:
            X = sp.csr_matrix(
                (kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"])
            )
            parts.append(Part(X, kept["Y"]))
    return parts[0], parts[1]


def _mediamill(name: str) -> tuple[Part, Part]:
    with np.load(streams.data_path("mediamill.npz")) as kept:
        train, test = (Part(kept[f"X_{part}"], kept[f"y_{part}"]) for part in ("train", "test"))
    return train, test


def _mulan(name: str) -> tuple[Part, Part]:
    stem = "tmc2007-500" if name == "tmc2007" else name
    nodes = ElementTree.parse(streams.data_path("mulan", name, f"{stem}.xml")).getroot().iter()
    labels = [node.attrib["name"] for node in nodes if node.tag.endswith("label")]
    column = {label: place for place, label in enumerate(labels)}
    vectoriser = DictVectorizer(dtype=np.float32)
    both = []
    for part in ("train", "test"):
        items = list(read(streams.data_path("mulan", name, f"{stem}-{part}.arff.gz")))
        rows = [item.features for item in items]
        X = vectoriser.fit_transform(rows) if part == "train" else vectoriser.transform(rows)
        Y = np.zeros((len(items), len(column)), dtype=np.int8)
        for row, item in enumerate(items):
            Y[row, [column[label] for label in item.labels or ()]] = 1
        both.append(Part(X if name == "tmc2007" else X.toarray(), Y))
    return both[0], both[1]


_READERS = {"rcv1": _rcv1, "mediamill": _mediamill, "tmc2007": _mulan, "yeast": _mulan}
