"""Suggestions as lines of nested JSON, or as rows of a table."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import IO, Protocol

from tagalong.learning.items import Item
from tagalong.printable import as_json
from tagalong.tables.columns import Column, id_of, place_cells, suggestion_columns
from tagalong.tables.writers import Table, TableFormat, make_table
from tagalong.tagger.suggestions import Suggestion, Suggestions

__all__ = ["NestedLines", "SuggestionRows", "SuggestionWriter", "make_writer"]


class SuggestionWriter(Protocol):
    """Writes the suggestions for items."""

    @property
    def protected(self) -> int:
        """Number of cells that differ from their value, so that no spreadsheet evaluates them."""

    def write(self, item: Item, found: Suggestions, shown: Sequence[Suggestion]) -> None:
        """Write the suggestions for an item.

        Parameters
        ----------
        item : Item
            The item.
        found : Suggestions
            All suggestions for it.
        shown : sequence of Suggestion
            Those to write.
        """

    def close(self) -> None:
        """Write the rest. The stream stays open."""


class NestedLines:
    """One line of JSON per item, with a list of suggestions.

    Parameters
    ----------
    stream : binary file
        Where to write.

    Attributes
    ----------
    protected : int
        0, as every value is written exactly.
    """

    def __init__(self, stream: IO[bytes]):
        self.protected = 0
        self._stream = stream

    def write(self, item: Item, found: Suggestions, shown: Sequence[Suggestion]) -> None:
        """Write a line."""
        line = {
            "id": item.id,
            "suggestions": [asdict(one) for one in shown],
            "whole": found.whole,
            "known": found.known,
            "audited": found.audited,
        }
        self._stream.write((as_json(line) + "\n").encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Do nothing: all lines are written."""


class SuggestionRows:
    """One row of a table per item.

    Parameters
    ----------
    table : Table
        The table, with the columns of ``tagalong suggest``.
    places : int
        Number of suggestions per row.
    """

    def __init__(self, table: Table, places: int):
        self._table = table
        self._places = places

    @property
    def protected(self) -> int:
        """Number of cells that differ from their value, so that no spreadsheet evaluates them."""
        return self._table.protected

    def write(self, item: Item, found: Suggestions, shown: Sequence[Suggestion]) -> None:
        """Write a row."""
        chosen = sum(one.chosen for one in shown)
        cells = place_cells(shown, self._places)
        self._table.write([id_of(item), *cells, chosen, found.whole, found.known, found.audited])

    def close(self) -> None:
        """Complete the table."""
        self._table.close()


def make_writer(
    stream: IO[bytes], format: TableFormat | None, places: int, *, exact: bool, mark: bool
) -> SuggestionWriter:
    """Return the writer of a format.

    Parameters
    ----------
    stream : binary file
        Where to write.
    format : str, optional
        The format of a table; None for lines of nested JSON.
    places : int
        Number of suggestions per row of a table.
    exact, mark : bool
        Options of `CsvTable`.
    """
    if format is None:
        return NestedLines(stream)
    options = {"exact": exact, "mark": mark} if format == "csv" else {}
    return SuggestionRows(make_table(format, stream, _columns(places), **options), places)


def _columns(places: int) -> list[Column]:
    """Return the columns of the table that ``tagalong suggest`` writes.

    Parameters
    ----------
    places : int
        Number of suggestions per row.
    """
    return [*suggestion_columns(places), Column("audited", "flag")]
