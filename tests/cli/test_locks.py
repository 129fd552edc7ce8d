"""Locks of models: one command at a time changes a model, and others are told which."""

import fcntl
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tagalong
from tagalong.cli.file_mail import MAX_BUSY_SECONDS
from tagalong.files import lock
from tagalong.files.lock import BusyError, exclusive_lock
from tests.cli.conftest import Run
from tests.timeouts import TIMEOUT

HOLDER = """
import sys
from tagalong.files import lock
from tagalong.files.lock import exclusive_lock
with exclusive_lock(sys.argv[1], command=sys.argv[2]):
    print("locked", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(model: str, command: str = "another command") -> Iterator[int]:
    """Hold the lock of a model in another process; yield its process id."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, model, command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"locked\n"
        yield process.pid
    finally:
        process.communicate(timeout=TIMEOUT)


def command(*argv: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "tagalong", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    _, err = process.communicate(timeout=TIMEOUT)
    return process.returncode, err.decode()


WRITING = {
    "learn": ("learn", "items.jsonl", "-m", "m.tagalong", "--force"),
    "continue": ("learn", "items.jsonl", "-m", "m.tagalong", "--continue"),
    "resume": ("learn", "-m", "m.tagalong", "--resume", "--passes", "2"),
    "fit": ("fit", "items.jsonl", "-m", "m.tagalong"),
    "set": ("labels", "set", "m.tagalong", "money", "--never"),
    "rename": ("labels", "rename", "m.tagalong", "money", "cash"),
    "merge": ("labels", "merge", "m.tagalong", "money", "travel", "--into", "both"),
    "forget": ("labels", "forget", "m.tagalong", "money"),
    "prune": ("prune", "m.tagalong", "--features", "1"),
    "export": ("export", "full.tagalong", "--compact", "--out", "m.tagalong"),
}


@pytest.mark.parametrize("argv", WRITING.values(), ids=WRITING)
def test_every_command_that_writes_a_model_needs_its_lock(
    run: Run, model: str, argv: tuple[str, ...]
) -> None:
    shutil.copy(model, "full.tagalong")
    before = Path(model).stat()
    with held(model) as pid:
        done = run(*argv, "--wait", "0.2")
        assert (done.code, done.out) == (1, "")
        assert re.search(
            rf"m\.tagalong\.lock: this model is in use by process {pid} \(another command\), "
            r"since 20[-\d]{8} [:\d]{8} UTC; waited 0\.2 s for it; --wait SECONDS waits longer",
            done.err,
        )
        assert Path(model).stat() == before
    assert run(*argv, "-q").code == 0
    assert Path(model).stat().st_mtime_ns > before.st_mtime_ns
    assert not Path("m.tagalong.lock").exists()


def test_commands_that_only_read_need_no_lock(run: Run, model: str) -> None:
    with held(model):
        assert run("suggest", "--text", "invoice", "-m", model).code == 0
        assert run("labels", "list", model).code == 0
        assert run("inspect", model).code == 0
        assert run("evaluate", "items.jsonl", "-m", model).code == 0
        assert run("learn", "items.jsonl", "-q").code == 0


def test_two_renames_at_once_both_take_effect(run: Run, model: str) -> None:
    with held(model):
        first = command("labels", "rename", model, "money", "cash", "--wait", "500")
        second = command("labels", "rename", model, "travel", "trips", "--wait", "500")
    assert [ended(first)[0], ended(second)[0]] == [0, 0]
    assert sorted(tagalong.load(model).labels) == ["cash", "family", "trips"]


def test_two_runs_that_continue_a_model_both_take_effect(run: Run, model: str) -> None:
    rounds = tagalong.load(model).certificate_.rounds
    argv = ("learn", "items.jsonl", "-m", model, "--continue", "-q", "--wait", "500")
    with held(model):
        first, second = command(*argv), command(*argv)
    assert [ended(first)[0], ended(second)[0]] == [0, 0]
    assert tagalong.load(model).certificate_.rounds == 3 * rounds


def test_a_model_that_another_command_makes_meanwhile_is_not_replaced(
    run: Run, stream: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def waited(*arguments: object) -> Iterator[None]:
        Path("new.tagalong").write_bytes(b"made by another command")
        yield

    monkeypatch.setattr("tagalong.cli.learn.command.locked_model", waited)
    done = run("learn", "items.jsonl", "-m", "new.tagalong")
    assert (done.code, "already exists" in done.err) == (2, True)
    assert Path("new.tagalong").read_bytes() == b"made by another command"


def test_all_links_to_a_model_share_its_lock(run: Run, model: str) -> None:
    Path("folder").mkdir()
    Path("folder/link").symlink_to("../m.tagalong")
    with held("folder/link") as pid:
        assert Path("m.tagalong.lock").exists()
        done = run("labels", "forget", model, "money", "--wait", "0")
        assert f"process {pid} " in done.err
    done = run("labels", "forget", "folder/link", "money")
    assert done.code == 0
    assert Path("folder/link").is_symlink()
    assert os.listdir("folder") == ["link"]
    assert "money" not in tagalong.load(model).labels


def test_a_lock_file_is_not_made_through_a_link(run: Run, model: str) -> None:
    Path("m.tagalong.lock").symlink_to("victim")
    done = run("labels", "forget", model, "money")
    assert done.code == 1
    assert "m.tagalong.lock: the lock file must not be a symbolic link" in done.err
    assert not Path("victim").exists()
    os.unlink("m.tagalong.lock")
    os.mkfifo("m.tagalong.lock")
    done = run("labels", "forget", model, "money")
    assert (done.code, "must be a regular file" in done.err) == (1, True)


def test_a_lock_path_that_is_a_folder_is_named(run: Run, model: str) -> None:
    Path("m.tagalong.lock").mkdir()
    done = run("labels", "forget", model, "money")
    assert done.code == 1
    assert done.err.endswith(
        "m.tagalong.lock: the lock file must be a regular file, but this is a folder: remove or "
        "rename it\n"
    )


def test_a_model_name_without_room_for_its_lock_is_refused(run: Run, stream: Path) -> None:
    done = run("learn", "items.jsonl", "-m", "m" * 255)
    assert done.code == 1
    assert "name of the lock file is too long: give the model a shorter name" in done.err
    assert run("learn", "items.jsonl", "-q", "-m", "m" * 250).code == 0


def test_the_lock_of_another_user_is_named_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *arguments: object) -> int:
        raise PermissionError(13, "Permission denied", os.fspath(path))

    path = tmp_path / "m.lock"
    path.touch()
    monkeypatch.setattr(os, "open", refuse)
    for user, problem in (
        (os.geteuid(), "Permission denied"),
        (os.geteuid() + 1, "the lock file belongs to another user, who may be using the model"),
    ):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        with (
            pytest.raises(PermissionError, match=problem) as caught,
            exclusive_lock(tmp_path / "m", command="test"),
        ):
            pass
        assert caught.value.filename == str(path)


def test_a_command_says_for_whom_it_waits(run: Run, model: str) -> None:
    with held(model) as pid:
        argv = ("labels", "forget", model, "money", "--wait", "0.2")
        first, *_ = run(*argv).err.splitlines()
        assert re.fullmatch(rf"waiting for process {pid} \(another command\), since .* UTC", first)
        assert "waiting" not in run(*argv, "--quiet").err
        assert "waiting" not in run(*argv[:-1], "0").err


def test_filing_says_for_whom_it_waits(run: Run) -> None:
    for part in ("cur", "new", "tmp"):
        Path("Mail", part).mkdir(parents=True)
    with held("Mail/model.tagalong") as pid:
        argv = ("file", "Mail", "--apply", "--wait", "0.2")
        assert run(*argv).err.startswith(f"waiting for process {pid} (another command), since ")
        assert "waiting" not in run(*argv, "--quiet").err
        assert "waiting" not in run(*argv, "--cron").err


def test_the_lock_file_is_private_and_says_who_holds_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with exclusive_lock(tmp_path / "m", command="this test"):
            path = tmp_path / "m.lock"
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            saved = json.loads(path.read_bytes())
    finally:
        os.umask(before)
    assert (saved["pid"], saved["command"]) == (os.getpid(), "this test")
    assert abs(datetime.fromisoformat(saved["since"]) - datetime.now(UTC)) < timedelta(minutes=10)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"", "another process"),
        (b"\xff\x00 no JSON", "another process"),
        (b"[" * 900, "another process"),
        (b'{"pid": 1e99, "command": "x", "since": "2026-01-01"}', "another process"),
        (b'{"pid": -5, "command": "x", "since": "2026-01-01T00:00:00+00:00"}', "another process"),
        (b'{"pid": 5, "command": "x", "since": "\\u001b[31m"}', "another process"),
        (
            b'{"pid": 5, "command": "\\u001b[2J\\nfine\\u202e", "since": "2026-01-01T00:00:00Z"}',
            r"process 5 (\x1b[2J\nfine\u202e), since 2026-01-01 00:00:00 UTC",
        ),
    ],
)
def test_forged_text_in_a_lock_file_does_no_harm(tmp_path: Path, text: bytes, shown: str) -> None:
    path = tmp_path / "m.lock"
    path.write_bytes(text)
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with (
            pytest.raises(BusyError) as caught,
            exclusive_lock(tmp_path / "m", command="test"),
        ):
            pass
    assert str(caught.value) == f"{path}: this model is in use by {shown}"


