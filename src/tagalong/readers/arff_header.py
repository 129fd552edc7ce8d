"""Header of an ARFF file, and the choice of the attributes that are labels."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tagalong.learning.items import ReadError
from tagalong.readers.columns import MAX_COLUMNS
from tagalong.readers.lines import Lines
from tagalong.readers.values import short_repr
from tagalong.streams.compression import strip_compression_suffix

__all__ = [
    "QUOTED",
    "Attribute",
    "Header",
    "choose_labels",
    "parse_value",
    "parse_values",
    "read_header",
    "unquote",
]

# Possessive, so that a long value takes no memory for each of its characters.
QUOTED = r"'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\""
_ATTRIBUTE = re.compile(
    rf"@attribute\s+({QUOTED}|[^\s{{]+)(?:\s+|(?={{))(.+)", re.IGNORECASE | re.DOTALL
)
_LISTED_VALUE = re.compile(rf"\s*(?:({QUOTED})\s*|([^,]*))(,|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_CHARACTERS = {"n": "\n", "r": "\r", "t": "\t"}
_MEKA_LABEL_COUNT = re.compile(r"-C\s+(-?\d{1,9})\b")
_MAX_XML = 16 << 20


@dataclass(frozen=True)
class Attribute:
    """Attribute (column) of an ARFF file.

    Parameters
    ----------
    name : str
        Name without quotes.
    kind : str
        "number", "category", "text" or "label".
    values : tuple of str
        Values of a nominal attribute in the order of the header; empty for other attributes.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """Relation and attributes of an ARFF file."""

    relation: str
    attributes: tuple[Attribute, ...]


def read_header(lines: Lines) -> Header:
    """Read the header, up to and including the @data line."""
    relation = ""
    attributes: list[Attribute] = []
    for line in lines:
        line = line.strip()
        word = line[:10].lower()
        if word.startswith("@data"):
            if not attributes:
                raise ReadError(lines.place(), "@data comes before any @attribute")
            return Header(relation, tuple(attributes))
        if word.startswith("@relation"):
            relation = unquote(line[9:].strip())
        elif word == "@attribute":
            attributes.append(_parse_attribute(line, lines.place()))
            if len(attributes) > MAX_COLUMNS:
                raise ReadError(lines.place(), f"there are more than {MAX_COLUMNS} attributes")
        elif line and not line.startswith("%"):
            raise ReadError(
                lines.place(), f"expected @relation, @attribute or @data, not {short_repr(line)}"
            )
    raise ReadError(lines.place(), "the file ends before @data: not ARFF, or truncated")


