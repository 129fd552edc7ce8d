"""How many statements the database gets: their number decides how many answers it can take."""

from collections.abc import Callable
from typing import Any

import pytest

from tagalong.journal import Workspace

FRAME = ("BEGIN", "COMMIT", "SELECT")
"""The statements of every commit, however many requests share it; the last reads what is new."""


def statements(workspace: Workspace, work: Callable[[], Any]) -> list[str]:
    """Return the first words of the statements that the writer makes meanwhile."""
    found: list[str] = []
    connection: Any = workspace._store._connection
    connection.set_trace_callback(lambda text: found.append(text.split()[0]))
    try:
        work()
    finally:
        connection.set_trace_callback(None)
    return found


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    for number in range(20):
        workspace.add(f"the invoice number {number}", id=f"{number}")
    workspace.answer("0", ["money"])
    return workspace


def test_an_answer_takes_eight_statements(filled: Workspace) -> None:
    found = statements(filled, lambda: filled.answer("1", ["money"]))
    expected = ["BEGIN", "SAVEPOINT", "SELECT", "INSERT", "UPDATE", "RELEASE", "COMMIT", "SELECT"]
    assert found == expected


def test_answers_in_one_commit_take_five_statements_each(filled: Workspace) -> None:
    works = [filled.answering(f"{number}", ["money"]) for number in range(1, 17)]
    found = statements(filled, lambda: filled.do_together(works))
    assert len(found) == len(FRAME) + 5 * len(works)


def test_an_open_item_takes_nine_statements(filled: Workspace) -> None:
    found = statements(filled, lambda: filled.add("the hotel", id="new"))
    # The item is looked for; event, content and the row of the list are stored.
    assert len(found) == len(FRAME) + 6


def test_an_item_with_a_known_label_takes_as_many(filled: Workspace) -> None:
    found = statements(filled, lambda: filled.add("the bank", ["money"], id="new"))
    assert len(found) == len(FRAME) + 6


def test_the_number_does_not_grow_with_the_history(filled: Workspace) -> None:
    """After undoing, forgetting and operations on labels an answer costs the same."""
    filled.undo(filled.answer("2", ["money"]))
    filled.add("the train", ["travel"], id="gone")
    filled.add_label("tax")
    filled.rename_label("tax", "taxes")
    filled.forget("gone")
    filled.settle()
    with filled._commits.paused():  # the thread that settled it has ended its own statements
        pass
    assert len(statements(filled, lambda: filled.answer("3", ["money"]))) == len(FRAME) + 5


def test_a_refused_request_reads_the_journal_only_once(filled: Workspace) -> None:
    work = filled.answering("missing", ["money"])
    found = statements(filled, lambda: filled.do_together([work]))
    assert found.count("SELECT") == 2  # the item, and that nothing new was stored
    assert "INSERT" not in found