def test_what_a_killed_holder_leaves_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "m.lock").write_text('{"pid": 1, "command": "killed", "since": "2020-01-01"}')
    with exclusive_lock(tmp_path / "m", command="test"):
        assert json.loads((tmp_path / "m.lock").read_bytes())["command"] == "test"
    assert os.listdir(tmp_path) == []


def test_the_lock_of_a_file_that_its_holder_has_just_removed_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = lock._try_lock
    tries: list[int] = []

    def removed_meanwhile(descriptor: int, path: Path) -> bool:
        tries.append(descriptor)
        if len(tries) == 1:
            path.unlink()
        return real(descriptor, path)

    monkeypatch.setattr(lock, "_try_lock", removed_meanwhile)
    with exclusive_lock(tmp_path / "m", command="test"):
        monkeypatch.undo()
        with pytest.raises(BusyError), exclusive_lock(tmp_path / "m", command="another"):
            pass
    assert len(tries) == 2


def test_a_lock_file_that_is_removed_by_hand_stays_the_business_of_its_holder(
    tmp_path: Path,
) -> None:
    with exclusive_lock(tmp_path / "m", command="first"):
        (tmp_path / "m.lock").unlink()
        with exclusive_lock(tmp_path / "m", command="second"):
            held_by_second = (tmp_path / "m.lock").stat().st_ino
            assert held_by_second
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("value", ["-1", "nan", "soon"])
def test_the_time_to_wait_is_checked(run: Run, model: str, value: str) -> None:
    done = run("prune", model, "--features", "1", "--wait", value)
    assert done.code == 2
    assert "--wait" in done.err


