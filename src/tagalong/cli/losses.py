"""Parts of items that a file format cannot hold."""

from collections.abc import Collection, Iterable, Iterator

from tagalong.learning.items import Item

__all__ = ["SeenParts", "losses_of"]

# Parts of an item that a writer omits or changes. Any other part that it cannot write causes an
# error.
LOSSES = {
    "fasttext": {
        "ids": "ids are omitted",
        "fields": "the fields of a text are joined",
        "dates": "dates are omitted",
        "layout": "line breaks and repeated spaces become single spaces",
    },
    "vw": {
        "dates": "dates are omitted",
        "fields": "the fields of a text become namespaces of words",
        "text": "texts are split into words, with _ for bars and colons",
        "categories": "categories become features name=category",
    },
    "svmlight": {
        "dates": "dates are omitted",
        "categories": "categories become features name=category",
    },
    "arff": {
        "ids": "ids are omitted",
        "dates": "dates are omitted",
        "zeros": "features with value 0 are omitted",
    },
}


def losses_of(format: str, parts: Collection[str]) -> list[str]:
    """Return what a format cannot hold of items with some parts.

    Parameters
    ----------
    format : str
        Name of the format.
    parts : collection of str
        The parts, from `SeenParts`.
    """
    return [loss for part, loss in LOSSES.get(format, {}).items() if part in parts]


class SeenParts:
    """Records which parts the items have that a format may be unable to hold.

    Attributes
    ----------
    parts : set of str
        The parts.
    """

    def __init__(self) -> None:
        self.parts: set[str] = set()

    def record(self, items: Iterable[Item]) -> Iterator[Item]:
        """Return items as they are.

        Parameters
        ----------
        items : iterable of Item
            The items.
        """
        for item in items:
            self.parts.update(_parts(item))
            yield item


def _parts(item: Item) -> Iterator[str]:
    if item.id:
        yield "ids"
    if item.date is not None:
        yield "dates"
    texts: list[str] = [item.text] if isinstance(item.text, str) else [*item.text.values()]
    if not isinstance(item.text, str):
        yield "fields"
    if any(texts):
        yield "text"
    if any(text != " ".join(text.split()) for text in texts):
        yield "layout"
    for value in item.features.values():
        if isinstance(value, str):
            yield "categories"
        elif value == 0:
            yield "zeros"
