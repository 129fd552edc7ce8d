"""Real data sets as streams of rows, from the folder that TAGALONG_DATA names.

The folder holds debtags.npz, mediamill.npz, rcv1/rcv1sub1.npz, rcv1/rcv1sub2.npz, mulan/<name>/ and
newsgroups/20newsgroups-train.tab.xz. If debtags.npz is missing, that stream is built from the
machine's apt index; the docstrings (pydocs) are those of the running interpreter. For data sets
with a train and a test part, the stream is the train part, and <name>-test is the other one.
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

from benchmarks.data_check import warn_of_faults
from benchmarks.machine_texts import NoTexts, section_items, source_items
from tagalong.readers import Item, ReadError, read

DATA_VARIABLE = "TAGALONG_DATA"
MULAN = ("bibtex", "tmc2007", "yeast", "scene", "emotions", "medical", "flags")
SPARSE_BELOW = 0.5
"""A matrix with a smaller share of nonzeros is loaded as CSR, any other as a dense array."""

SEED = 0

Features = npt.NDArray[np.float32] | sp.csr_matrix


@dataclass(frozen=True)
class Stream:
    """Rows in the order in which they are learnt: features, relevant labels, label names."""

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
        """Mean number of nonzero features per row."""
        return (self.X.nnz if sp.issparse(self.X) else self.X.size) / self.rows

    @cached_property
    def unit_rows(self) -> Features:
        """X with rows of unit length, for learners that do not scale rows themselves."""
        scaled: Features = normalize(self.X)
        return scaled

    def head(self, rows: int) -> Stream:
        """The first ``rows`` rows."""
        return replace(self, X=self.X[:rows], Y=self.Y[:rows])

    def describe(self) -> str:
        return (
            f"{self.name}: {self.rows:,} rows, {self.features:,} features ({self.nnz:.1f} per "
            f"row), {len(self.labels)} labels ({self.Y.nnz / self.rows:.1f} per row)"
        )


class NoData(RuntimeError):
    """The file of a stream is missing; the message names it and says what to do."""


def names() -> list[str]:
    """Names that ``load`` accepts."""
    return list(_LOADERS)


def load(name: str) -> Stream:
    """Load a stream by name; warn (`FaultyData`) if its labels seem to be mixed up."""
    if name not in _LOADERS:
        raise NoData(f"unknown stream {name!r}; choose from {', '.join(names())}")
    X, Y, labels = _LOADERS[name]()
    if sp.issparse(X) and X.nnz > SPARSE_BELOW * X.shape[0] * X.shape[1]:
        X = X.toarray()
    warn_of_faults(name, X, Y, labels, from_texts=name in _FROM_TEXTS)
    return Stream(name, X, Y, labels)


Parts = tuple[Features, sp.csr_matrix, list[str]]


def data_path(*parts: str) -> Path:
    """The path of a file in the data folder; NoData if the file does not exist."""
    folder = os.environ.get(DATA_VARIABLE)
    wanted = "/".join(parts)
    if not folder:
        raise NoData(f"{DATA_VARIABLE} is not set; set it to the folder that contains {wanted}")
    path = Path(folder, *parts)
    if not path.exists():
        raise NoData(f"{DATA_VARIABLE} is {folder}, but that folder has no {wanted}")
    return path


def _debtags() -> Parts:
    try:
        path = data_path("debtags.npz")
    except NoData as missing:
        try:
            return _binary_words(read("debtags:"))
        except ReadError as error:
            raise NoData(f"{missing}; it cannot be built from apt either: {error}") from None
    with np.load(path) as parts:
        X = sp.csr_matrix(
            (parts["X_data"], parts["X_ind"], parts["X_ptr"]), shape=tuple(parts["X_shape"])
        )
        ones = np.ones(len(parts["Y_ind"]), dtype=np.int8)
        Y = sp.csr_matrix((ones, parts["Y_ind"], parts["Y_ptr"]), shape=tuple(parts["Y_shape"]))
        return X, Y, [str(label) for label in parts["labels"]]


def _rcv1(subset: str = "rcv1sub1") -> Parts:
    with np.load(data_path("rcv1", f"{subset}.npz")) as parts:
        data = parts["data"].astype(np.float32)
        X = sp.csr_matrix((data, parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))
        Y = sp.csr_matrix(parts["Y"], dtype=np.int8)
        return X, Y, [str(label) for label in parts["label_names"]]


def _mediamill(part: str = "train") -> Parts:
    with np.load(data_path("mediamill.npz")) as parts:
        Y = sp.csr_matrix(parts[f"y_{part}"], dtype=np.int8)
        X = parts[f"X_{part}"].astype(np.float32)
        return X, Y, [str(place) for place in range(Y.shape[1])]


def _shuffled(loader: Callable[[], Parts]) -> Parts:
    """The rows of a stream whose file order is no random one, in a random order."""
    X, Y, labels = loader()
    order = np.random.default_rng(SEED).permutation(Y.shape[0])
    return X[order], Y[order], labels


def _pydocs() -> Parts:
    return _binary_words(read("pydocs:"))


def _mulan(name: str, part: str = "train") -> Parts:
    stem = "tmc2007-500" if name == "tmc2007" else name
    nodes = ElementTree.parse(data_path("mulan", name, f"{stem}.xml")).getroot().iter()
    labels = [node.attrib["name"] for node in nodes if node.tag.endswith("label")]
    items = list(read(data_path("mulan", name, f"{stem}-{part}.arff.gz")))
    vectoriser = DictVectorizer(dtype=np.float32, sort=False)
    return vectoriser.fit_transform([item.features for item in items]), *_targets(items, labels)


def newsgroup_posts(part: str = "train") -> list[Item]:
    """Posts with one group each, shuffled because the file is sorted by group."""
    path = data_path("newsgroups", f"20newsgroups-{part}.tab.xz")
    posts = list(read(path, columns=("group", "text"), labels="group", quoting=False))[3:]
    posts = [post for post in posts if post.text]
    return [posts[i] for i in np.random.default_rng(SEED).permutation(len(posts))]


def _newsgroups(part: str = "train") -> Parts:
    return _binary_words(newsgroup_posts(part))


def machine_items(name: str) -> list[Item]:
    """Texts of this machine: "sections" of packages or "source" of the standard library."""
    try:
        return section_items() if name == "sections" else source_items()
    except NoTexts as missing:
        raise NoData(str(missing)) from None


def _machine_texts(name: str) -> Parts:
    return _binary_words(machine_items(name))


def from_texts(name: str, items: Iterable[Item], min_texts: int = 3) -> Stream:
    """A stream whose features are the words that occur in at least ``min_texts`` texts, as 0/1.

    Warns (`FaultyData`) if its labels seem to be mixed up.
    """
    X, Y, labels = _binary_words(items, min_texts)
    warn_of_faults(name, X, Y, labels, from_texts=True)
    return Stream(name, X, Y, labels)


def _binary_words(items: Iterable[Item], min_texts: int = 3) -> Parts:
    items = list(items)
    words = CountVectorizer(
        binary=True, min_df=min_texts, token_pattern=r"[a-z0-9]+", dtype=np.float32
    )
    X = words.fit_transform(item.text for item in items)
    X.sort_indices()
    return X, *_targets(items, sorted({label for item in items for label in item.labels or ()}))


def _targets(items: list[Item], labels: list[str]) -> tuple[sp.csr_matrix, list[str]]:
    binarizer = MultiLabelBinarizer(classes=labels, sparse_output=True)
    return binarizer.fit_transform([item.labels for item in items]).astype(np.int8), labels


_FROM_TEXTS = ("newsgroups", "newsgroups-test", "pydocs", "sections", "source")

_LOADERS: dict[str, Callable[[], Parts]] = {
    "debtags": _debtags,
    "rcv1": _rcv1,
    "mediamill": _mediamill,
    **{name: partial(_mulan, name) for name in MULAN},
    "newsgroups": _newsgroups,
    "pydocs": _pydocs,
    "rcv1-shuffled": partial(_shuffled, _rcv1),
    "rcv1-sub2": partial(_rcv1, "rcv1sub2"),
    "mediamill-shuffled": partial(_shuffled, _mediamill),
    "mediamill-test": partial(_mediamill, "test"),
    **{f"{name}-test": partial(_mulan, name, "test") for name in MULAN},
    "newsgroups-test": partial(_newsgroups, "test"),
    **{name: partial(_machine_texts, name) for name in ("sections", "source")},
}