def hour_old_lock(path: Path, since: str) -> None:
    path.write_text(json.dumps({"pid": 4242, "command": "tagalong file", "since": since}))


def test_cron_reports_a_run_that_hangs(run: Run, tmp_path: Path) -> None:
    for state in ("cur", "new", "tmp"):
        (tmp_path / "Mail" / state).mkdir(parents=True)
    path = tmp_path / "Mail" / "model.tagalong.lock"
    path.touch()
    now = datetime.now(UTC)
    argv = ("file", "Mail", "--apply", "--cron")
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        hour_old_lock(path, (now - timedelta(seconds=MAX_BUSY_SECONDS / 2)).isoformat())
        done = run(*argv)
        assert (done.code, done.out, done.err) == (0, "", "")
        for since in (now - timedelta(seconds=2 * MAX_BUSY_SECONDS), now + timedelta(days=90)):
            hour_old_lock(path, since.isoformat())
            done = run(*argv)
            assert (done.code, done.out) == (1, "")
            assert "process 4242 (tagalong file), since 20" in done.err
            assert "if it hangs, end it" in done.err


def test_file_waits_for_another_run(run: Run, tmp_path: Path) -> None:
    for state in ("cur", "new", "tmp"):
        (tmp_path / "Mail" / state).mkdir(parents=True)
    with held("Mail/model.tagalong"):
        waiting = command("file", "Mail", "--apply", "-q", "--wait", "500")
    assert ended(waiting)[0] == 0


@pytest.mark.parametrize("option", [("inspect",), ("suggest", "--text", "a", "--model")])
def test_commands_do_not_wait_for_a_pipe_in_place_of_a_model(
    run: Run, option: tuple[str, ...]
) -> None:
    os.mkfifo("pipe")
    code, err = ended(command(*option, "pipe"))
    assert (code, err) == (
        1,
        "tagalong: pipe: not a Tagalong model: a model is a regular file\n",
    )


@pytest.mark.parametrize("argv", [("learn", "--force"), ("fit",)])
def test_a_device_is_no_place_for_a_model(run: Run, stream: Path, argv: tuple[str, ...]) -> None:
    done = run(*argv, "items.jsonl", "--model", "/dev/null")
    assert done.code == 2
    assert "--model /dev/null is not a regular file" in done.err
    assert not Path("/dev/null").is_file()
