"""Nothing that was acknowledged is lost or there twice; the bits are those of a plain replay."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tagalong.journal import Workspace, WorkspaceView
from tagalong.journal.reader import JournalReader
from tagalong.journal.storage import Place, storage_of
from tests.journal.comparison import assert_equal, hash_of, naive_of
from tests.journal.examples import new_workspace
from tests.services.load import Acknowledged
from tests.services.server_process import run


def assert_acknowledged_are_there(place: Place, acknowledged: Sequence[Acknowledged]) -> int:
    """Every acknowledged change is an event with its number and content; return the last event."""
    seqs = Counter(each.seq for each in acknowledged)
    assert [seq for seq, count in seqs.items() if count > 1] == []
    with WorkspaceView(place) as view:
        events = {each.event.seq: each.to_json() for each in view.listed_events(limit=10**9)}
    for each in acknowledged:
        event = events[each.seq]
        assert {name: event[name] for name in each.facts} == each.facts
    return max(events)


def assert_nothing_else_is_there(tip: int, acknowledged: Sequence[Acknowledged]) -> None:
    """Every event was acknowledged: none was stored twice, none without its client."""
    assert sorted(each.seq for each in acknowledged) == list(range(2, tip + 1))


def assert_sound(place: Place, start: str, again: Path) -> str:
    """A workspace is sound, and has the bits of two replays of its events; return its hash.

    One replay is the naive one, the other makes the same requests to a new workspace, in the folder
    `again`.
    """
    run("journal", "verify", place)
    with Workspace(place, create=False) as workspace:
        assert workspace.problems == []
        found = hash_of(workspace)
        assert_equal(workspace, naive_of(place, start, {"audit": workspace.settings.audit}))
    with new_workspace(again, start) as replayed:
        _make_the_same_requests(place, replayed)
        assert hash_of(replayed) == found
    return found


def _make_the_same_requests(place: Place, again: Workspace) -> None:
    with JournalReader(storage_of(place).database) as reader, reader.view():
        for event in list(reader.events(after=1)):
            body = event.body
            id = None if event.item is None else reader.item_content(event.item).item.id
            match event.kind:
                case "item":
                    seq = again.add(reader.item_content(event.seq).item, event.labels).seq
                case "answer":
                    assert id is not None
                    seq = again.answer(id, **body)
                case "undo":
                    (undone,) = event.taken
                    seq = again.undo(undone)
                case "label-added":
                    seq = again.add_label(**body)
                case "label-renamed":
                    seq = again.rename_label(body["name"], body["to"])
                case _:
                    raise AssertionError(f"no client makes such an event: {event}")
            assert seq == event.seq
