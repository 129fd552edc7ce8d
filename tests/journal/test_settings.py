"""Settings: events decide learning; settings.toml decides operation only."""

from pathlib import Path
from typing import Any

import pytest

from tagalong import LabelRanker, Predtron, Tagger
from tagalong.journal import RefusedError, Settings, Workspace
from tagalong.journal.limits import read_limits
from tests.journal.comparison import assert_equal, hash_of, naive_of
from tests.journal.examples import new_workspace


def write(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "settings.toml").write_text(text, encoding="utf-8")


def test_the_first_event_has_all_settings(folder: Path) -> None:
    with Workspace(folder, settings={"labels": "fixed"}) as workspace:
        body = workspace.events()[0].body
        assert body["settings"] == {
            "labels": "fixed",
            "one_label": "auto",
            "min_precision": 0.95,
            "audit": 0.02,
            "content": "text",
            "paused": False,
        }
        assert workspace.settings == Settings(labels="fixed")


def test_a_model_brings_its_own_settings(folder: Path) -> None:
    tagger = Tagger(LabelRanker(race=None, one_label=True), audit=0.25)
    with Workspace(folder, tagger=tagger) as workspace:
        assert workspace.settings == Settings(audit=0.25, one_label=True)
    with Workspace(folder.with_name("other"), tagger=tagger, settings={"audit": 0}) as workspace:
        assert workspace.settings == Settings(audit=0, one_label=True)
        assert workspace.tagger.audit == 0
    assert tagger.audit == 0.25


def test_changes_are_events(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.change_settings(labels="fixed", min_precision=0.9)
        assert workspace.settings == Settings(labels="fixed", min_precision=0.9)
        workspace.change_settings(min_precision=0.8)
        workspace.undo(2)
        assert workspace.settings == Settings(min_precision=0.8)
    with Workspace(folder) as workspace:
        assert workspace.settings == Settings(min_precision=0.8)
        assert_equal(workspace, naive_of(folder))


WRONG: list[dict[str, Any]] = [
    {},
    {"labels": "some"},
    {"one_label": "yes"},
    {"one_label": None},
    {"min_precision": 0},
    {"min_precision": 1.1},
    {"min_precision": "high"},
    {"min_precision": float("nan")},
    {"audit": -1},
    {"audit": 0.0001},
    {"audit": 2},
    {"content": "nothing"},
    {"paused": 1},
    {"colour": "red"},
    {"labels": "fixed", "colour": "red"},
]


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_wrong_settings_are_refused(folder: Path, changes: dict[str, Any]) -> None:
    name = next(reversed(changes), "setting")
    with new_workspace(folder) as workspace:
        before = hash_of(workspace)
        with pytest.raises(RefusedError, match=name):
            workspace.change_settings(**changes)
        assert (workspace.tip, workspace.settings) == (1, Settings())
        assert hash_of(workspace) == before
    if changes:
        with pytest.raises(RefusedError, match=name):
            Workspace(folder.with_name("other"), settings=changes)
        assert not (folder.with_name("other") / "journal.sqlite").exists()


def test_one_label_needs_a_learner_that_knows_it(folder: Path) -> None:
    tagger = Tagger(Predtron("multiclass"))
    with pytest.raises(RefusedError, match="one_label must be 'auto'"):
        Workspace(folder, tagger=tagger, settings={"one_label": True})
    with Workspace(folder, tagger=tagger) as workspace:
        for value in (True, False):
            with pytest.raises(RefusedError, match="one_label must be 'auto'"):
                workspace.change_settings(one_label=value)
        workspace.change_settings(one_label="auto")
        workspace.add("the invoice", ["money"])
        hash_of(workspace)
        assert workspace.problems == []


def test_settings_that_the_model_needs_reach_it(workspace: Workspace) -> None:
    workspace.change_settings(audit=0.5, one_label=True)
    assert workspace.tagger.audit == 0.5
    assert workspace.tagger.has_one_label
    before = hash_of(workspace)
    workspace.change_settings(min_precision=0.6, paused=True, labels="fixed")
    assert hash_of(workspace) == before


def test_without_a_file_the_defaults_hold(folder: Path) -> None:
    operation = read_limits(folder, Settings())
    assert operation.snapshot_budget(100) == 2000
    assert operation.snapshot_budget(10**9) == 2_000_000_000


def test_the_file_limits_snapshots(folder: Path) -> None:
    write(folder, "snapshot_bytes = 5_000\n")
    assert read_limits(folder, Settings()).snapshot_budget(10**9) == 5000


def test_values_that_decide_learning_must_agree(folder: Path) -> None:
    with new_workspace(folder) as workspace:
        workspace.change_settings(min_precision=0.9)
    write(folder, 'min_precision = 0.9\nlabels = "grow"\n')
    with Workspace(folder) as workspace:
        workspace.change_settings(min_precision=0.8)
    with pytest.raises(RefusedError) as error:
        Workspace(folder)
    message = str(error.value)
    assert str(folder / "settings.toml") in message
    assert "min_precision" in message
    assert "0.8" in message  # what the journal says
    write(folder, "min_precision = 0.8\n")
    with Workspace(folder) as workspace:  # the lock was released
        assert workspace.settings.min_precision == 0.8


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("snapshot_byte = 3\n", "snapshot_byte: there is no such setting"),
        ("snapshot_bytes = -1\n", "snapshot_bytes: must be a number of bytes, at least 0, got -1"),
        ("snapshot_bytes = true\n", "snapshot_bytes: must be"),
        ('snapshot_bytes = "1 GB"\n', "snapshot_bytes: must be"),
        ("snapshot_bytes =\n", "not valid TOML"),
        ('content = "features"\n', "content differs"),
        ("[snapshots]\nbytes = 3\n", "snapshots: there is no such setting"),
    ],
)
def test_a_wrong_file_is_refused_by_name(folder: Path, text: str, problem: str) -> None:
    new_workspace(folder).close()
    write(folder, text)
    with pytest.raises(RefusedError) as error:
        Workspace(folder)
    assert str(folder / "settings.toml") in str(error.value)
    assert problem in str(error.value)


def test_a_file_that_is_no_text_is_refused(folder: Path) -> None:
    new_workspace(folder).close()
    (folder / "settings.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(RefusedError, match="not valid TOML"):
        Workspace(folder)
