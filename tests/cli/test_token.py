"""Tests of ``tagalong token``."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tagalong.files.lock import exclusive_lock
from tagalong.server.access import tokens as module
from tagalong.server.access.tokens import FileTokens
from tagalong.server.access.who import Who
from tests.cli.conftest import Run


@pytest.fixture
def tokens(run: Run, tmp_path: Path) -> FileTokens:
    """The tokens of a folder that is served."""
    (tmp_path / "mail").mkdir()
    found = FileTokens(tmp_path / "mail")
    found.owner()
    return found


def test_add_shows_the_token_once(run: Run, tokens: FileTokens, tmp_path: Path) -> None:
    done = run("token", "add", "mail", "bob")
    assert done.code == 0, done.err
    token = done.out.removesuffix("\n")
    assert tokens.identify(token) == Who("bob", False, "token")
    assert done.err == "the token bob allows changes; keep it now, it is not shown again\n"
    for file in (tmp_path / "mail").iterdir():
        assert token not in file.read_text()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in run("token", "list", "mail").out


def test_add_read_only_as_json(run: Run, tokens: FileTokens) -> None:
    done = run("token", "add", "mail", "eve", "--read-only", "--json", "--quiet")
    assert done.json == {
        "workspace": "mail",
        "name": "eve",
        "read_only": True,
        "token": done.json["token"],
    }
    assert done.err == ""
    assert tokens.identify(done.json["token"]) == Who("eve", True, "token")


def test_list(run: Run, tokens: FileTokens) -> None:
    none = run("token", "list", "mail")
    assert (none.code, none.out) == (0, "")
    assert none.err == "mail has no named tokens; 'tagalong token add' makes one\n"
    assert run("token", "list", "mail", "--json").json == {"workspace": "mail", "tokens": []}
    tokens.add("eve", read_only=True)
    tokens.add("bob")
    made = [each.created for each in tokens.list()]
    times = [f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in made if each is not None]
    assert run("token", "list", "mail").out.splitlines() == [
        "name  rights     made",
        f"bob   all        {times[0]}",
        f"eve   read-only  {times[1]}",
    ]
    assert run("token", "list", "mail", "--json").json["tokens"] == [
        {"name": "bob", "read_only": False, "created": times[0]},
        {"name": "eve", "read_only": True, "created": times[1]},
    ]


def test_remove(run: Run, tokens: FileTokens) -> None:
    token = tokens.add("bob")
    done = run("token", "remove", "mail", "bob")
    assert (done.code, done.out) == (0, "removed: bob; its log-ins have ended\n")
    assert tokens.identify(token) is None
    tokens.add("bob")
    assert run("token", "remove", "mail", "bob", "--json").json == {
        "workspace": "mail",
        "removed": "bob",
    }
    again = run("token", "remove", "mail", "bob")
    assert (again.code, again.out) == (1, "")
    assert again.err == "tagalong: there is no token 'bob'; named tokens: none\n"


def test_renew(run: Run, tokens: FileTokens) -> None:
    old = tokens.owner()
    done = run("token", "renew", "mail")
    assert (done.code, done.out) == (0, f"{tokens.owner()}\n")
    assert "all log-ins have ended" in done.err
    assert tokens.identify(old) is None
    found = run("token", "renew", "mail", "--json").json
    assert found["name"] == "owner"
    assert tokens.identify(found["token"]) == Who("owner", False, "token")


@pytest.mark.parametrize(
    "argv, problem",
    [
        (("add", "mail", "Bob"), "the name 'Bob' of a token must have 1 to 63 characters"),
        (("add", "mail", "owner"), "'tagalong token renew'"),
        (("remove", "mail", "owner"), "'tagalong token renew'"),
        (("add", "mail", "eve"), "there is a token 'eve' already"),
        (("add", "nowhere", "bob"), "nowhere: there is no workspace in this folder"),
        (("renew", "."), ".: there is no workspace in this folder"),
        (("list", "items.jsonl"), "items.jsonl: there is no workspace in this folder"),
        (("add", "mail/workspaces/other", "bob"), "tokens are for all workspaces of a server"),
    ],
)
def test_refusals_change_nothing(
    run: Run, tokens: FileTokens, tmp_path: Path, stream: Path, argv: tuple[str, ...], problem: str
) -> None:
    tokens.add("eve")
    other = tmp_path / "mail" / "workspaces" / "other"
    other.mkdir(parents=True)
    (other / "journal.sqlite").touch()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = run("token", *argv)
    assert (done.code, done.out) == (1, "")
    assert problem in done.err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_wrong_command_lines(run: Run, tokens: FileTokens) -> None:
    for argv in ((), ("add", "mail"), ("list", "mail", "bob"), ("renew", "mail", "--read-only")):
        assert run("token", *argv).code == 2, argv


def test_a_new_workspace_can_have_tokens_before_it_is_served(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "journal.sqlite").touch()
    token = run("token", "add", "mail", "bob").out.strip()
    assert FileTokens(tmp_path / "mail").identify(token) == Who("bob", False, "token")


def test_files_that_others_could_open_are_reported(
    run: Run, tokens: FileTokens, tmp_path: Path
) -> None:
    tokens.add("bob")
    (tmp_path / "mail" / "tokens.json").chmod(0o644)
    done = run("token", "list", "mail")
    assert done.code == 0
    assert "tagalong: warning: mail/tokens.json: other users could open this file" in done.err


def test_the_lock_of_another_process_is_named(
    run: Run, tokens: FileTokens, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS_TO_WAIT", 0.0)
    with exclusive_lock(tmp_path / "mail" / "tokens.json", command="tagalong other"):
        done = run("token", "add", "mail", "bob")
    assert done.code == 1
    assert "this list of tokens is in use by process" in done.err
    assert tokens.list() == ()


def test_the_command_needs_no_package_of_the_server() -> None:
    program = (
        "import sys, tagalong.cli.token; "
        "print(sorted({'starlette', 'uvicorn', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
