"""Texts with one label each that a machine has without network, to confirm choices made elsewhere.

Short descriptions of packages filed under their sections, from the apt index of a Debian machine;
and pieces of the source files of the Python standard library, filed under their packages.
"""

from __future__ import annotations

import subprocess
import sysconfig
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tagalong.readers import Item
from tagalong.readers.debtags import parse_paragraphs

MOST_ITEMS = 8000
LEAST_PER_LABEL = 20
PIECE_LINES = 30
SEED = 0
TEST_FOLDERS = {"test", "tests", "idle_test", "site-packages", "dist-packages", "__pycache__"}


class NoTexts(RuntimeError):
    """The machine does not have such texts."""


def section_items() -> list[Item]:
    """Packages of the apt index: the name and the short description, and the section."""
    try:
        command = ["apt-cache", "dumpavail"]
        found = subprocess.run(
            command, capture_output=True, check=True, encoding="utf-8", errors="replace"
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoTexts(f"the sections need the apt index of a Debian machine: {error}") from None
    items = {
        fields["Package"]: (fields["Section"].rpartition("/")[2], fields.get("Description", ""))
        for fields in parse_paragraphs(found.stdout.splitlines(keepends=True))
        if "Section" in fields
    }
    return _sample(
        Item(name, f"{name} {text.partition(chr(10))[0]}", {}, (section,))
        for name, (section, text) in items.items()
    )


def source_items() -> list[Item]:
    """Pieces of source files of the standard library: some lines, and the package or module."""
    root = Path(sysconfig.get_path("stdlib"))
    items = []
    for path in sorted(root.rglob("*.py")):
        file = path.relative_to(root)
        if not TEST_FOLDERS.isdisjoint(file.parts):
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        label = file.parts[0].removesuffix(".py")
        items += [
            Item(f"{file}:{begin + 1}", "\n".join(lines[begin : begin + PIECE_LINES]), {}, (label,))
            for begin in range(0, len(lines), PIECE_LINES)
        ]
    return _sample(items)


def _sample(items: Iterable[Item]) -> list[Item]:
    """Items of labels that occur often enough, at most ``MOST_ITEMS``, in random order."""
    kept = [item for item in items if item.text]
    counts = Counter(item.labels for item in kept)
    kept = [item for item in kept if counts[item.labels] >= LEAST_PER_LABEL]
    order = np.random.default_rng(SEED).permutation(len(kept))[:MOST_ITEMS]
    return [kept[i] for i in order]
