"""Lessons from the locations of messages, and detection of renamed folders."""

from typing import get_args

import pytest

from tagalong.learning.items import ReadError
from tagalong.mail.filing.decisions import Decision, decide
from tagalong.mail.filing.journal import Entry, Journal, State
from tagalong.mail.filing.mailbox import Message, Snapshot
from tagalong.mail.filing.renames import find_renamed_folders

# (state, place) -> lesson, new state, new folder; the message was last in the folder "A".
EXPECTED: dict[tuple[State | None, str], tuple[str | None, str | None, str]] = {
    (None, "A"): ("learn", "learnt", "A"),
    (None, ""): (None, None, ""),
    (None, "Trash"): (None, None, ""),
    ("learnt", "A"): (None, "learnt", "A"),
    ("learnt", "B"): ("correct", "learnt", "B"),
    ("learnt", ""): (None, "withdrawn", "A"),
    ("learnt", "Trash"): (None, "learnt", "A"),
    ("filed", "A"): (None, "filed", "A"),
    ("filed", "B"): ("refile", "learnt", "B"),
    ("filed", ""): ("reject", "refused", "A"),
    ("filed", "Trash"): (None, "filed", "A"),
    ("moving", "A"): (None, "filed", "A"),
    ("moving", "B"): ("refile", "learnt", "B"),
    ("moving", ""): (None, None, ""),
    ("moving", "Trash"): (None, None, ""),
    ("refused", "A"): ("retry", "learnt", "A"),
    ("refused", "B"): ("retry", "learnt", "B"),
    ("refused", ""): (None, "refused", "A"),
    ("refused", "Trash"): (None, "refused", "A"),
    ("withdrawn", "A"): (None, "learnt", "A"),
    ("withdrawn", "B"): ("correct", "learnt", "B"),
    ("withdrawn", ""): (None, "withdrawn", "A"),
    ("withdrawn", "Trash"): (None, "withdrawn", "A"),
    ("asked", "A"): ("answer", "learnt", "A"),
    ("asked", "B"): ("answer", "learnt", "B"),
    ("asked", ""): (None, "asked", "A"),
    ("asked", "Trash"): (None, "asked", "A"),
}


@pytest.mark.parametrize("state, place", EXPECTED)
def test_decision_by_state_and_folder(state: State | None, place: str) -> None:
    entry = None if state is None else Entry("A", state, "id")
    assert decide(entry, place, place in "AB" and place != "") == EXPECTED[state, place]


@pytest.mark.parametrize("state", get_args(State))
@pytest.mark.parametrize("place", ["A", "B", "INBOX", "Trash"])
def test_a_decision_is_not_repeated(state: State, place: str) -> None:
    is_ordinary = place in ("A", "B")
    first = decide(Entry("A", state, "id"), place, is_ordinary)
    entry = None if first.state is None else Entry(first.folder, first.state, "id")
    assert decide(entry, place, is_ordinary) == Decision(None, first.state, first.folder)


def snapshot(places: dict[str, str], folders: set[str]) -> Snapshot:
    messages = {key: [Message(1, key, folder, "cur")] for key, folder in places.items()}
    ordinary = frozenset(folders - {""})
    return Snapshot(frozenset(folders), ordinary, ordinary, messages, {})


def journal(places: dict[str, str]) -> Journal:
    return Journal(present={key: Entry(folder, "learnt", key) for key, folder in places.items()})


def test_a_renamed_folder_is_detected() -> None:
    before = {"1": "Work", "2": "Work", "3": "Home"}
    after = snapshot({"1": "Job", "2": "Job", "3": "Home"}, {"", "Job", "Home"})
    assert find_renamed_folders({"Work", "Home"}, journal(before), after) == {"Work": "Job"}


@pytest.mark.parametrize(
    "after, folders, labels",
    [
        ({"1": "Job", "2": "Job"}, {"Job", "Work"}, {"Work"}),  # the old folder still exists
        ({"1": "Job", "2": "Home"}, {"Job", "Home"}, {"Work"}),  # split over two folders
        ({"1": "Job", "2": "Job"}, {"Job"}, {"Work", "Job"}),  # moved into a known folder
        ({"1": "Job"}, {"Job"}, {"Work"}),  # only one of three messages is left
        ({"1": "Job", "2": "Job"}, {"Job"}, set()),  # the old folder was not a label
        ({"1": "", "2": ""}, {""}, {"Work"}),  # moved into the inbox
        ({}, {"Job"}, {"Work"}),
    ],
)
def test_other_changes_are_not_renames(
    after: dict[str, str], folders: set[str], labels: set[str]
) -> None:
    before = {"1": "Work", "2": "Work", "3": "Work"}
    assert find_renamed_folders(labels, journal(before), snapshot(after, folders)) == {}


def test_merged_folders_are_not_renames() -> None:
    before = {"1": "Work", "2": "Job", "3": "Old"}
    after = snapshot({"1": "Both", "2": "Both", "3": "New"}, {"Both", "New"})
    assert find_renamed_folders({"Work", "Job", "Old"}, journal(before), after) == {"Old": "New"}


def test_spot_checks_and_unreadable_folders_say_nothing_about_renames() -> None:
    """The suggested folder of a spot check is not the folder of the message."""
    before = Journal(
        present={
            "1": Entry("Work", "learnt", "1"),
            "2": Entry("Work", "asked", "2"),
            "3": Entry("Work", "asked", "3"),
            "4": Entry("Far/Away", "learnt", "4"),
        }
    )
    after = snapshot({"1": "Job", "2": "", "3": "", "4": "Near"}, {"", "Job", "Near"})
    labels = {"Work", "Far/Away"}
    assert find_renamed_folders(labels, before, after) == {"Work": "Job", "Far/Away": "Near"}
    after.unread["Far"] = ReadError("Far", "cannot be read")
    assert find_renamed_folders(labels, before, after) == {"Work": "Job"}
