"""Tests of tokens in files: who is identified, what is stored, who may read it."""

import hashlib
import json
import os
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.files.lock import exclusive_lock
from tagalong.server.access import token_store
from tagalong.server.access import tokens as module
from tagalong.server.access.token_records import TokenError
from tagalong.server.access.token_store import TokenStore
from tagalong.server.access.tokens import FileTokens
from tagalong.server.access.who import Who
from tests.timeouts import TIMEOUT


@pytest.fixture
def tokens(tmp_path: Path) -> FileTokens:
    return FileTokens(tmp_path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_follow_the_protocol(tokens: FileTokens) -> None:
    store: TokenStore = tokens
    assert store.identify(store.owner()) == Who("owner", False, "token")


def test_the_owner_s_token_is_made_once(tmp_path: Path, tokens: FileTokens) -> None:
    token = tokens.owner()
    assert len(token) == 43
    assert (tmp_path / "token").read_text() == f"{token}\n"
    assert mode(tmp_path / "token") == 0o600
    assert tokens.owner() == FileTokens(tmp_path).owner() == token
    assert sorted(os.listdir(tmp_path)) == ["token"]


def test_processes_that_start_together_share_the_owner_s_token(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)
    found = []

    def start() -> None:
        barrier.wait(TIMEOUT)
        found.append(FileTokens(tmp_path).owner())

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert len(found) == 8
    assert len(set(found)) == 1


def test_named_tokens(tmp_path: Path, tokens: FileTokens) -> None:
    bob, eve = tokens.add("bob"), tokens.add("eve", read_only=True)
    assert tokens.identify(bob) == Who("bob", False, "token")
    assert tokens.identify(eve) == Who("eve", True, "token")
    assert len({bob, eve, tokens.owner()}) == 3
    for name in ("bob", "eve"):
        found = tokens.find(name)
        assert found is not None
        assert found.created is not None
        assert abs(datetime.now(UTC) - found.created) < timedelta(hours=1)
    assert [(each.name, each.read_only) for each in tokens.list()] == [
        ("bob", False),
        ("eve", True),
    ]
    tokens.remove("bob")
    assert tokens.identify(bob) is None
    assert tokens.find("bob") is None
    assert tokens.identify(eve) == Who("eve", True, "token")
    again = tokens.add("bob")
    assert again != bob
    assert tokens.identify(bob) is None


def test_named_tokens_are_stored_as_hashes(tmp_path: Path, tokens: FileTokens) -> None:
    token = tokens.add("bob", read_only=True)
    text = (tmp_path / "tokens.json").read_text()
    assert token not in text
    saved = json.loads(text)["tokens"]["bob"]
    assert saved["sha256"] == hashlib.sha256(token.encode()).hexdigest()
    assert saved["read_only"] is True
    assert mode(tmp_path / "tokens.json") == 0o600
    assert tokens.identify(saved["sha256"]) is None


def test_changes_of_another_process_count_at_once(tmp_path: Path, tokens: FileTokens) -> None:
    other = FileTokens(tmp_path)
    first = tokens.owner()
    for _ in range(20):  # faster than the clock of the file system
        token = other.add("bob")
        assert tokens.identify(token) == Who("bob", False, "token")
        other.remove("bob")
        assert tokens.identify(token) is None
        renewed = other.renew()
        assert tokens.identify(first) is None
        assert tokens.identify(renewed) == Who("owner", False, "token")
        first = renewed


def test_threads_that_add_lose_no_token(tmp_path: Path) -> None:
    added: dict[str, str] = {}

    def add(number: int) -> None:
        added[f"t{number}"] = FileTokens(tmp_path).add(f"t{number}")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    tokens = FileTokens(tmp_path)
    assert sorted(added) == [each.name for each in tokens.list()] == [f"t{i}" for i in range(6)]
    for name, token in added.items():
        assert tokens.identify(token) == Who(name, False, "token")


def test_a_new_owner_s_token_changes_the_secret(tokens: FileTokens) -> None:
    old_token, old_secret = tokens.owner(), tokens.secret()
    assert tokens.secret() == old_secret
    assert len(old_secret) == 32
    assert old_token.encode() not in old_secret
    new = tokens.renew()
    assert tokens.owner() == new != old_token
    assert tokens.secret() != old_secret


@pytest.mark.parametrize("name", ["a", "0", "a.b-c_d", "x" * 63])
def test_names_that_are_allowed(tokens: FileTokens, name: str) -> None:
    assert tokens.identify(tokens.add(name)) == Who(name, False, "token")


@pytest.mark.parametrize("name", ["", "A", "ä", "-a", ".a", "a b", "a\n", "a:b", "x" * 64])
def test_names_that_are_not_allowed(tmp_path: Path, tokens: FileTokens, name: str) -> None:
    for act in (tokens.add, tokens.remove):
        with pytest.raises(TokenError, match=r"must have 1 to 63 characters"):
            act(name)
    assert os.listdir(tmp_path) == []


def test_the_owner_s_name_is_reserved(tokens: FileTokens) -> None:
    for act in (tokens.add, tokens.remove):
        with pytest.raises(TokenError, match="tagalong token renew"):
            act("owner")


def test_names_that_are_taken_or_missing(tokens: FileTokens) -> None:
    token = tokens.add("bob")
    with pytest.raises(TokenError, match="there is a token 'bob' already"):
        tokens.add("bob", read_only=True)
    assert tokens.identify(token) == Who("bob", False, "token")
    with pytest.raises(TokenError, match="there is no token 'eve'; named tokens: bob"):
        tokens.remove("eve")


@pytest.mark.parametrize("file", ["token", "tokens.json"])
@pytest.mark.parametrize("rights", [0o644, 0o640, 0o602])
def test_files_that_others_can_open_become_private(
    tmp_path: Path, tokens: FileTokens, file: str, rights: int
) -> None:
    tokens.owner()
    token = tokens.add("bob")
    (tmp_path / file).chmod(rights)
    problems: list[str] = []
    reading = FileTokens(tmp_path, on_problem=problems.append)
    assert reading.identify(token) == Who("bob", False, "token")
    assert mode(tmp_path / file) == 0o600
    (problem,) = problems
    assert problem.startswith(
        f"{tmp_path / file}: other users could open this file (mode {rights:o})"
    )
    assert token not in problem
    assert reading.identify(token) is not None
    assert len(problems) == 1


@pytest.mark.parametrize("file", ["token", "tokens.json"])
def test_files_that_stay_open_to_others_are_refused(
    tmp_path: Path, tokens: FileTokens, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens.owner()
    token = tokens.add("bob")
    (tmp_path / file).chmod(0o644)
    monkeypatch.setattr(os, "fchmod", lambda descriptor, mode: None)  # as on a file system of DOS
    with pytest.raises(OSError, match="its mode cannot be changed"):
        tokens.identify(token)

    def refuse(descriptor: int, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(PermissionError, match="its mode cannot be changed"):
        tokens.identify(token)


@pytest.mark.parametrize("rights", [0o644, 0o666])
def test_a_new_token_is_never_readable_by_others(
    tmp_path: Path, tokens: FileTokens, rights: int
) -> None:
    tokens.owner()
    tokens.add("bob")
    for file in ("token", "tokens.json"):
        (tmp_path / file).chmod(rights)
    tokens.renew()
    assert mode(tmp_path / "token") == 0o600
    (tmp_path / "tokens.json").chmod(rights)
    tokens.add("eve")
    assert mode(tmp_path / "tokens.json") == 0o600


@pytest.mark.parametrize(
    "text", ["", "\n", "short", "x" * 31, "x" * 600, "two words " * 5, "ä" * 40]
)
def test_an_owner_s_token_that_can_be_guessed_is_refused(
    tmp_path: Path, tokens: FileTokens, text: str
) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(TokenError, match="must hold one token of at least 32 characters") as raised:
        tokens.identify(text)
    assert str(path) in str(raised.value)
    assert path.read_text() == text
    assert tokens.identify(tokens.renew()) == Who("owner", False, "token")


def test_an_owner_s_token_of_one_s_own(tmp_path: Path, tokens: FileTokens) -> None:
    (tmp_path / "token").write_text(f"{'0123456789abcdef' * 4}==\r\n")
    (tmp_path / "token").chmod(0o600)
    assert tokens.identify(f"{'0123456789abcdef' * 4}==") == Who("owner", False, "token")


GOOD = (
    '{"version": 1, "tokens": {"a": {"read_only": false, "created": null, "sha256": "'
    + "0" * 64
    + '"}}}'
)


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", 'has no object "tokens"'),
        ('{"tokens": []}', 'has no object "tokens"'),
        ('{"tokens": {}}', "has the version None"),
        ('{"version": 2, "tokens": {}}', "has the version 2"),
        ('{"version": 1, "tokens": {"a": 1}}', "'a' must be an object"),
        (GOOD.replace('"a"', '"owner"'), "'owner'"),
        (GOOD.replace('"a"', '"A"'), "'A'"),
        (GOOD.replace("false", "0"), '"read_only" of'),
        (GOOD.replace("000", "0", 1), '"sha256" of'),
        (GOOD.replace("null", "1"), '"created" of'),
    ],
)
def test_damaged_files_give_nobody_access(
    tmp_path: Path, tokens: FileTokens, text: str, problem: str
) -> None:
    owner = tokens.owner()
    path = tmp_path / "tokens.json"
    path.write_text(text)
    path.chmod(0o600)
    for act in (lambda: tokens.identify(owner), tokens.list, lambda: tokens.add("bob")):
        with pytest.raises(TokenError) as raised:
            act()
        assert str(raised.value).startswith(f"{path}: ")
        assert problem in str(raised.value)
    assert path.read_text() == text


def test_there_are_not_too_many(tokens: FileTokens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_store, "_MAX_NAMED", 2)
    tokens.add("a")
    tokens.add("b")
    with pytest.raises(TokenError, match="there are 2 named tokens already: remove some first"):
        tokens.add("c")
    tokens.remove("a")
    tokens.add("c")


def test_a_sound_file_is_read(tmp_path: Path, tokens: FileTokens) -> None:
    (tmp_path / "tokens.json").write_text(GOOD)
    assert [each.name for each in tokens.list()] == ["a"]


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path, tokens: FileTokens) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(OSError, match="must be a regular file"):
        tokens.owner()


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, tokens: FileTokens) -> None:
    (tmp_path / "tokens.json").write_text(" " * (1 << 20) + "{}")
    with pytest.raises(OSError, match="has more than 1,048,576 bytes"):
        tokens.list()


def test_a_lock_that_is_held_is_named(
    tmp_path: Path, tokens: FileTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SECONDS_TO_WAIT", 0.0)
    with (
        exclusive_lock(tmp_path / "tokens.json", command="other"),
        pytest.raises(
            RuntimeError, match=r"this list of tokens is in use by process \d+ \(other\)"
        ),
    ):
        tokens.add("bob")


@given(st.text(max_size=100))
def test_no_other_text_is_a_token(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    tokens = FileTokens(tmp_path_factory.getbasetemp())
    assert tokens.identify(text) is None
    assert tokens.identify(tokens.owner() + text) is None or text == ""
    assert tokens.find(f"!{text}") is None
