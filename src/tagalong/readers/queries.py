"""Grouping of items into queries with documents to rank."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from tagalong.learning.items import Item, ReadError

__all__ = ["Query", "grades_of", "queries"]


@dataclass(frozen=True, slots=True)
class Query:
    """A query and its documents.

    Parameters
    ----------
    id : str
        Identifier of the query.
    documents : tuple of Item
        Documents in the order of the source.
    """

    id: str
    documents: tuple[Item, ...]

    @property
    def place(self) -> str:
        """Place of the first document, as "file:line"."""
        return self.documents[0].place

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of all documents; None if a document has no labels."""
        found: list[str] = []
        for document in self.documents:
            if not document.labels:
                return None
            found.extend(document.labels)
        return tuple(found)


def queries(items: Iterable[Item]) -> Iterator[Query]:
    """Yield the queries of a stream of documents.

    Parameters
    ----------
    items : iterable of Item
        Documents. Those of one query must be consecutive.
    """
    for id, documents in groupby(items, key=lambda item: item.query):
        found = Query(id, tuple(documents))
        if not id:
            raise ReadError(found.place, "the document has no query (qid), which ranking needs")
        yield found


def grades_of(query: Query) -> list[float]:
    """Return the grades of a query's documents; raise ValueError if a label is not a number."""
    found = []
    for document in query.documents:
        labels = document.labels or ()
        try:
            (label,) = labels
            found.append(float(label))
        except ValueError:
            raise ValueError(
                f"{document.place or document.id}: a document must have one label, its grade as a "
                f"number, not {', '.join(labels) or 'none'}"
            ) from None
    return found
