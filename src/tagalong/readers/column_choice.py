"""Which columns of a table are text, labels, id and features: as options say, or by their names."""

from collections.abc import Sequence

from tagalong.learning.items import ReadError
from tagalong.readers.columns import Columns
from tagalong.streams.format import Option

__all__ = ["COLUMN_OPTIONS", "UNLABELLED", "choose_columns"]

_DEFAULT_TEXT_COLUMNS = ("text", "subject", "title", "body", "description")
_DEFAULT_LABEL_COLUMNS = ("labels", "tags", "label", "category", "folder")
_SINGLE_LABEL_COLUMNS = ("label", "category", "folder")

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
        f"By default those called {', '.join(_DEFAULT_TEXT_COLUMNS)}.",
        "names",
    ),
    Option(
        "labels",
        "The column of the labels; several are put together. "
        f"By default the first of {', '.join(_DEFAULT_LABEL_COLUMNS)}.",
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
        f"comma, but none in columns found by the names {', '.join(_SINGLE_LABEL_COLUMNS)}.",
    ),
    Option(
        "indicators", "Whether the label columns hold 0 or 1, one column a label.", "flag", False
    ),
    UNLABELLED,
)


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
                raise ReadError(place, f"column {name!r} is {problem}; {_list_columns(names)}")
        return [list(names).index(name) for name in wanted]

    if labels is None:
        labels = tuple(usual[name] for name in _DEFAULT_LABEL_COLUMNS if name in usual)[:1]
        if separator is None and labels and labels[0].strip().lower() in _SINGLE_LABEL_COLUMNS:
            separator = ""
    if id is None:
        id = usual.get("id")
    taken = {*labels, id, weight, *features}
    if text is None:
        found = tuple(usual[name] for name in _DEFAULT_TEXT_COLUMNS if name in usual)
        text = tuple(name for name in found if name not in taken)
        if not text and not features:
            raise ReadError(
                place, f"which column is the text? give text=, features=; {_list_columns(names)}"
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


def _list_columns(names: Sequence[str]) -> str:
    return f"the columns are {', '.join(map(repr, names)) or 'none'}"
