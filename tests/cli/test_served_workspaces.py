"""Tests of ``tagalong workspaces``."""

from pathlib import Path

import pytest

from tagalong.journal import Workspace
from tests.cli.conftest import Run


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """A folder with a workspace, relative to which the commands run."""
    with Workspace(tmp_path / "mail") as workspace:
        workspace.add("Your invoice is due", ["money"])
    return tmp_path / "mail"


def test_made_listed_and_removed(run: Run, folder: Path) -> None:
    done = run("workspaces", "add", "mail", "team-a")
    assert (done.code, done.out) == (0, "added: team-a, in mail/workspaces/team-a\n")
    listed = run("workspaces", "list", "mail", "--json").json["workspaces"]
    assert listed == [
        {"name": "default", "items": 1, "labels": 1, "events": 2},
        {"name": "team-a", "items": 0, "labels": 0, "events": 1},
    ]
    assert run("workspaces", "list", "mail").out.split()[-4:] == ["team-a", "0", "0", "1"]
    refused = run("workspaces", "remove", "mail", "team-a")
    assert refused.code == 1
    assert "add --yes" in refused.err
    assert (folder / "workspaces" / "team-a").exists()
    done = run("workspaces", "remove", "mail", "team-a", "--yes")
    assert (done.code, done.out) == (0, "removed: team-a\n")
    assert list((folder / "workspaces").iterdir()) == []


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("add", "mail", "default"), "there is a workspace 'default' already"),
        (("add", "mail", "../x"), "got '../x'"),
        (("add", "mail", "A"), "must have 1 to 63 characters from a-z, 0-9, _ and -"),
        (("remove", "mail", "none", "--yes"), "there is no workspace 'none'"),
        (("remove", "mail", "default", "--yes"), "the default workspace cannot be removed"),
        (("list", "elsewhere"), "elsewhere: there is no workspace in this folder"),
    ],
)
def test_refused(run: Run, folder: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("workspaces", *arguments)
    assert done.code == 1
    assert message in done.err
    assert (folder / "journal.sqlite").exists()


def test_a_workspace_in_use_is_not_removed(run: Run, folder: Path) -> None:
    run("workspaces", "add", "mail", "busy")
    with Workspace(folder / "workspaces" / "busy", command="tagalong serve"):
        done = run("workspaces", "remove", "mail", "busy", "--yes")
    assert done.code == 1
    assert "send it DELETE /api/v1/workspaces/busy" in done.err
    assert (folder / "workspaces" / "busy" / "journal.sqlite").exists()