def _parse_attribute(line: str, place: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if found is None:
        raise ReadError(place, f"expected '@attribute NAME TYPE', not {short_repr(line)}")
    name, kind = unquote(found[1]), found[2].strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise ReadError(place, f"attribute {name!r}: the list of values must end with '}}'")
        values = tuple(value or "" for value in parse_values(kind[1:-1], place))
        if not values:
            raise ReadError(place, f"attribute {name!r}: the list of values is empty")
        return Attribute(name, "number" if {*values} <= {"0", "1"} else "category", values)
    word = kind.split()[0].lower()
    kinds = {"numeric": "number", "real": "number", "integer": "number", "string": "text"}
    if word == "date":
        return Attribute(name, "category")
    if word not in kinds:
        raise ReadError(
            place,
            f"attribute {name!r} has the type {short_repr(kind)}; it must be numeric, real, "
            "integer, string, date or a list of values {...}",
        )
    return Attribute(name, kinds[word])


def parse_values(text: str, place: str) -> Iterator[str | None]:
    """Yield comma-separated values without their quotes; None for a missing value (?)."""
    if not text.strip():
        return
    if "'" not in text and '"' not in text:
        for value in text.split(","):
            value = value.strip()
            yield None if value == "?" else value
        return
    at = 0
    while True:
        found = _LISTED_VALUE.match(text, at)
        assert found is not None
        yield parse_value(found[1], found[2], place)
        if not found[3]:
            return
        at = found.end()


def parse_value(quoted: str | None, bare: str, place: str) -> str | None:
    """Return a quoted or bare value; None for a bare question mark."""
    if quoted is not None:
        return unquote(quoted)
    bare = bare.strip()
    if "'" in bare or '"' in bare:
        raise ReadError(place, f"a quote inside a value or not closed: {short_repr(bare)}")
    return None if bare == "?" else bare


def unquote(text: str) -> str:
    r"""Return a name or value without its quotes and escapes.

    Examples
    --------
    >>> unquote(r"'don\'t'")
    "don't"
    """
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "'\"":
        return text
    return _ESCAPE.sub(lambda found: _ESCAPED_CHARACTERS.get(found[1], found[1]), text[1:-1])


def choose_labels(
    header: Header, place: str, name: str, xml: str | None, labels: int | None
) -> tuple[Attribute, ...]:
    """Return the attributes of a header, with the kind "label" for those that are labels.

    The first of these that is given decides: `xml`, `labels`, an XML file next to the ARFF file,
    Meka's ``-C`` in @relation.
    """
    attributes = header.attributes
    count = len(attributes)
    xml_file = xml or (_find_xml(name) if labels is None else None)
    meka = _MEKA_LABEL_COUNT.search(header.relation)
    if xml_file is not None:
        chosen = _labels_in_xml(xml_file, attributes, place)
    elif labels is not None or meka is not None:
        # A positive number means the first attributes in Meka's -C, but the last ones in our
        # option, because Mulan's files have the labels last.
        last = labels if labels is not None else -int(meka[1]) if meka is not None else 0
        if abs(last) > count:
            raise ReadError(
                place, f"{abs(last)} labels are requested, but there are {count} attributes"
            )
        chosen = set(range(count - last, count)) if last > 0 else set(range(-last))
    else:
        raise ReadError(
            place,
            "the file does not say which attributes are labels; name Mulan's XML file with the "
            "option xml, or give their number with the option labels (N: the last N attributes, "
            "-N: the first N, 0: none)",
        )
    for index in chosen:
        if attributes[index].kind != "number":
            raise ReadError(
                place, f"the label {attributes[index].name!r} must have the type {{0,1}} or numeric"
            )
    return tuple(
        Attribute(each.name, "label", each.values) if index in chosen else each
        for index, each in enumerate(attributes)
    )


def _find_xml(name: str) -> str | None:
    stem = re.sub(r"\.arff$", "", strip_compression_suffix(name), flags=re.IGNORECASE)
    for candidate in (stem, re.sub(r"[-_](train|test)$", "", stem)):
        if Path(f"{candidate}.xml").is_file():
            return f"{candidate}.xml"
    return None


def _labels_in_xml(path: str, attributes: tuple[Attribute, ...], place: str) -> set[int]:
    from xml.etree import ElementTree

    try:
        with open(path, "rb") as file:
            text = file.read(_MAX_XML + 1)
        if len(text) > _MAX_XML:
            raise ReadError(path, f"the file has more than {_MAX_XML} bytes: not a list of labels")
        nodes = ElementTree.fromstring(text).iter()
    except ElementTree.ParseError as error:
        line, offset = error.position
        reason = str(error).partition(": line ")[0]
        raise ReadError(
            f"{path}:{line}", f"not Mulan's XML list of labels: {reason} at column {offset + 1}"
        ) from None
    except (OSError, ValueError, LookupError) as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(path, f"not Mulan's XML list of labels: {error}") from None
    positions = {each.name: index for index, each in enumerate(attributes)}
    chosen = set()
    for node in nodes:
        if not str(node.tag).endswith("label"):
            continue
        name = node.get("name", "")
        index = positions.get(name, positions.get(_ESCAPE.sub(r"\1", name)))
        if index is None:
            raise ReadError(place, f"there is no attribute {name!r}, which {path} lists as a label")
        chosen.add(index)
    if not chosen:
        raise ReadError(path, "there is no <label name=...> in this file")
    return chosen
