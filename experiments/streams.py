"""The streams of P1 and P2: the papers' mail, and available data sets in its place.

Rows are binary, as in the papers: a text contains a word or not. The order is fixed. The quick form
takes the first rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import scipy.sparse as sp

from benchmarks import streams
from experiments import enron
from experiments.experiment import MissingData
from tagalong.readers import Item, read

# The first two have one label per text, like the folders of the papers.
AVAILABLE = {
    "newsgroups": "posts, each in one of 20 groups",
    "pydocs": "docstrings of Python's library, each in one module",
    "debtags": "Debian packages under tags",
    "bibtex": "bookmarked papers under tags",
    "medical": "radiology reports under codes",
}
MIN_DOCSTRINGS = 20
"""Modules of pydocs with fewer docstrings are left out, like rare tags of Debian."""


def names() -> list[str]:
    """Return the names of the streams: Enron users whose mail is available, and data sets."""
    return [*(f"enron/{user}" for user in enron.users()), *AVAILABLE]


def describe(shown: Sequence[str]) -> str:
    """Return the text of a report about its streams."""
    here = "; ".join(f"{name} ({AVAILABLE[name]})" for name in shown if name in AVAILABLE)
    mail = [name for name in shown if name not in AVAILABLE]
    if mail:
        opening = f"Streams: Enron mail of {len(mail)} users, prepared as by Bekkerman; and "
    else:
        opening = (
            "The papers' mail folders (Enron, seven users) were not available for this run; "
            "`--enron DIR` reads them as CMU's maildir or as Bekkerman's flat folders. Streams "
            "used instead: "
        )
    return (
        f"{opening}{here}. The order of the texts is fixed. A mistake is a text for which some "
        "relevant label does not score higher than all irrelevant labels; with one label per text, "
        "this is the papers' error. Rows are binary, as in the papers: a text contains a word or "
        "not."
    )


@cache
def load(name: str) -> streams.Stream:
    """Return a stream with binary rows; MissingData if its data is not available."""
    try:
        found = _loaded(name)
    except streams.NoData as missing:
        text = str(missing).replace(os.environ.get(streams.DATA_VARIABLE) or "\0", "a folder")
        raise MissingData(f"the stream {name}: {text}") from None
    X = sp.csr_matrix(found.X, dtype=np.float32)
    X.eliminate_zeros()
    X.data[:] = 1.0
    return streams.Stream(name, X, found.Y, found.labels)


def _loaded(name: str) -> streams.Stream:
    if name.startswith("enron/"):
        user = name.removeprefix("enron/")
        if user not in enron.users():
            raise streams.NoData("--enron does not name a folder with that user's mail")
        return streams.from_texts(name, [_join_fields(item) for item in enron.messages(user)], 1)
    if name == "pydocs":
        return _pydocs()
    return streams.load(name)


def _join_fields(item: Item) -> Item:
    """Join the fields of a mail: in the papers, words of all fields are the same features."""
    fields = [item.text] if isinstance(item.text, str) else list(item.text.values())
    return Item(item.id, "\n".join(fields), labels=item.labels)


def _pydocs() -> streams.Stream:
    """Docstrings labelled by their top-level package, if it has enough docstrings."""
    found = [replace(item, labels=item.labels[:1]) for item in read("pydocs:") if item.labels]
    counts = Counter(item.labels for item in found)
    return streams.from_texts("pydocs", [i for i in found if counts[i.labels] >= MIN_DOCSTRINGS])
