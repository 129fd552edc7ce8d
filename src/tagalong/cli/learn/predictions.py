"""``learn --predictions``: a table of what was suggested before each item was learnt."""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.learn.appendable import EMPTY, AppendableTable, TablePosition
from tagalong.cli.learn.prediction_rows import prediction_columns, prediction_rows, round_row
from tagalong.cli.models import check_destination, check_not_an_input
from tagalong.cli.output import Output
from tagalong.cli.run_state import Run
from tagalong.cli.table_formats import check_table_format
from tagalong.files.named_errors import naming_errors
from tagalong.learning.items import Item
from tagalong.learning.rounds import Round, Rounds
from tagalong.readers.writing import open_destination
from tagalong.tables.columns import Column
from tagalong.tables.formats import table_format_of
from tagalong.tables.writers import ParquetTable
from tagalong.tagger import Tagger

__all__ = ["PredictionFile", "check_predictions", "predictions_of"]

_ROWS_PER_BATCH = 1024


def check_predictions(args: argparse.Namespace) -> None:
    """Raise UsageError if ``--predictions`` names a file that cannot be written."""
    path: str | None = args.predictions
    if path is None:
        return
    format = table_format_of(path)
    if format is None or Path(path).suffix.lower() in (".gz", ".xz", ".bz2", ".zst", ".lzma"):
        raise UsageError(f"--predictions {path}: the name must end in .csv, .jsonl or .parquet")
    check_table_format(format, f"--predictions {path}")
    check_destination(path, "--predictions")
    check_not_an_input(path, "--predictions", args.model, args.sources)
    if args.continue_run and os.path.exists(path):
        raise UsageError(
            f"--predictions {path} already exists, and --continue starts a new table: give another "
            "name"
        )


class PredictionFile:
    """The file of ``--predictions``.

    CSV and JSON lines are written directly. Parquet files cannot be continued, so their rows are
    first collected as JSON lines in a file with the suffix ".partial".

    Parameters
    ----------
    path : str
        The file.
    tagger : Tagger
        The model that learns.
    places : int
        Number of suggestions per row.
    run : Run
        The run. It knows whether new files are readable by their owner only.
    start : TablePosition
        Where to continue.
    """

    def __init__(
        self, path: str, tagger: Tagger, places: int, run: Run, start: TablePosition = EMPTY
    ):
        self._path = path
        self._tagger = tagger
        self._run = run
        self._places = places
        self._columns = prediction_columns(places)
        format = table_format_of(path)
        assert format is not None  # check_predictions has checked the name
        self._is_parquet = format == "parquet"
        if self._is_parquet and start.size and not os.path.exists(_collected(path)):
            start = _collect_again(path, self._columns, start)
        self._table = AppendableTable(
            _collected(path) if self._is_parquet else path,
            "jsonl" if self._is_parquet else format,
            self._columns,
            start,
            is_private=lambda: run.is_private,
        )

    @property
    def rows(self) -> int:
        """Number of rows so far."""
        return self._table.rows

    @property
    def protected(self) -> int:
        """Number of new cells that differ from their value, so that they are no formulas."""
        return self._table.protected

    def add_rounds(self, items: Sequence[Item], rounds: Rounds) -> None:
        """Write the rows of a batch.

        Parameters
        ----------
        items : sequence of Item
            The learnt items.
        rounds : Rounds
            The predictions before each of them was learnt.
        """
        for row in prediction_rows(items, rounds, self._tagger, self._places):
            self._table.write(row)

    def add(self, item: Item, found: Round) -> None:
        """Write the row of one item.

        Parameters
        ----------
        item : Item
            The learnt item.
        found : Round
            The prediction before it was learnt.
        """
        self._table.write(round_row(item, found, self._tagger, self._places))

    def state(self) -> dict[str, Any]:
        """Store all rows so far, and return what a resumed run needs to continue."""
        return {"path": self._path, "end": self._table.position().to_json()}

    def close(self) -> None:
        """Complete the file."""
        self._table.close()
        if self._is_parquet:
            _convert(_collected(self._path), self._path, self._columns, self._run.is_private)
            os.unlink(_collected(self._path))


