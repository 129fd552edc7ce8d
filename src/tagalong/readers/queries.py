"""Documents of one query, read together."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from tagalong.learning.items import Item, ReadError

__all__ = ["Query", "grades_of", "queries"]


@dataclass(frozen=True, slots=True)
class Query:
    """Documents to be ranked.

    Parameters
    ----------
    id : str
        What the query is called.
    documents : tuple of Item
        In the order in which they were read.
    """

    id: str
    documents: tuple[Item, ...]

    @property
    def place(self) -> str:
        """Where its first document was read."""
        return self.documents[0].place

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels of its documents; None if some have none."""
        found: list[str] = []
        for document in self.documents:
            if not document.labels:
                return None
            found.extend(document.labels)
        return tuple(found)


def queries(items: Iterable[Item]) -> Iterator[Query]:
    """Yield the queries of items; the documents of one stand together.

    Parameters
    ----------
    items : iterable of Item
        Documents.
    """
    for id, documents in groupby(items, key=lambda item: item.query):
        found = Query(id, tuple(documents))
        if not id:
            raise ReadError(found.place, "no query: documents to be ranked need one (qid)")
        yield found


def grades_of(query: Query) -> list[float]:
    """Return the grades of a query's documents; ValueError if a label is none."""
    found = []
    for document in query.documents:
        labels = document.labels or ()
        try:
            (label,) = labels
            found.append(float(label))
        except ValueError:
            raise ValueError(
                f"{document.place or document.id}: a document has one grade, a number, not "
                f"{', '.join(labels) or 'nothing'}"
            ) from None
    return found
