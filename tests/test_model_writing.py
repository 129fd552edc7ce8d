"""Tests of the files that saving leaves: bytes, modes, links, temporary files, errors."""

import errno
import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open

import tagalong
from tagalong import Tagger
from tagalong.files import replacement
from tagalong.files.replacement import Replacement, replacing
from tests.contract.bits import assert_same, whole
from tests.model_files import small
from tests.timeouts import TIMEOUT

ROOT = os.geteuid() == 0


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def temporary_files(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


@contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


def test_equal_models_give_equal_bytes(tmp_path: Path) -> None:
    """The library orders metadata at random; with eight saves a difference would show."""
    tagger = Tagger()
    for number in range(20):
        tagger.learn(f"text {number % 3} of many words", [str(number % 3)])
    for number in range(8):
        tagger.save(tmp_path / f"{number}")
    tagalong.load(tmp_path / "0").save(tmp_path / "loaded")
    contents = {path.read_bytes() for path in tmp_path.iterdir()}
    assert len(contents) == 1


def test_the_file_is_a_valid_safetensors_file(tmp_path: Path) -> None:
    small(["Grüße", '"\\\n'], race=None).save(tmp_path / "m")
    contents = (tmp_path / "m").read_bytes()
    assert int.from_bytes(contents[:8], "little") % 8 == 0, "the arrays are aligned"
    with safe_open(tmp_path / "m", framework="numpy") as file:
        assert set(file.metadata()) == {"arrays", "sha256", "tagalong"}
        assert all(np.isfinite(file.get_tensor(name)).all() for name in file.keys())  # noqa: SIM118
    assert_same(whole(tagalong.load(tmp_path / "m")), whole(small(["Grüße", '"\\\n'], race=None)))


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o644, 0o664, 0o400])
@pytest.mark.parametrize("private", [False, True])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, kept: int, private: bool) -> None:
    path = tmp_path / "m"
    path.touch()
    path.chmod(kept)
    small().save(path, private=private)
    assert mode(path) == kept
    assert tagalong.load(path) is not None


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_new_private_file_is_readable_by_its_owner_only(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        small().save(tmp_path / "private", private=True)
        Tagger().learn("a", ["b"]).save(tmp_path / "tagger", private=True)
        small().save(tmp_path / "other")
    assert mode(tmp_path / "private") == mode(tmp_path / "tagger") == 0o600
    assert mode(tmp_path / "other") == 0o666 & ~mask


def test_nobody_else_can_read_a_private_file_while_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "old").touch(0o644)
    with umask(0):
        for name, private in (("new", True), ("old", False)):
            with replacing(tmp_path / name, private=private) as file:
                file.write(b"secret")
                [temporary] = temporary_files(tmp_path)
                assert mode(tmp_path / temporary) == 0o600


@pytest.mark.skipif(not ROOT, reason="only root may give files away")
def test_a_replaced_file_keeps_its_owner_and_group(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.touch(0o640)
    os.chown(path, 12345, 23456)
    small().save(path)
    found = path.stat()
    assert (found.st_uid, found.st_gid, mode(path)) == (12345, 23456, 0o640)


def test_rights_of_a_group_are_not_given_to_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m"
    path.touch()
    path.chmod(0o664)
    before = path.stat()
    other_group = os.stat_result((*before[:5], before.st_gid + 1, *before[6:]))

    def refuse(*arguments: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(replacement, "_status", lambda target: other_group)
    monkeypatch.setattr(os, "fchown", refuse)
    small().save(path)
    assert mode(path) == 0o644


@pytest.mark.parametrize("exists", [True, False], ids=["target", "dangling"])
def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link, second = folder / "m", tmp_path / "link", tmp_path / "second"
    if exists:
        target.touch(0o640)
    link.symlink_to("elsewhere/m")
    second.symlink_to("link")
    small().save(second)
    assert (os.readlink(second), os.readlink(link)) == ("link", "elsewhere/m")
    assert_same(whole(tagalong.load(target)), whole(small()))
    assert not exists or mode(target) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "link", "second"]


def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="lead in a circle") as caught:
        small().save(tmp_path / "a")
    assert caught.value.filename == str(tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_another_name_of_a_file_keeps_the_old_contents(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"old")
    os.link(tmp_path / "m", tmp_path / "other")
    small().save(tmp_path / "m")
    assert (tmp_path / "other").read_bytes() == b"old"


def test_only_regular_files_are_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(OSError, match=r"not a regular file|is a folder") as caught:
            small().save(path)
        assert caught.value.filename == str(path)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 127)
    small().save(path)
    assert os.listdir(tmp_path) == [path.name]