@contextmanager
def predictions_of(
    args: argparse.Namespace, tagger: Tagger, run: Run, out: Output
) -> Iterator[None]:
    """Let a run write its predictions, if the command line or the resumed run says so.

    Parameters
    ----------
    args : Namespace
        The arguments of the command.
    tagger : Tagger
        The model that learns.
    run : Run
        The new or resumed run.
    out : Output
        Writes messages.
    """
    saved = run.saved_predictions
    path = _path(args, run, saved)
    if path is None or run.number > 1:  # all predictions are made in the first pass
        yield
        return
    if tagger.ranks_documents:
        raise UsageError("--predictions: this learner ranks documents and suggests no labels")
    start = EMPTY if saved is None else TablePosition(**saved["end"])
    if start.rows and not os.path.exists(path) and not os.path.exists(_collected(path)):
        out.info(
            f"{path} with the first {start.rows:,} predictions of the run is missing; the further "
            "ones are written to a new file"
        )
        start = EMPTY
    file = run.predictions = PredictionFile(path, tagger, run.progress.k, run, start)
    try:
        yield
    except BaseException:
        if file.rows:  # the items before the error are learnt
            file.close()
        raise
    file.close()
    out.info(f"{file.rows:,} predictions written to {path}")
    if file.protected:
        out.info(
            f"{file.protected:,} cells of {path} have an apostrophe in front, because a "
            "spreadsheet would take their text for a formula; .jsonl and .parquet files are exact"
        )


def _path(args: argparse.Namespace, run: Run, saved: dict[str, Any] | None) -> str | None:
    """Return the file to write; UsageError if it contradicts the resumed run."""
    given: str | None = args.predictions
    if not args.resume:
        return given
    if saved is None:
        if given is not None and (run.position or run.number > 1):
            raise UsageError(
                f"--predictions {given}: the run of {args.model} began without, and its first "
                f"{run.position:,} items are already learnt; leave --predictions out"
            )
        return given
    if given is not None and given != saved["path"]:
        raise UsageError(
            f"the run of {args.model} writes its predictions to {saved['path']}, not to {given}: "
            "leave --predictions out"
        )
    return str(saved["path"])


def _collected(path: str) -> str:
    """Return the file that collects the rows of a Parquet file."""
    return f"{path}.partial"


def _convert(rows: str, path: str, columns: Sequence[Column], private: bool) -> None:
    """Write a Parquet file from rows as JSON lines."""
    names = [column.name for column in columns]
    with (
        naming_errors(path),
        open(rows, encoding="utf-8") as lines,
        open_destination(path, private=private) as stream,
    ):
        table = ParquetTable(stream, columns)
        try:
            for line in lines:
                row = json.loads(line)
                table.write([row[name] for name in names])
            table.close()
        except BaseException:
            table.abandon()
            raise


def _collect_again(path: str, columns: Sequence[Column], start: TablePosition) -> TablePosition:
    """Write the rows of a Parquet file as JSON lines again, and return their end."""
    from pyarrow import ArrowException, parquet

    names = [column.name for column in columns]
    # Their file may be private, and nothing has been read yet that says whether it is.
    collected = AppendableTable(_collected(path), "jsonl", columns, is_private=lambda: True)
    left = start.rows
    try:
        for batch in parquet.ParquetFile(path).iter_batches(_ROWS_PER_BATCH, columns=names):
            for row in batch.to_pylist()[:left]:
                collected.write([row[name] for name in names])
                left -= 1
            if not left:
                break
    except (ArrowException, OSError, KeyError) as error:
        raise CommandError(f"{path}: the predictions of the run cannot be read: {error}") from error
    end = collected.position()
    collected.close()
    if left:
        os.unlink(_collected(path))
        raise CommandError(
            f"{path} has changed since the run stopped and cannot be continued: restore its "
            f"{start.rows:,} rows, or remove it and the further rows are written to a new file"
        )
    return end
