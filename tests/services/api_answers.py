"""The answer of the API to a request, given the result of the naive workspace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tagalong import Item
from tagalong.journal import ConflictError, JournalError, NotFoundError, RefusedError
from tests.server.answers import Answer

STATUS: dict[type[JournalError], int] = {NotFoundError: 404, ConflictError: 409, RefusedError: 422}


@dataclass
class Expected:
    """An expected answer.

    Parameters
    ----------
    seq : int or None
        The number of the event; None if none is told.
    outcome : str
        What became of an item.
    error : JournalError or None
        Why the request is refused.
    """

    seq: int | None = None
    outcome: str = ""
    error: JournalError | None = None

    @property
    def status(self) -> int | None:
        return None if self.error is None else STATUS[type(self.error)]

    def agrees_with(self, found: Answer) -> bool:
        if self.error is not None:
            if found.status != self.status:
                return False
            return self._has_facts(found.json)
        if self.seq is None:
            return found.status == 204
        if self.outcome:
            right = {"new": 201, "known": 200}[self.outcome]
            return (found.status, found.json.get("seq")) == (right, self.seq)
        return found.status in (200, 202) and found.json == {"seq": self.seq}

    def agrees_with_line(self, found: dict[str, Any]) -> bool:
        """Whether a line of the answer to a batch agrees."""
        if self.error is not None:
            problem = found.get("problem", {})
            return problem.get("status") == self.status and self._has_facts(problem)
        return (found.get("seq"), found.get("outcome")) == (self.seq, self.outcome)

    def _has_facts(self, problem: dict[str, Any]) -> bool:
        if not isinstance(self.error, ConflictError):
            return True
        events = problem.get("events", [])
        return (problem.get("labels"), events) == (self.error.present, self.error.seqs)


def expected_answer(naive: Callable[[], Any]) -> Expected:
    """Let the naive workspace do what was requested."""
    try:
        result = naive()
    except JournalError as error:
        return Expected(error=error)
    if isinstance(result, tuple):
        return Expected(*result)
    return Expected(result)


def item_json(item: Item, labels: list[str] | None) -> dict[str, Any]:
    """The body of a request that adds an item."""
    is_text = isinstance(item.text, str)
    found: dict[str, Any] = {"text" if is_text else "fields": item.text}
    if item.id:
        found["id"] = item.id
    if item.features:
        found["values"] = item.features
    if item.weight != 1:
        found["weight"] = item.weight
    return found if labels is None else {**found, "labels": labels}
