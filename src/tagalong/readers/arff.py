"""Reader of multi-label ARFF in the conventions of Mulan and Meka, with dense or sparse rows."""

import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import BinaryIO, Unpack

from tagalong.learning.items import FeatureValue, Item, ReadError
from tagalong.readers.arff_header import (
    QUOTED,
    Attribute,
    choose_labels,
    parse_value,
    parse_values,
    read_header,
)
from tagalong.readers.arff_writer import write_arff
from tagalong.readers.columns import field_name
from tagalong.readers.lines import LINE_OPTIONS, LineOptions, Lines, parse_lines
from tagalong.readers.values import parse_number, short_repr
from tagalong.streams.format import Format, ItemOrError, Option

__all__ = ["FORMAT", "read_arff"]

_WEIGHT = re.compile(r",\s*\{([^{}]*)\}\s*$")
_SPARSE_CELL = re.compile(rf"\s*(\d{{1,9}})\s+(?:({QUOTED})\s*|([^,]*))(,|$)", re.DOTALL)


def read_arff(
    stream: BinaryIO,
    name: str,
    *,
    xml: str | None = None,
    labels: int | None = None,
    **line_options: Unpack[LineOptions],
) -> Iterator[ItemOrError]:
    """Yield the items of an ARFF file, skipping blank lines and comments."""
    lines = Lines(stream, name, **line_options)
    header = read_header(lines)
    rows = _RowParser(choose_labels(header, lines.place(), name, xml, labels))

    def parse(line: str, place: str) -> Item | None:
        line = line.strip()
        return rows.item(line, place) if line and not line.startswith("%") else None

    return parse_lines(lines, parse)


class _RowParser:
    """Parser of data rows."""

    def __init__(self, attributes: tuple[Attribute, ...]):
        self._attributes = attributes
        self._has_labels = any(each.kind == "label" for each in attributes)
        self._many_texts = sum(each.kind == "text" for each in attributes) > 1
        # A sparse row that omits a nominal attribute means the attribute's first value.
        self._defaults = {
            index: each.values[0]
            for index, each in enumerate(attributes)
            if each.values and each.values[0] != "0"
        }

    def item(self, line: str, place: str) -> Item:
        """Return the item of a data row."""
        weight = 1.0
        if line.endswith("}") and (found := _WEIGHT.search(line)):
            weight = parse_number(found[1], place, "the weight", least=0.0)
            line = line[: found.start()]
        if line.startswith("{"):
            if not line.endswith("}"):
                raise ReadError(place, "a sparse row must end with '}'")
            given = _parse_sparse(line[1:-1], place)
            if given and max(given) >= len(self._attributes):
                raise ReadError(
                    place,
                    f"there is no attribute {max(given)}: the file has {len(self._attributes)} "
                    "attributes, numbered from 0",
                )
            return self._item_from_cells(sorted((self._defaults | given).items()), weight, place)
        cells = list(parse_values(line, place))
        if len(cells) != len(self._attributes):
            raise ReadError(
                place,
                f"the row has {len(cells)} values, but there are {len(self._attributes)} "
                "attributes",
            )
        return self._item_from_cells(enumerate(cells), weight, place)

    def _item_from_cells(
        self, cells: Iterable[tuple[int, str | None]], weight: float, place: str
    ) -> Item:
        features: dict[str, FeatureValue] = {}
        texts: dict[str, str] = {}
        labels: list[str] = []
        known = self._has_labels
        for index, cell in cells:
            attribute = self._attributes[index]
            kind = attribute.kind
            if cell is None:
                known = known and kind != "label"
            elif attribute.values and cell not in attribute.values:
                raise ReadError(
                    place,
                    f"{short_repr(cell)} is not a value of the attribute {attribute.name!r}",
                )
            elif kind == "number":
                if value := _finite_number(cell, place, attribute.name):
                    features[attribute.name] = value
            elif kind == "label":
                value = _finite_number(cell, place, attribute.name)
                if value not in (0.0, 1.0):
                    raise ReadError(
                        place,
                        f"the label {attribute.name!r} must be 0 or 1, not {short_repr(cell)}",
                    )
                if value:
                    labels.append(attribute.name)
            elif kind == "text":
                texts[field_name(attribute.name)] = cell
            else:
                features[attribute.name] = cell
        text: str | dict[str, str] = texts if self._many_texts else "".join(texts.values())
        return Item("", text, features, tuple(labels) if known else None, weight, place)


def _finite_number(cell: str, place: str, name: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    return value if isfinite(value) else parse_number(cell, place, f"attribute {name!r}")


def _parse_sparse(body: str, place: str) -> dict[int, str | None]:
    """Return the cells of a sparse row: attribute numbers, from 0, and values."""
    if "'" in body or '"' in body or "?" in body:
        return dict(_sparse_pairs(body, place))
    try:
        cells = {int(index): value for index, value in map(str.split, body.split(","))}
    except ValueError:
        cells = {-1: ""}
    # The slower parser raises an error that names the faulty cell.
    return dict(_sparse_pairs(body, place)) if min(cells) < 0 else {**cells}


def _sparse_pairs(body: str, place: str) -> Iterator[tuple[int, str | None]]:
    at = 0
    if not body.strip():
        return
    while True:
        found = _SPARSE_CELL.match(body, at)
        if found is None:
            raise ReadError(
                place,
                f"{short_repr(body[at : at + 80])} must be the number of an attribute and a value",
            )
        yield int(found[1]), parse_value(found[2], found[3], place)
        if not found[4]:
            return
        at = found.end()


FORMAT = Format(
    "arff",
    "multi-label ARFF of Mulan (with its XML file) or of Meka",
    read_arff,
    extensions=(".arff",),
    options=(
        Option(
            "xml",
            "Mulan's XML file that lists the labels. By default the one next to the ARFF file.",
        ),
        Option(
            "labels",
            "Number of attributes that are labels: the last N, or the first N if given as -N.",
            "integer",
        ),
        *LINE_OPTIONS,
    ),
    write=write_arff,
    starts=(b"@relation", b"@RELATION"),
)
