"""Writer of ARFF in Meka's convention: labels first, their number in the relation's name."""

from collections.abc import Iterable

from tagalong.learning.items import Item
from tagalong.readers.spool import spool_items
from tagalong.readers.values import describe_item
from tagalong.streams.format import Target

__all__ = ["write_arff"]

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write_arff(items: Iterable[Item], target: Target) -> int:
    """Write a header and one sparse row per item.

    Zeros are omitted, as usual in sparse rows. Ids are not written. Unknown labels are "?".
    """
    labels: dict[str, None] = {}
    numbers: dict[str, None] = {}
    categories: dict[str, dict[str, None]] = {}
    fields: dict[str, None] = {}

    def collect_names(item: Item, number: int) -> None:
        labels.update(dict.fromkeys(item.labels or ()))
        if item.text:
            fields.update(dict.fromkeys([""] if isinstance(item.text, str) else item.text))
        for name, value in item.features.items():
            if name in (numbers if isinstance(value, str) else categories):
                raise ValueError(
                    f"{describe_item(item, number)}: the feature {name!r} is {value!r} here, but a "
                    f"{'number' if isinstance(value, str) else 'category'} in an earlier item"
                )
            if isinstance(value, str):
                categories.setdefault(name, {})[value] = None
            else:
                numbers[name] = None

    with spool_items(items, collect_names) as spooled:
        _check({**labels}, numbers, categories, fields, target.name)
        texts = {field: field or "text" for field in fields}
        header = [f"@relation {_quote(f'tagalong: -C {len(labels)}')}", ""]
        header += [f"@attribute {_quote(name)} {{0,1}}" for name in labels]
        header += [f"@attribute {_quote(name)} numeric" for name in numbers]
        header += [
            f"@attribute {_quote(name)} {{{','.join(map(_quote, values))}}}"
            for name, values in categories.items()
        ]
        header += [f"@attribute {_quote(name)} string" for name in texts.values()]
        for line in (*header, "", "@data"):
            target.stream.write(line.encode() + b"\n")
        groups = {**labels}, {**numbers}, {**categories}, {**texts}
        indices: list[dict[str, int]] = []
        first = 0
        for names in groups:
            indices.append({name: first + offset for offset, name in enumerate(names)})
            first += len(names)
        count = 0
        for count, item in enumerate(spooled(), 1):  # noqa: B007
            target.stream.write(_row(item, indices).encode() + b"\n")
    return count


def _row(item: Item, indices: list[dict[str, int]]) -> str:
    labels, numbers, categories, fields = indices
    cells: dict[int, str] = {}
    if item.labels is None:
        cells.update(dict.fromkeys(labels.values(), "?"))
    else:
        cells.update((labels[label], "1") for label in item.labels)
    # An omitted cell would mean the attribute's first category.
    cells.update(dict.fromkeys(categories.values(), "?"))
    for name, value in item.features.items():
        if isinstance(value, str):
            cells[categories[name]] = _quote(value)
        elif value:
            cells[numbers[name]] = repr(float(value))
    texts = {"": item.text} if isinstance(item.text, str) else item.text
    cells.update((fields[field], _quote(text)) for field, text in texts.items() if text)
    row = ",".join(f"{index} {cells[index]}" for index in sorted(cells))
    return f"{{{row}}}" + (f", {{{float(item.weight)!r}}}" if item.weight != 1.0 else "")


def _check(
    labels: dict[str, None],
    numbers: dict[str, None],
    categories: dict[str, dict[str, None]],
    fields: dict[str, None],
    name: str,
) -> None:
    names = [*labels, *numbers, *categories, *(field or "text" for field in fields)]
    if len(set(names)) < len(names):
        duplicate = next(each for each in names if names.count(each) > 1)
        raise ValueError(
            f"{name}: ARFF attributes need distinct names; {duplicate!r} is the name of two"
        )
    if not all(names):
        raise ValueError(f"{name}: a label or feature with an empty name cannot be written")
    for feature, values in categories.items():
        if {*values} <= {"0", "1"}:
            raise ValueError(
                f"{name}: the categories {', '.join(values)} of feature {feature!r} would be read "
                "back as numbers"
            )


def _quote(text: str) -> str:
    return "'" + "".join(_ESCAPES.get(letter, letter) for letter in text) + "'"
