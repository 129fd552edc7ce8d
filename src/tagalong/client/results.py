"""Results of a client, beside suggestions and explanations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tagalong.learning.items import Item
from tagalong.tagger.suggestions import Explanation, Suggestions

__all__ = ["Accepted", "Added", "Job", "ServerEvent", "ServerItem"]


@dataclass(frozen=True, slots=True)
class Added:
    """An item that was added, or was there already.

    Parameters
    ----------
    id : str
        Its id.
    seq : int
        The event that added it.
    suggestions : Suggestions
        The labels that the model suggests for it; empty for an item of a batch.
    outcome : str
        "new"; "known": the same item was there already; "answered": it was, and got other labels.
    """

    id: str
    seq: int
    suggestions: Suggestions = field(default_factory=Suggestions)
    outcome: str = "new"

    @property
    def is_new(self) -> bool:
        """Whether the item was not there before."""
        return self.outcome == "new"


@dataclass(frozen=True, slots=True)
class ServerItem:
    """An item of a workspace.

    Parameters
    ----------
    id : str
        Its id.
    seq : int
        The event that added it.
    state : str
        "open"; "asked": left to a person as a spot check; "filed" without asking; "answered".
    labels : list of str or None
        Its labels by their present names; None while it is open.
    item : Item
        Its content. In a list, and if the workspace stores no texts, it has only the id and the
        labels.
    suggestions : Suggestions or None
        The labels that the model suggests; None in a list.
    explanation : Explanation or None
        The words that speak for a label; None in a list, and without labels.
    title, source, date : str
        A short text to show, where the item comes from, and when it was written; "" if not known.
    """

    id: str
    seq: int
    state: str
    labels: list[str] | None
    item: Item
    suggestions: Suggestions | None = None
    explanation: Explanation | None = None
    title: str = ""
    source: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """Items that were filed without asking, or would be.

    Parameters
    ----------
    batch : str or None
        The name of the batch, to undo all of it; None if nothing was filed.
    items : list of (str, list of str)
        The ids with their labels.
    asked : list of str
        The ids that are left to a person as spot checks.
    limited : int
        Number of items that were left out because of the limit per day.
    """

    batch: str | None
    items: list[tuple[str, list[str]]]
    asked: list[str]
    limited: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """Work that the server does in the background.

    Parameters
    ----------
    job : str
        Its name.
    state : str
        "waiting", "running", "done", "failed", or "interrupted" because the server was stopped.
    done : int
        Number of items so far.
    total : int or None
        Number of all items; None while that is not known.
    error : str or None
        Why it failed.
    facts : mapping
        Everything that the server says about it.
    """

    job: str
    state: str = "running"
    done: int = 0
    total: int | None = None
    error: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        """Whether the server works on it no more."""
        return self.state not in ("waiting", "running")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """An event of a workspace, or a message that is not stored.

    Parameters
    ----------
    kind : str
        What happened, such as "answer".
    seq : int or None
        Its number; None for a message, such as that somebody looks at an item.
    values : mapping
        The details.
    """

    kind: str
    seq: int | None
    values: Mapping[str, Any]
