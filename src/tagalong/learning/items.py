"""One thing to file, and what can go wrong while reading it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["FeatureValue", "Item", "ReadError"]

FeatureValue: TypeAlias = float | str


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to file: a mail, a ticket, a document.

    Parameters
    ----------
    id : str
        What the item is called in its source; need not be unique.
    text : str or mapping of str to str
        What it says: one text, or one per field ("subject", "from", ...). The words of a named
        field are features of their own; those of the field "" are as in a plain text.
    features : mapping of str to number or str
        What else is known about it. A number is a feature's value, a string one of its categories.
    labels : tuple of str, or None
        What it is filed under; None if that is not known, () if under nothing.
    weight : float
        How much it counts when it is learnt.
    place : str
        Where it was read, as "file:line", for messages. Two items may be equal nevertheless.
    query : str
        The query that it answers, if items are documents to be ranked within their query.
    """

    id: str = ""
    text: str | Mapping[str, str] = ""
    features: Mapping[str, FeatureValue] = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    weight: float = 1.0
    place: str = field(default="", compare=False)
    query: str = ""


class ReadError(ValueError):
    """Something that is not as its format demands, with the file and line where it is.

    Parameters
    ----------
    place : str
        The file, and the line or part of it.
    problem : str
        What is wrong there, and what would be right.
    """

    def __init__(self, place: str, problem: str):
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem
