"""The names of labels over time: which name a label of an earlier answer has at present."""

from bisect import bisect
from collections.abc import Collection, Iterable

from tagalong.journal.events import Event

__all__ = ["LabelNames"]


class LabelNames:
    """Finds the present names of labels.

    Parameters
    ----------
    operations : iterable of Event
        The events that count and have renamed, merged or forgotten a label, in order.
    """

    def __init__(self, operations: Iterable[Event]):
        self._seqs: dict[str, list[int]] = {}
        self._new: dict[str, list[str | None]] = {}
        for event in operations:
            name = event.body["name"]
            self._seqs.setdefault(name, []).append(event.seq)
            self._new.setdefault(name, []).append(event.body.get("to") or event.body.get("into"))

    def present(self, labels: Collection[str], since: int) -> list[str]:
        """Return labels by their present names, without those that were forgotten.

        Parameters
        ----------
        labels : collection of str
            Labels by their names at some event.
        since : int
            That event.
        """
        found = (self._one(label, since) for label in labels)
        return list(dict.fromkeys(name for name in found if name is not None))

    def _one(self, label: str, since: int) -> str | None:
        name: str | None = label
        while name is not None:
            seqs = self._seqs.get(name, [])
            place = bisect(seqs, since)
            if place == len(seqs):
                return name
            since = seqs[place]
            name = self._new[name][place]
        return None
