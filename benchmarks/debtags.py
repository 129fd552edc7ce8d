"""The Debian-tags stream: file packages under their tags, from the machine's own apt index.

``apt-cache dumpavail`` prints a paragraph a package. The text of an item is the package's name
and description, the labels are its tags. Words are runs of ASCII letters and digits, in lower
case, each counted once an item. Words in fewer than 3 packages and tags on fewer than 20 are
dropped, then packages without a tag; what is left is put into a fixed random order.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

MIN_PACKAGES_A_WORD = 3
MIN_PACKAGES_A_TAG = 20
SEED = 0
HOW_TO_GET_IT = (
    "The Debian-tags stream is built from the package index of a Debian machine. As root, run\n"
    "    apt-get -o Acquire::Languages=en update\n"
    "(a Debian or a container of one, such as debian:bookworm, whose sources name a Debian\n"
    "archive), or set TAGALONG_DATA to a folder that holds debtags.npz."
)

_FIELD = re.compile(r"([^\s:]+):\s?(.*)")
_BRACES = re.compile(r"(.*)\{(.*)\}(.*)")


class NoPackageIndex(RuntimeError):
    """There is no apt here, or its index has no tagged packages."""


def build() -> tuple[sp.csr_matrix, sp.csr_matrix, list[str]]:
    """Features (binary float32), label indicator and labels, in stream order."""
    return vectorise(tagged(paragraphs(dumpavail())))


def dumpavail() -> str:
    """Everything apt knows about the packages it could install."""
    if shutil.which("apt-cache") is None:
        raise NoPackageIndex(f"apt-cache is not on this machine.\n{HOW_TO_GET_IT}")
    run = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=False)
    if run.returncode != 0:
        reason = run.stderr.decode("utf-8", "replace").strip()
        raise NoPackageIndex(f"apt-cache dumpavail failed: {reason}\n{HOW_TO_GET_IT}")
    return run.stdout.decode("utf-8", "replace")


def paragraphs(dump: str) -> Iterator[dict[str, str]]:
    """The fields of each package; a line that opens with a space goes on with the last field."""
    for paragraph in re.split(r"\n\s*\n", dump):
        fields: dict[str, str] = {}
        name = ""
        for line in paragraph.splitlines():
            if line[:1].isspace():
                fields[name] = fields.get(name, "") + "\n" + line.strip()
            elif found := _FIELD.match(line):
                name = found[1]
                fields[name] = found[2]
        if "Package" in fields:
            yield fields


def tagged(packages: Iterable[dict[str, str]]) -> dict[str, tuple[str, set[str]]]:
    """Package name -> (text, tags), for packages that have tags; of two versions the first."""
    items: dict[str, tuple[str, set[str]]] = {}
    for fields in packages:
        name = fields["Package"]
        if "Tag" not in fields or name in items:
            continue
        description = max(fields.get("Description", ""), fields.get("Description-en", ""), key=len)
        items[name] = (f"{name} {description}", expand(fields["Tag"]))
    return items


def expand(tags: str) -> set[str]:
    r"""The tags of a Tag field.

    Examples
    --------
    >>> sorted(expand("implemented-in::c, role::{program,\nshared-lib}"))
    ['implemented-in::c', 'role::program', 'role::shared-lib']
    """
    found = set()
    for tag in re.split(r",(?![^{]*\})", tags.replace("\n", " ")):
        braces = _BRACES.fullmatch(tag.strip())
        if braces is None:
            found.add(tag.strip())
        else:
            before, inside, after = braces.groups()
            found.update(before + part.strip() + after for part in inside.split(","))
    return found - {""}


def vectorise(
    items: dict[str, tuple[str, set[str]]],
) -> tuple[sp.csr_matrix, sp.csr_matrix, list[str]]:
    """Count, drop what is rare, and permute."""
    names = sorted(items)
    counts: dict[str, int] = {}
    for name in names:
        for tag in items[name][1]:
            counts[tag] = counts.get(tag, 0) + 1
    labels = sorted(tag for tag, count in counts.items() if count >= MIN_PACKAGES_A_TAG)
    if not labels:
        raise NoPackageIndex(
            f"The package index has {len(items)} tagged packages: too few.\n{HOW_TO_GET_IT}"
        )
    column = {tag: place for place, tag in enumerate(labels)}
    words = CountVectorizer(
        binary=True, min_df=MIN_PACKAGES_A_WORD, token_pattern=r"[a-z0-9]+", dtype=np.float32
    )
    X = words.fit_transform(items[name][0] for name in names)
    marks = [sorted(column[tag] for tag in items[name][1] if tag in column) for name in names]
    ends = np.concatenate([[0], np.cumsum([len(mark) for mark in marks])])
    ones = np.ones(ends[-1], dtype=np.int8)
    indices = np.concatenate(marks).astype(np.int32)
    Y = sp.csr_matrix((ones, indices, ends), shape=(len(names), len(labels)))
    order = np.random.default_rng(SEED).permutation(np.flatnonzero(np.diff(ends)))
    X = sp.csr_matrix(X[order])
    X.sort_indices()
    return X, sp.csr_matrix(Y[order]), labels
