"""Where the items of a workspace come from, and the events of a batch."""

from pathlib import Path

from tagalong.journal import Workspace


def test_sources_are_listed_once_by_name(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        for i, source in enumerate(("mail", "", "chat", "mail", "ähre", "chat")):
            workspace.add(f"text {i}", source=source)
        assert workspace.sources() == ["chat", "mail", "ähre"]
        assert workspace.sources(2) == ["chat", "mail"]


def test_no_sources(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        assert workspace.sources() == []


def test_events_of_a_batch(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        for label in "abc":
            workspace.add(f"text {label}", [label])
        seqs = workspace.merge_labels(["a", "b"], into="c")
        batch = workspace.events(seqs[0] - 1)[0].batch
        assert workspace.events_of_batch(batch) == seqs
        assert workspace.events_of_batch("another") == []
