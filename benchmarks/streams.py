"""Real streams, in stream order, from the folder that TAGALONG_DATA names.

The folder holds debtags.npz, mediamill.npz, rcv1/rcv1sub1.npz, mulan/<name>/ and
newsgroups/20newsgroups-train.tab.xz. Where debtags.npz is absent, that stream is built from the
machine's apt index. Of sets cut into two parts it is the train part.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import MultiLabelBinarizer, normalize

from tagalong.readers import Item, ReadError, read

VARIABLE = "TAGALONG_DATA"
MULAN = ("bibtex", "tmc2007", "yeast", "scene", "emotions", "medical", "flags")
SPARSE_BELOW = 0.5
"""A matrix with a smaller share of nonzeros is handed on as CSR, any other as a dense array."""

SEED = 0

Features = npt.NDArray[np.float32] | sp.csr_matrix


@dataclass(frozen=True)
class Stream:
    """Rows in the order in which they are met: features, relevant labels, label names."""

    name: str
    X: Features
    Y: sp.csr_matrix
    labels: list[str]

    @property
    def rows(self) -> int:
        return int(self.Y.shape[0])

    @property
    def features(self) -> int:
        return int(self.X.shape[1])

    @property
    def nnz(self) -> float:
        """Nonzero features a row, on average."""
        return (self.X.nnz if sp.issparse(self.X) else self.X.size) / self.rows

    @cached_property
    def unit(self) -> Features:
        """X with rows of unit length, for peers that do not scale rows themselves."""
        scaled: Features = normalize(self.X)
        return scaled

    def head(self, rows: int) -> Stream:
        """The first ``rows`` rows."""
        return replace(self, X=self.X[:rows], Y=self.Y[:rows])

    def describe(self) -> str:
        return (
            f"{self.name}: {self.rows:,} rows, {self.features:,} features ({self.nnz:.1f} a row), "
            f"{len(self.labels)} labels ({self.Y.nnz / self.rows:.1f} a row)"
        )


class NoData(RuntimeError):
    """A stream's file is not to be found; the message says which and what to do."""


def names() -> list[str]:
    """The streams that ``load`` knows."""
    return list(_LOADERS)


def load(name: str) -> Stream:
    """Load a stream by its name."""
    if name not in _LOADERS:
        raise NoData(f"no stream {name!r}; there are {', '.join(names())}")
    X, Y, labels = _LOADERS[name]()
    if sp.issparse(X) and X.nnz > SPARSE_BELOW * X.shape[0] * X.shape[1]:
        X = X.toarray()
    return Stream(name, X, Y, labels)


Parts = tuple[Features, sp.csr_matrix, list[str]]


def data_path(*parts: str) -> Path:
    """A file of the data folder, or an error that names what is missing."""
    folder = os.environ.get(VARIABLE)
    wanted = "/".join(parts)
    if not folder:
        raise NoData(f"set {VARIABLE} to the folder that holds {wanted}: it is not set")
    path = Path(folder, *parts)
    if not path.exists():
        raise NoData(f"{VARIABLE} is {folder}, where there is no {wanted}")
    return path


def _debtags() -> Parts:
    try:
        path = data_path("debtags.npz")
    except NoData as missing:
        try:
            return _texts(read("debtags:"))
        except ReadError as error:
            raise NoData(f"{missing}; nor can it be built here: {error}") from None
    with np.load(path) as parts:
        X = sp.csr_matrix(
            (parts["X_data"], parts["X_ind"], parts["X_ptr"]), shape=tuple(parts["X_shape"])
        )
        ones = np.ones(len(parts["Y_ind"]), dtype=np.int8)
        Y = sp.csr_matrix((ones, parts["Y_ind"], parts["Y_ptr"]), shape=tuple(parts["Y_shape"]))
        return X, Y, [str(label) for label in parts["labels"]]


def _rcv1() -> Parts:
    with np.load(data_path("rcv1", "rcv1sub1.npz")) as parts:
        data = parts["data"].astype(np.float32)
        X = sp.csr_matrix((data, parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        Y = sp.csr_matrix(parts["Y"], dtype=np.int8)
        return X, Y, [str(label) for label in parts["label_names"]]


def _mediamill() -> Parts:
    with np.load(data_path("mediamill.npz")) as parts:
        Y = sp.csr_matrix(parts["y_train"], dtype=np.int8)
        return parts["X_train"].astype(np.float32), Y, [str(place) for place in range(Y.shape[1])]


def _mulan(name: str) -> Parts:
    stem = "tmc2007-500" if name == "tmc2007" else name
    nodes = ElementTree.parse(data_path("mulan", name, f"{stem}.xml")).getroot().iter()
    labels = [node.attrib["name"] for node in nodes if node.tag.endswith("label")]
    items = list(read(data_path("mulan", name, f"{stem}-train.arff.gz")))
    vectoriser = DictVectorizer(dtype=np.float32, sort=False)
    return vectoriser.fit_transform([item.features for item in items]), *_targets(items, labels)


def newsgroup_posts() -> list[Item]:
    """One group a post. The file is sorted by group, so the posts are put into a random order."""
    path = data_path("newsgroups", "20newsgroups-train.tab.xz")
    posts = list(read(path, columns=("group", "text"), labels="group", quoting=False))[3:]
    posts = [post for post in posts if post.text]
    return [posts[i] for i in np.random.default_rng(SEED).permutation(len(posts))]


def _newsgroups() -> Parts:
    return _texts(newsgroup_posts())


def from_texts(name: str, items: Iterable[Item], least: int = 3) -> Stream:
    """A stream of binary words that occur in at least ``least`` texts."""
    return Stream(name, *_texts(items, least))


def _texts(items: Iterable[Item], least: int = 3) -> Parts:
    """Binary words that occur in at least ``least`` texts."""
    items = list(items)
    words = CountVectorizer(binary=True, min_df=least, token_pattern=r"[a-z0-9]+", dtype=np.float32)
    X = words.fit_transform(item.text for item in items)
    X.sort_indices()
    return X, *_targets(items, sorted({label for item in items for label in item.labels or ()}))


def _targets(items: list[Item], labels: list[str]) -> tuple[sp.csr_matrix, list[str]]:
    binarizer = MultiLabelBinarizer(classes=labels, sparse_output=True)
    return binarizer.fit_transform([item.labels for item in items]).astype(np.int8), labels


_LOADERS: dict[str, Callable[[], Parts]] = {
    "debtags": _debtags,
    "rcv1": _rcv1,
    "mediamill": _mediamill,
    **{name: partial(_mulan, name) for name in MULAN},
    "newsgroups": _newsgroups,
}
