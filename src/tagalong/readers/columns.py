"""Conversion of the rows of a table to items."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from tagalong.learning.items import FeatureValue, Item, ReadError
from tagalong.readers.dates import parse_date, parse_date_or_none
from tagalong.readers.values import (
    finite_number,
    parse_label,
    parse_labels,
    parse_number,
    short_repr,
    unique,
)

__all__ = ["MAX_COLUMNS", "Columns", "field_name"]

MAX_COLUMNS = 1 << 20
"""Number of columns of a table from which on its header is not taken for one."""

_YES, _NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")


@dataclass(frozen=True)
class Columns:
    """Positions of the columns of a table that hold the parts of an item.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    text, labels, id, features, weight, date : sequences of int
        Positions of the columns; at most one for `id`, `weight` and `date`.
    separator : str
        Separator of the labels in a cell; "" if each cell is one label.
    indicators : bool
        Whether label columns hold 0 or 1.
    unlabelled : str
        Meaning of an item without labels: "unknown" or "empty".
    must_be_date : bool
        Whether a cell of `date` that is not a date is an error; otherwise the item has no date.
    """

    names: Sequence[str]
    text: Sequence[int]
    labels: Sequence[int]
    id: Sequence[int]
    features: Sequence[int]
    weight: Sequence[int]
    date: Sequence[int]
    separator: str
    indicators: bool
    unlabelled: str
    must_be_date: bool

    def used(self) -> list[int]:
        """Return the positions of all columns that items use."""
        found = (self.text, self.labels, self.id, self.features, self.weight, self.date)
        return sorted({position for positions in found for position in positions})

    def item(self, row: Sequence[object], place: str) -> Item:
        """Return the item of a row."""
        weight = 1.0
        if self.weight and row[self.weight[0]] not in (None, ""):
            cell, column = row[self.weight[0]], f"column {self.names[self.weight[0]]!r}"
            if isinstance(cell, str):
                weight = parse_number(cell, place, column, least=0.0)
            else:
                weight = finite_number(cell, place, column, least=0.0)
        return Item(
            self._cell(row, self.id[0], place) if self.id else "",
            self._text(row, place),
            self._features(row, place) if self.features else {},
            self._labels(row, place),
            weight,
            place,
            date=self._date(row, place) if self.date else None,
        )

    def _date(self, row: Sequence[object], place: str) -> datetime | None:
        column = self.date[0]
        if self.must_be_date:
            return parse_date(row[column], place, f"column {self.names[column]!r}")
        return parse_date_or_none(row[column])

    def _cell(self, row: Sequence[object], column: int, place: str) -> str:
        value = row[column]
        if type(value) is str:
            return value
        if value is None:
            return ""
        if type(value) in (int, float):
            return str(value)
        raise ReadError(
            place, f"column {self.names[column]!r} must hold text, not {short_repr(value)}"
        )

    def _text(self, row: Sequence[object], place: str) -> str | dict[str, str]:
        if not self.text:
            return ""
        if len(self.text) == 1:
            return self._cell(row, self.text[0], place)
        fields = ((column, self._cell(row, column, place)) for column in self.text)
        return {field_name(self.names[column]): text for column, text in fields if text}

    def _features(self, row: Sequence[object], place: str) -> dict[str, FeatureValue]:
        found: dict[str, FeatureValue] = {}
        for column in self.features:
            value = row[column]
            if value is None or value == "":
                continue
            name = self.names[column]
            if type(value) is list:
                found |= {f"{name}={parse_label(each, place)}": 1.0 for each in value}
            elif type(value) is str:
                found[name] = _number_or_category(value, place, name)
            else:
                found[name] = finite_number(value, place, f"column {name!r}")
        return found

    def _labels(self, row: Sequence[object], place: str) -> tuple[str, ...] | None:
        if not self.labels:
            return None
        if self.indicators:
            return self._indicated_labels(row, place)
        found: list[str] = []
        known = self.unlabelled == "empty"
        for column in self.labels:
            value = row[column]
            if type(value) is str:
                parts = value.split(self.separator) if self.separator else (value,)
                found += [part.strip() for part in parts if part.strip()]
            elif type(value) is list:
                known = True
                found += parse_labels(value, place)
            elif value is not None:
                found.append(parse_label(value, place))
        return unique(found) if found or known else None

    def _indicated_labels(self, row: Sequence[object], place: str) -> tuple[str, ...] | None:
        found = []
        for column in self.labels:
            mark = str(row[column]).strip().lower()
            if mark in _YES:
                found.append(self.names[column])
            elif row[column] is None or not mark:
                return None
            elif mark not in _NO:
                raise ReadError(
                    place,
                    f"column {self.names[column]!r} must hold 0 or 1 (option indicators), "
                    f"not {short_repr(row[column])}",
                )
        return tuple(found)


def field_name(name: str) -> str:
    """Return the field name of a text column if there are several; "" for the column "text"."""
    return "" if name == "text" else name


def _number_or_category(cell: str, place: str, name: str) -> FeatureValue:
    try:
        value = float(cell)
    except ValueError:
        return cell
    if "_" in cell:  # float() accepts 1_000, which is a number in Python source only
        return cell
    if not isfinite(value):
        raise ReadError(
            place,
            f"column {name!r} holds {short_repr(cell)}; numbers must be finite, and a cell "
            "without a number must be empty",
        )
    return value