def test_the_folder_is_synced_after_the_file_is_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def recording_fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def recording_replace(*paths: Any) -> None:
        steps.append("replace")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", recording_fsync)
    monkeypatch.setattr(os, "replace", recording_replace)
    small().save(tmp_path / "m")
    assert steps == ["file", "replace", "folder"]


KILLED = """
import os, signal, sys
from tagalong.files.replacement import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_save_leaves_is_removed_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "m"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (len(temporary_files(tmp_path)), path.exists()) == (1, False)
    (tmp_path / ".m.tmp").touch()
    small().save(tmp_path / "other")
    assert len(temporary_files(tmp_path)) == 2, "files of other models stay"
    small().save(path)
    assert temporary_files(tmp_path) == [".m.tmp"]


def test_concurrent_saves_do_not_remove_their_temporary_files(tmp_path: Path) -> None:
    path = tmp_path / "m"
    with Replacement(path) as slow:
        slow.file.write(b"slow")
        with replacing(path) as fast:
            fast.write(b"fast")
        assert path.read_bytes() == b"fast"
        slow.commit()
    assert path.read_bytes() == b"slow"
    assert temporary_files(tmp_path) == []


def test_many_threads_save_one_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    errors: list[BaseException] = []

    def save(number: int) -> None:
        try:
            for _ in range(30):
                with replacing(path) as file:
                    file.write(bytes([number]) * 1000)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert os.listdir(tmp_path) == ["m"]
    assert len(set(path.read_bytes())) == 1


def test_a_temporary_file_that_is_swept_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = fcntl.flock
    calls = 0

    def flock(descriptor: int, operation: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            for name in temporary_files(tmp_path):
                os.unlink(tmp_path / name)
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    small().save(tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]


def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError) as caught:
            small().save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


def test_errors_of_a_device_name_it() -> None:
    item = tagalong.readers.Item("1", "text", labels=("a",))
    with pytest.raises(OSError, match="/dev/full") as caught:
        tagalong.readers.write([item] * 9000, "/dev/full", "fasttext")
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("step", ["fsync", "replace", "open"])
def test_errors_of_each_step_name_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*arguments: Any, **more: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="Input/output error") as caught:
        small().save(tmp_path / "m")
    monkeypatch.undo()
    assert caught.value.filename == str(tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_file_system_that_cannot_sync_folders_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def no_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", no_folders)
    small().save(tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]


LOADING = """
import sys, tagalong
for path in sys.argv[1:]:
    try:
        tagalong.load(path)
    except (tagalong.ModelFileError, FileNotFoundError) as error:
        print(type(error).__name__, error)
"""


def test_a_pipe_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    paths = ("pipe", "link", "/dev/null", "folder", "nothing")
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *paths],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT,
    )
    no_file = "not a Tagalong model: a model is a regular file"
    assert done.stdout.splitlines() == [
        f"ModelFileError pipe: {no_file}",
        f"ModelFileError link: {no_file}",
        f"ModelFileError /dev/null: {no_file}",
        "ModelFileError folder: not a Tagalong model: it is a folder",
        "FileNotFoundError model file nothing does not exist",
    ]
