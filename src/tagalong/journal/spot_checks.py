"""Spot checks: what would have been filed without asking, and what people said about it."""

import json
from dataclasses import dataclass

from tagalong.journal.reader import JournalReader

__all__ = ["SpotCheck", "spot_checks"]


@dataclass(frozen=True, slots=True)
class SpotCheck:
    """A sure item that was left to a person.

    Parameters
    ----------
    id : str
        The item.
    expected : list of str
        The labels that it would have been filed with, by their present names.
    answer : list of str or None
        The labels that it has got, by their present names; None while it waits for an answer.
    """

    id: str
    expected: list[str]
    answer: list[str] | None

    @property
    def is_right(self) -> bool | None:
        """Whether all expected labels are right; None while nobody has answered."""
        return None if self.answer is None else set(self.expected) <= set(self.answer)


def spot_checks(reader: JournalReader, limit: int) -> list[SpotCheck]:
    """Return the last spot checks that count, the newest first.

    Those whose expected labels were all forgotten are left out.

    Parameters
    ----------
    reader : JournalReader
        The journal, which stays the same meanwhile.
    limit : int
        Maximum number of spot checks.
    """
    names = reader.label_names()
    found = []
    for id, seq, body, answer, answer_body in reader.asked(limit):
        expected = names.present(json.loads(body)["labels"], seq)
        labels = None
        if answer is not None and answer_body is not None:
            labels = names.present(json.loads(answer_body)["labels"], answer)
        if expected:
            found.append(SpotCheck(id, expected, labels))
    return found
