"""The streams that P1 and P2 are run on: the papers' mail, and what is at hand in its place.

Rows are binary: a word is in a text or not, as in the papers. The order is fixed. A quick form
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
from experiments.experiment import Missing
from tagalong.readers import Item, read

# Those with one label a text first: folders, as in the papers.
AT_HAND = {
    "newsgroups": "posts, each in one of 20 groups",
    "pydocs": "docstrings of Python's library, each in one module",
    "debtags": "Debian packages under tags",
    "bibtex": "bookmarked papers under tags",
    "medical": "radiology reports under codes",
}
FEWEST = 20
"""A module of pydocs with fewer docstrings is left out, as Debian's tags are."""


def names() -> list[str]:
    """Return the streams: Enron's users where there is mail, and those at hand."""
    return [*(f"enron/{user}" for user in enron.users()), *AT_HAND]


def explained(shown: Sequence[str]) -> str:
    """Return what a report says about the streams it shows."""
    here = "; ".join(f"{name}: {AT_HAND[name]}" for name in shown if name in AT_HAND)
    mail = [name for name in shown if name not in AT_HAND]
    if mail:
        opening = f"Enron mail of {len(mail)} users, prepared as Bekkerman did, and beside it "
    else:
        opening = (
            "The papers' mail folders (Enron, seven users) are not among the data here; "
            "`--enron DIR` takes them as CMU's maildir or as Bekkerman's flat folders. In their "
            "place stand "
        )
    return (
        f"{opening}streams in a fixed order: {here}. Where a text has several labels, a mistake is "
        "a text of which some relevant label does not score above all others; with one label that "
        "is the papers' error. Rows are binary, a word is there or not, as in the papers."
    )


@cache
def load(name: str) -> streams.Stream:
    """Return a stream with binary rows and at least one label a row; Missing if it is not there."""
    try:
        found = _loaded(name)
    except streams.NoData as missing:
        text = str(missing).replace(os.environ.get(streams.VARIABLE) or "\0", "a folder")
        raise Missing(f"the stream {name}, as {text}") from None
    X = sp.csr_matrix(found.X, dtype=np.float32)
    X.eliminate_zeros()
    X.data[:] = 1.0
    return streams.Stream(name, X, found.Y, found.labels)


def _loaded(name: str) -> streams.Stream:
    if name.startswith("enron/"):
        user = name.removeprefix("enron/")
        if user not in enron.users():
            raise streams.NoData("--enron names no folder with that user's mail")
        return streams.from_texts(name, [_plain(item) for item in enron.messages(user)], 1)
    if name == "pydocs":
        return _pydocs()
    return streams.load(name)


def _plain(item: Item) -> Item:
    """Join the fields of a mail: the papers know words, not where they stand."""
    fields = [item.text] if isinstance(item.text, str) else list(item.text.values())
    return Item(item.id, "\n".join(fields), labels=item.labels)


def _pydocs() -> streams.Stream:
    """Docstrings in folders: the outermost package or module, if it has enough of them."""
    found = [replace(item, labels=item.labels[:1]) for item in read("pydocs:") if item.labels]
    counts = Counter(item.labels for item in found)
    return streams.from_texts("pydocs", [i for i in found if counts[i.labels] >= FEWEST])
