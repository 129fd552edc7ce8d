"""Tables: which columns are the text, the labels, the id and the features of an item."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tagalong.learning.items import FeatureValue, Item, ReadError
from tagalong.readers.values import label_text, labels_of, listed, number, parsed, unique
from tagalong.streams.format import Option

__all__ = ["COLUMN_OPTIONS", "UNLABELLED", "Columns", "choose_columns", "field_of_column"]

_USUAL_TEXT = ("text", "subject", "title", "body", "description")
_USUAL_LABELS = ("labels", "tags", "label", "category", "folder")
_ONE_LABEL = ("label", "category", "folder")
_YES, _NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")

UNLABELLED = Option(
    "unlabelled",
    "What an item without labels means: its labels are 'unknown', or it has none ('empty').",
    "choice",
    "unknown",
    ("unknown", "empty"),
)
COLUMN_OPTIONS = (
    Option(
        "text",
        "The column of the text; several make one field each. "
        f"By default those called {', '.join(_USUAL_TEXT)}.",
        "names",
    ),
    Option(
        "labels",
        "The column of the labels; several are put together. "
        f"By default the first of {', '.join(_USUAL_LABELS)}.",
        "names",
    ),
    Option("id", "The column of the id. By default the one called id."),
    Option(
        "features",
        "Columns of features: numbers, or else categories; * for all that are left.",
        "names",
        (),
    ),
    Option("weight", "The column of the weight. By default every item counts 1."),
    Option(
        "separator",
        "What stands between the labels in a cell; empty if a cell is one label. By default a "
        f"comma, but none in columns found by the names {', '.join(_ONE_LABEL)}.",
    ),
    Option(
        "indicators", "Whether the label columns hold 0 or 1, one column a label.", "flag", False
    ),
    UNLABELLED,
)


@dataclass(frozen=True)
class Columns:
    """The columns of a table that make an item, by their position.

    Parameters
    ----------
    names : sequence of str
        All columns.
    text, labels, id, features, weight : sequences of int
        Positions; at most one for `id` and `weight`.
    separator : str
        Between the labels of a cell; "" if it is one label.
    indicators : bool
        Whether label columns hold 0 or 1.
    unlabelled : str
        "unknown" or "empty".
    """

    names: Sequence[str]
    text: Sequence[int]
    labels: Sequence[int]
    id: Sequence[int]
    features: Sequence[int]
    weight: Sequence[int]
    separator: str
    indicators: bool
    unlabelled: str

    def used(self) -> list[int]:
        """Return the positions of all columns that are needed."""
        return sorted({*self.text, *self.labels, *self.id, *self.features, *self.weight})

    def item(self, row: Sequence[Any], place: str) -> Item:
        """Return the item of a row."""
        weight = 1.0
        if self.weight and row[self.weight[0]] not in (None, ""):
            cell = row[self.weight[0]]
            convert = parsed if type(cell) is str else number
            weight = convert(cell, place, f"column {self.names[self.weight[0]]!r}", least=0.0)
        return Item(
            self._cell(row, self.id[0], place) if self.id else "",
            self._text(row, place),
            self._features(row, place) if self.features else {},
            self._labels(row, place),
            weight,
            place,
        )

    def _cell(self, row: Sequence[Any], column: int, place: str) -> str:
        value = row[column]
        if type(value) is str:
            return value
        if value is None:
            return ""
        if type(value) in (int, float):
            return str(value)
        raise ReadError(
            place, f"column {self.names[column]!r} must hold texts, not {listed(value)}"
        )

    def _text(self, row: Sequence[Any], place: str) -> str | dict[str, str]:
        if not self.text:
            return ""
        if len(self.text) == 1:
            return self._cell(row, self.text[0], place)
        fields = ((column, self._cell(row, column, place)) for column in self.text)
        return {field_of_column(self.names[column]): text for column, text in fields if text}

    def _features(self, row: Sequence[Any], place: str) -> dict[str, FeatureValue]:
        found: dict[str, FeatureValue] = {}
        for column in self.features:
            value = row[column]
            if value is None or value == "":
                continue
            name = self.names[column]
            if type(value) is list:
                found |= {f"{name}={label_text(each, place)}": 1.0 for each in value}
            elif type(value) is str:
                found[name] = _number_or_category(value, place, name)
            else:
                found[name] = number(value, place, f"column {name!r}")
        return found

    def _labels(self, row: Sequence[Any], place: str) -> tuple[str, ...] | None:
        if not self.labels:
            return None
        if self.indicators:
            return self._marked(row, place)
        found: list[str] = []
        known = self.unlabelled == "empty"
        for column in self.labels:
            value = row[column]
            if type(value) is str:
                parts = value.split(self.separator) if self.separator else (value,)
                found += [part.strip() for part in parts if part.strip()]
            elif type(value) is list:
                known = True
                found += labels_of(value, place)
            elif value is not None:
                found.append(label_text(value, place))
        return unique(found) if found or known else None

    def _marked(self, row: Sequence[Any], place: str) -> tuple[str, ...] | None:
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
                    f"column {self.names[column]!r} must hold 0 or 1 (indicators), "
                    f"not {listed(row[column])}",
                )
        return tuple(found)


def field_of_column(name: str) -> str:
    """Return which field of the text a column is, where there are several."""
    return "" if name == "text" else name


def _number_or_category(cell: str, place: str, name: str) -> FeatureValue:
    try:
        value = float(cell)
    except ValueError:
        return cell
    if "_" in cell:  # Python's own way of writing numbers, nobody else's
        return cell
    if not isfinite(value):
        raise ReadError(
            place,
            f"column {name!r} holds {listed(cell)}: a number must be finite; leave the cell empty "
            "if there is none",
        )
    return value


def choose_columns(
    names: Sequence[str],
    place: str,
    *,
    text: tuple[str, ...] | None = None,
    labels: tuple[str, ...] | None = None,
    id: str | None = None,
    features: tuple[str, ...] = (),
    weight: str | None = None,
    separator: str | None = None,
    indicators: bool = False,
    unlabelled: str = "unknown",
) -> Columns:
    """Return the columns that the options name, or else those with the usual names."""
    usual = {name.strip().lower(): name for name in reversed(names)}

    def positions(wanted: Sequence[str]) -> list[int]:
        for name in wanted:
            if list(names).count(name) != 1:
                problem = "twice" if name in names else "not here"
                raise ReadError(place, f"column {name!r} is {problem}; {_all(names)}")
        return [list(names).index(name) for name in wanted]

    if labels is None:
        labels = tuple(usual[name] for name in _USUAL_LABELS if name in usual)[:1]
        if separator is None and labels and labels[0].strip().lower() in _ONE_LABEL:
            separator = ""
    if id is None:
        id = usual.get("id")
    taken = {*labels, id, weight, *features}
    if text is None:
        found = tuple(usual[name] for name in _USUAL_TEXT if name in usual)
        text = tuple(name for name in found if name not in taken)
        if not text and not features:
            raise ReadError(
                place, f"which column is the text? give text=, features=; {_all(names)}"
            )
    if "*" in features and "*" not in names:
        left = tuple(name for name in names if name not in {*taken, *text} or name in features)
        features = left
    return Columns(
        names,
        positions(text),
        positions(labels),
        positions([id] if id is not None else []),
        positions(features),
        positions([weight] if weight is not None else []),
        "," if separator is None else separator,
        indicators,
        unlabelled,
    )


def _all(names: Sequence[str]) -> str:
    return f"the columns are {', '.join(map(repr, names)) or 'none'}"
