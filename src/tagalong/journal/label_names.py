"""The names of labels over time: which name a label of an earlier answer has at present."""

import json
import sqlite3
from bisect import bisect
from collections.abc import Collection

__all__ = ["LabelNames"]

_QUERY = (
    "SELECT seq, kind, body FROM events WHERE kind NOT IN ('item', 'answer') AND kind IN "
    "('label-renamed', 'label-merged', 'label-forgotten') "
    "AND seq NOT IN (SELECT seq FROM taken_back) ORDER BY seq"
)


class LabelNames:
    """Finds the present names of labels.

    Parameters
    ----------
    connection : Connection
        The journal, whose label operations that count are read once.
    """

    def __init__(self, connection: sqlite3.Connection):
        self._seqs: dict[str, list[int]] = {}
        self._new: dict[str, list[str | None]] = {}
        for seq, kind, text in connection.execute(_QUERY):
            body = json.loads(text)
            new = {"label-renamed": "to", "label-merged": "into"}.get(kind)
            self._seqs.setdefault(body["name"], []).append(seq)
            self._new.setdefault(body["name"], []).append(None if new is None else body[new])

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
