"""Where a run of ``learn`` puts what it learns: a model file, a workspace, or nowhere."""

from collections.abc import Sequence
from typing import Any, Protocol

from tagalong.cli.run_state import Run
from tagalong.learning.items import Item
from tagalong.readers.queries import Query
from tagalong.text.rows_ahead import RowsAheadPart

__all__ = ["Destination", "ItemLearner"]


class ItemLearner(Protocol):
    """Learns the items of one pass, and counts them in the run."""

    problems: list[str]
    """The reasons why items were refused."""

    uses_rows: bool
    """Whether it can use features that were read ahead."""

    def learn(
        self, items: Sequence[Item | Query], ahead: Sequence[RowsAheadPart] | None = None
    ) -> None:
        """Learn items; ``ahead`` has the features of those with labels, if they are known."""


class Destination(Protocol):
    """Where a run puts what it learns."""

    needs_labels: bool
    """Whether a run in which no item has labels has failed."""

    def learner(self) -> ItemLearner:
        """Return the learner of the next pass."""

    def save_if_due(self) -> None:
        """Save what was learnt if it is time."""

    def save(self) -> None:
        """Save what was learnt now."""

    def saved_line(self) -> str | None:
        """Return what was saved and where, in words; None if nothing was."""

    def unlabelled_line(self, count: int) -> str:
        """Return what became of items without labels."""

    def interruption(self, run: Run) -> str:
        """Return what became of an interrupted run, and how to go on."""

    def resume_hint(self, run: Run) -> str | None:
        """Return how to go on after an error; None if nothing is saved."""

    def to_dict(self) -> dict[str, Any]:
        """Return values for the JSON result."""
