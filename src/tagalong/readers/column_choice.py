"""Choice of the columns of a table for text, labels, id and features: by option or by name."""

from collections.abc import Sequence
from typing import TypedDict

from tagalong.learning.items import ReadError
from tagalong.readers.columns import Columns
from tagalong.streams.format import Option, OptionError

__all__ = ["COLUMN_OPTIONS", "UNLABELLED", "ColumnOptions", "choose_columns"]

_DEFAULT_TEXT_COLUMNS = ("text", "subject", "title", "body", "description")
_DEFAULT_LABEL_COLUMNS = ("labels", "tags", "label", "category", "folder")
_SINGLE_LABEL_COLUMNS = ("label", "category", "folder")
_OPTIONAL = {"text", "labels", "id", "features", "weight", "date"}

UNLABELLED = Option(
    "unlabelled",
    "Meaning of an item without labels: its labels are 'unknown', or it has none ('empty').",
    "choice",
    "unknown",
    ("unknown", "empty"),
)
COLUMN_OPTIONS = (
    Option(
        "text",
        "Column of the text; several columns become one field each. "
        f"By default all columns named {', '.join(_DEFAULT_TEXT_COLUMNS)}.",
        "names",
    ),
    Option(
        "labels",
        "Column of the labels; the labels of several columns are combined. "
        f"By default the first of {', '.join(_DEFAULT_LABEL_COLUMNS)}.",
        "names",
    ),
    Option("id", "Column of the id. By default the column named id."),
    Option(
        "features",
        "Columns of features, with numbers or categories; * for all remaining columns.",
        "names",
        (),
    ),
    Option("weight", "Column of the weight. By default every item has the weight 1."),
    Option("date", "Column of the date. By default the column named date, if its cells are dates."),
    Option(
        "separator",
        "Separator of the labels in a cell; empty if each cell is one label. By default a comma, "
        f"but empty for default columns named {', '.join(_SINGLE_LABEL_COLUMNS)}.",
    ),
    Option(
        "indicators", "Whether the label columns hold 0 or 1, one column per label.", "flag", False
    ),
    UNLABELLED,
    Option(
        "optional",
        "Options among text, labels, id, features, weight and date whose columns may be missing.",
        "names",
        (),
    ),
)


class ColumnOptions(TypedDict, total=False):
    """Keyword arguments of `choose_columns`, with the names of `COLUMN_OPTIONS`."""

    text: tuple[str, ...] | None
    labels: tuple[str, ...] | None
    id: str | None
    features: tuple[str, ...]
    weight: str | None
    date: str | None
    separator: str | None
    indicators: bool
    unlabelled: str
    optional: tuple[str, ...]


def choose_columns(
    names: Sequence[str],
    place: str,
    *,
    text: tuple[str, ...] | None = None,
    labels: tuple[str, ...] | None = None,
    id: str | None = None,
    features: tuple[str, ...] = (),
    weight: str | None = None,
    date: str | None = None,
    separator: str | None = None,
    indicators: bool = False,
    unlabelled: str = "unknown",
    optional: tuple[str, ...] = (),
) -> Columns:
    """Return the columns that the options name; default names apply to options not given."""
    if unknown := set(optional) - _OPTIONAL:
        raise OptionError(
            f"optional must name some of {', '.join(sorted(_OPTIONAL))}, not {min(unknown)!r}"
        )
    by_lower = {name.strip().lower(): name for name in reversed(names)}

    def positions(wanted: Sequence[str]) -> list[int]:
        for name in wanted:
            if list(names).count(name) != 1:
                problem = "there are several columns" if name in names else "there is no column"
                raise ReadError(place, f"{problem} {name!r}; {_list_columns(names)}")
        return [list(names).index(name) for name in wanted]

    def present(option: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
        if option not in optional:
            return wanted
        return tuple(name for name in wanted if name in names or name == "*")

    def present_one(option: str, wanted: str | None) -> str | None:
        return None if option in optional and wanted not in names else wanted

    # Without its column, the labels of a table are unknown, and no other column replaces it.
    labels = None if labels is None else present("labels", labels)
    text = None if text is None else present("text", text) or None
    features = present("features", features)
    id, weight, date = (
        present_one("id", id),
        present_one("weight", weight),
        present_one("date", date),
    )
    if labels is None:
        labels = tuple(by_lower[name] for name in _DEFAULT_LABEL_COLUMNS if name in by_lower)[:1]
        if separator is None and labels and labels[0].strip().lower() in _SINGLE_LABEL_COLUMNS:
            separator = ""
    if id is None:
        id = by_lower.get("id")
    taken = {*labels, id, weight, date, *features}
    if text is None:
        found = tuple(by_lower[name] for name in _DEFAULT_TEXT_COLUMNS if name in by_lower)
        text = tuple(name for name in found if name not in taken)
        if not text and not features:
            raise ReadError(
                place,
                "no column has a default name of text columns; name columns with the option text "
                f"or the option features; {_list_columns(names)}",
            )
    if "*" in features and "*" not in names:
        features = tuple(name for name in names if name not in {*taken, *text} or name in features)
    must_be_date = date is not None
    if date is None and by_lower.get("date") not in {*taken, *text, *features}:
        date = by_lower.get("date")
    return Columns(
        names,
        positions(text),
        positions(labels),
        positions([id] if id is not None else []),
        positions(features),
        positions([weight] if weight is not None else []),
        positions([date] if date is not None else []),
        "," if separator is None else separator,
        indicators,
        unlabelled,
        must_be_date,
    )


def _list_columns(names: Sequence[str]) -> str:
    return f"the columns are {', '.join(map(repr, names)) or 'none'}"
