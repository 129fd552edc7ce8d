"""Recognition of files: their formats, their columns, and how their first items look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tagalong.learning.items import Item, ReadError
from tagalong.readers.column_choice import COLUMN_OPTIONS, choose_columns
from tagalong.readers.limited_bytes import TooManyBytesError
from tagalong.readers.registry import FORMATS
from tagalong.readers.stream import Stream
from tagalong.streams.format import OptionValue

__all__ = ["Recognised", "Sample", "recognise"]

SAMPLES = 3
MOST_CHARACTERS = 300
MOST_COLUMNS = 50


@dataclass(frozen=True, slots=True)
class Sample:
    """One of the first items.

    Parameters
    ----------
    text : str
        How its text begins.
    labels : tuple of str or None
        Its labels; None if they are unknown.
    """

    text: str
    labels: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Recognised:
    """Facts that were recognised in files.

    Parameters
    ----------
    formats : sequence of str
        Their formats.
    columns : sequence of str
        The columns of a table, or the keys of its objects; empty for other formats.
    text, labels : sequence of str
        The columns from which text and labels come.
    samples : sequence of Sample
        The first items.
    """

    formats: Sequence[str] = ()
    columns: Sequence[str] = ()
    text: Sequence[str] = ()
    labels: Sequence[str] = ()
    samples: Sequence[Sample] = ()

    @property
    def lacks_labels(self) -> bool:
        """Whether there is a column of text, but none of labels."""
        return bool(self.text) and not self.labels


def recognise(stream: Stream, options: Mapping[str, OptionValue]) -> Recognised:
    """Read the first items of a stream, and return what was recognised.

    If the stream has a limit, ValueError if no item comes before it.

    Parameters
    ----------
    stream : Stream
        The stream, of which nothing has been read.
    options : mapping of str to object
        The options with which it was opened.
    """
    columns = stream.list_names()
    samples: list[Sample] = []
    try:
        while len(samples) < SAMPLES and (item := next(stream, None)) is not None:
            samples.append(_sample(item))
    except TooManyBytesError as error:
        if not samples:
            raise ValueError(f"there is no item before the end of the search: {error}") from None
    formats = stream.formats
    text, labels = _used(formats, columns, options)
    return Recognised(formats, columns[:MOST_COLUMNS], text, labels, samples)


def _sample(item: Item) -> Sample:
    texts = [item.text] if isinstance(item.text, str) else item.text.values()
    start = " · ".join(" ".join(text[: 2 * MOST_CHARACTERS].split()) for text in texts if text)
    if len(start) > MOST_CHARACTERS:
        start = start[:MOST_CHARACTERS].rstrip() + "…"
    return Sample(start, item.labels)


def _used(
    formats: Sequence[str], columns: Sequence[str], options: Mapping[str, OptionValue]
) -> tuple[list[str], list[str]]:
    """Return the columns of text and labels, if all files are of one kind."""
    if not columns or not formats:
        return [], []
    if all(set(COLUMN_OPTIONS) <= set(FORMATS[name].options) for name in formats):
        known = {option.name for option in COLUMN_OPTIONS}
        chosen = {name: value for name, value in options.items() if name in known}
        try:
            found = choose_columns(columns, "", **chosen)  # type: ignore[arg-type]
        except ReadError:
            return [], []
        return [columns[at] for at in found.text], [columns[at] for at in found.labels]
    if formats == ["jsonl"]:
        names = [options.get(part) or (part,) for part in ("text", "labels")]
        text, labels = ([key for key in wanted if _is_key(key, columns)] for wanted in names)  # type: ignore[union-attr]
        return text, labels
    return [], []


def _is_key(key: str, keys: Sequence[str]) -> bool:
    return any(each == key or each.startswith(f"{key}.") for each in keys)
