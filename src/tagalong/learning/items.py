"""The item, and the error for items that cannot be read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

__all__ = ["FeatureValue", "Item", "ReadError"]

FeatureValue: TypeAlias = float | str


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to file: a mail, a ticket, a document.

    Parameters
    ----------
    id : str
        Its identifier in the source; need not be unique.
    text : str or mapping of str to str
        Its text, or one text per field ("subject", "from", ...). The same word in two fields is
        two features, or three with ``TextFeatures(backoff=True)``; the words of the field "" are
        the same features as those of a plain text.
    features : mapping of str to number or str
        Further features. A number is the feature's value, a string its category.
    labels : tuple of str, or None
        The labels it is filed under: () if it has none, None if they are not known.
    weight : float
        Its sample weight.
    place : str
        The position in its source, as "file:line", for messages. Comparisons of items ignore it.
    query : str
        The query it belongs to, if items are documents to be ranked per query.
    date : datetime, or None
        When it was written or sent, with a time zone; None if that is not known. Items with the
        same instant in two time zones are equal.
    """

    id: str = ""
    text: str | Mapping[str, str] = ""
    features: Mapping[str, FeatureValue] = field(default_factory=dict)
    labels: tuple[str, ...] | None = None
    weight: float = 1.0
    place: str = field(default="", compare=False)
    query: str = ""
    date: datetime | None = None

    def __post_init__(self) -> None:
        if self.date is not None and not _has_time_zone(self.date):
            raise ValueError(
                f"the date of an item must be a datetime with a time zone, not {self.date!r}; a "
                "time zone is added by, for example, date.replace(tzinfo=datetime.timezone.utc)"
            )


def _has_time_zone(date: object) -> bool:
    return isinstance(date, datetime) and date.utcoffset() is not None


class ReadError(ValueError):
    """Input that violates its format; the message begins with the file and line.

    Parameters
    ----------
    place : str
        The file, with the number of the line or the name of the part.
    problem : str
        The error, and a description of valid input.
    """

    def __init__(self, place: str, problem: str):
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem

    def __reduce__(self) -> tuple[type["ReadError"], tuple[str, str]]:
        return type(self), (self.place, self.problem)
