"""A Mulan data set: an ARFF file whose last word on labels is the XML file beside it.

Dense and sparse rows, numeric and nominal attributes. A nominal attribute with the values {0,1}
is one 0/1 column; any other becomes one column a value.
"""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(.+)", re.I)


@dataclass(frozen=True)
class Attribute:
    """A column of the file; ``values`` is empty for a numeric one."""

    name: str
    values: tuple[str, ...] = ()

    @property
    def default(self) -> str:
        """What a sparse row means by leaving the attribute out."""
        return self.values[0] if self.values else "0"

    @property
    def number(self) -> bool:
        return not self.values or set(self.values) == {"0", "1"}


def read_labels(path: Path) -> list[str]:
    """The label names of a Mulan XML file, in its order."""
    nodes = ElementTree.parse(path).getroot().iter()
    return [_plain(node.attrib["name"]) for node in nodes if node.tag.endswith("label")]


def read_arff(path: Path, labels: list[str]) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Features (float32) and label indicator of a gzipped ARFF file, rows in file order."""
    X = _Triplets()
    Y = _Triplets()
    n = 0
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        attributes = _header(lines)
        names = [attribute.name for attribute in attributes]
        if missing := sorted(set(labels) - set(names)):
            raise ValueError(f"{path}: no attribute for the labels {', '.join(missing)}")
        outputs = {names.index(label): column for column, label in enumerate(labels)}
        columns, width = _columns(attributes, set(outputs))
        for n, row in enumerate(_rows(lines, attributes), start=1):
            for index, text in row:
                if index in outputs:
                    Y.add(n - 1, outputs[index], float(text))
                elif attributes[index].number:
                    X.add(n - 1, columns[index], float(text))
                else:
                    X.add(n - 1, columns[index] + attributes[index].values.index(text), 1.0)
    return X.csr((n, width), np.float32), Y.csr((n, len(labels)), np.int8)


@dataclass
class _Triplets:
    """Nonzero entries, row by row."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, row: int, column: int, value: float) -> None:
        if value != 0.0:
            self.rows.append(row)
            self.columns.append(column)
            self.values.append(value)

    def csr(self, shape: tuple[int, int], dtype: npt.DTypeLike) -> sp.csr_matrix:
        values = np.array(self.values, dtype=dtype)
        matrix = sp.csr_matrix((values, (self.rows, self.columns)), shape=shape)
        matrix.sort_indices()
        return matrix


def _header(lines: Iterator[str]) -> list[Attribute]:
    """The attributes, up to and including the line @data."""
    attributes = []
    for line in lines:
        line = line.strip()
        if line.lower().startswith("@data"):
            break
        if found := _ATTRIBUTE.match(line):
            name, kind = found.groups()
            inside = kind.strip().strip("{}") if kind.startswith("{") else ""
            values = tuple(_plain(value) for value in inside.split(",")) if inside else ()
            attributes.append(Attribute(_plain(name), values))
    return attributes


def _rows(lines: Iterator[str], attributes: list[Attribute]) -> Iterator[list[tuple[int, str]]]:
    """Each row as (attribute, value), without the numbers a sparse row leaves out."""
    one_hot = {i: a.default for i, a in enumerate(attributes) if not a.number}
    for line in lines:
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            cells = (cell.split(None, 1) for cell in line.strip("{}").split(",") if cell.strip())
            given = {int(index): _plain(value) for index, value in cells}
            yield sorted((one_hot | given).items())
        else:
            yield list(enumerate(_plain(value) for value in line.split(",")))


def _columns(attributes: list[Attribute], skip: set[int]) -> tuple[dict[int, int], int]:
    """The first column of each feature attribute, and the number of columns."""
    columns = {}
    width = 0
    for index, attribute in enumerate(attributes):
        if index not in skip:
            columns[index] = width
            width += 1 if attribute.number else len(attribute.values)
    return columns, width


def _plain(text: str) -> str:
    """A name or value without its quotes and escapes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    return re.sub(r"\\(.)", r"\1", text)
