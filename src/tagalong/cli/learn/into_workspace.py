"""Learning into a workspace: each batch of items is on the disk before the next one is read."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tagalong.cli.errors import CommandError
from tagalong.cli.learn.preparation import check_same_settings, new_tagger
from tagalong.cli.output import Output, items_text
from tagalong.cli.run_state import Run
from tagalong.cli.sources import reading_of
from tagalong.cli.workspaces import open_workspace, remember_reading
from tagalong.journal import Added, JournalError, StorageError, Workspace
from tagalong.journal.repeatable_ids import RepeatableIds
from tagalong.journal.storage import storage_of
from tagalong.learning.items import Item
from tagalong.readers.queries import Query
from tagalong.text.rows_ahead import RowsAheadPart

__all__ = ["WorkspaceDestination", "learning_workspace", "run_in_workspace"]


class WorkspaceDestination:
    """Adds the items of a run to a workspace.

    Items that are there already are not learnt again, so that an interrupted run is resumed by the
    same command; if their labels have changed, they are corrected.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    run : Run
        The run.
    """

    needs_labels = False
    uses_rows = False

    def __init__(self, workspace: Workspace, run: Run):
        self.problems: list[str] = []
        self._workspace = workspace
        self._run = run
        self._outcomes: Counter[str] = Counter()
        self._ids = RepeatableIds()

    def learner(self) -> "WorkspaceDestination":
        """Return itself: a workspace is taught in one pass."""
        return self

    def learn(
        self, items: Sequence[Item | Query], ahead: Sequence[RowsAheadPart] | None = None
    ) -> None:
        """Add items to the workspace, in one commit.

        Parameters
        ----------
        items : sequence of Item
            The items. Those without labels become open items.
        ahead : sequence of RowsAheadPart, optional
            Not used.
        """
        read = [item for item in items if isinstance(item, Item)]
        given = [self._ids.given_to(item) for item in read]
        found = self._workspace.add_many(given, relabel=True, actor="command line")
        for item, result in zip(read, found, strict=True):
            if isinstance(result, Added):
                self._outcomes[result.outcome] += 1
                self._run.unlabelled += item.labels is None
            else:
                self._refuse(item, result)
            self._run.count([item])

    def _refuse(self, item: Item, error: JournalError) -> None:
        problem = f"{item.place or item.id}: {error}"
        if isinstance(error, StorageError) or self._run.reading.on_error == "stop":
            raise CommandError(problem) from error
        self._run.refused += 1
        self.problems.append(problem)

    def save_if_due(self) -> None:
        """Do nothing: everything is on the disk."""

    def save(self) -> None:
        """Remember how the sources were read, for further items."""
        remember_reading(self._workspace, self._run.reading)

    def saved_line(self) -> str:
        """Return what was added to the workspace."""
        parts = [
            f"{items_text(self._outcomes['new'])} added to workspace {self._workspace.storage.name}"
        ]
        if known := self._outcomes["known"]:
            parts.append(f"{known:,} were there already")
        if answered := self._outcomes["answered"]:
            parts.append(f"{answered:,} have other labels now")
        return "; ".join(parts)

    def unlabelled_line(self, count: int) -> str:
        """Return what became of items without labels."""
        return f"{count:,} of the items have no labels: they are open, to be answered"

    def interruption(self, run: Run) -> str:
        """Return what became of an interrupted run, and how to go on."""
        return (
            f"interrupted; {self.saved_line()}. The same command goes on: items that are there "
            "are not learnt again"
        )

    def resume_hint(self, run: Run) -> str:
        """Return how to go on after an error."""
        return (
            f"{run.position:,} items are in the workspace; correct the error and use the same "
            "command again, or add --on-error skip"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return values for the JSON result."""
        outcomes = {name: self._outcomes[name] for name in ("new", "known", "answered")}
        return {"model": None, "workspace": self._workspace.storage.name, **outcomes}


@contextmanager
def learning_workspace(args: argparse.Namespace, out: Output) -> Iterator[Workspace]:
    """Open the workspace of ``--workspace``; a new one has the learner of the command line."""
    is_new = not storage_of(args.workspace).exists()
    tagger = new_tagger(args) if is_new else None
    settings: dict[str, Any] | None = None
    if tagger is not None:
        # Without names no words are stored, neither in the model nor in the journal.
        settings = {"content": "features" if args.no_names else "text"}
        if tagger.has_grades:  # which are declared once
            settings["labels"] = "fixed"
    with open_workspace(
        args.workspace, args, out, tagger=tagger, settings=settings, create=True
    ) as workspace:
        if not is_new:
            check_same_settings(args, workspace.tagger, args.workspace)
        yield workspace


def run_in_workspace(args: argparse.Namespace, workspace: Workspace) -> Run:
    """Return a run whose figures go on with those of a workspace."""
    return Run(reading_of(args, workspace.tagger), 1, workspace.progress)
