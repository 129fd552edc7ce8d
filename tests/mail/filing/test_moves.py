"""A move never overwrites a file, and a move that was killed is completed by the next run."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tagalong.files import rename
from tagalong.files.rename import move_without_overwriting
from tests.mail.filing.maildirs import Mail, file_mail, text_about
from tests.mail.filing.test_crashes import PowerCut, crashing


@pytest.fixture(params=["rename", "link"])
def file_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file system with or without renames that do not overwrite."""

    def unsupported(*arguments: Any) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    if request.param == "link":
        monkeypatch.setattr(rename, "_rename", unsupported)
    return str(request.param)


def test_a_file_is_moved(file_system: str, tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_text("contents")
    move_without_overwriting(source, target)
    assert (os.listdir(tmp_path), target.read_text()) == (["b"], "contents")
    with pytest.raises(FileNotFoundError):
        move_without_overwriting(source, tmp_path / "c")


@pytest.mark.parametrize("name", ["_rename", "_link_and_unlink"])
def test_a_file_that_appears_during_the_move_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The file appears after all checks, immediately before the call that moves."""
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_text("mine")
    real = getattr(rename, name)

    def appear_and_move(*arguments: Any) -> None:
        target.write_text("theirs")
        real(*arguments)

    monkeypatch.setattr(rename, "_rename", appear_and_move)
    with pytest.raises(FileExistsError):
        move_without_overwriting(source, target)
    assert (source.read_text(), target.read_text()) == ("mine", "theirs")


def test_a_message_that_appears_during_the_move_is_not_overwritten(
    one: Mail, file_system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = one.deliver("", text_about("Bank", 1000))
    real = rename._move

    def appear_and_move(old: str, *arguments: Any) -> None:
        (one.path("Bank") / "new" / old).write_text("theirs")
        real(old, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(rename, "_move", appear_and_move)
        result = file_mail(one.root, apply=True)
    assert (result.moved, result.failed) == (0, 1)
    assert "a file with this name already exists" in result.errors[0]
    assert one.file("Bank", key).read_text() == "theirs"
    assert one.file("", key).read_text().endswith("body of Bank 1000\n")


def test_a_linked_folder_is_no_way_out(file_system: str, tmp_path: Path) -> None:
    for name in ("here", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("outside")
    source = tmp_path / "here" / "a"
    source.write_text("contents")
    for wrong in (tmp_path / "link" / "a", tmp_path / "nowhere" / "a"):
        with pytest.raises(OSError):
            move_without_overwriting(source, wrong)
    assert source.read_text() == "contents"
    assert os.listdir(tmp_path / "outside") == []


@pytest.mark.parametrize("step", ["link", "unlink"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_killed_move_by_links_is_completed(
    one: Mail, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    file_mail(one.root, apply=True)
    keys = [one.deliver("", text_about("Bank", 1000 + number)) for number in range(3)]
    everything = one.messages()

    def unsupported(*arguments: Any) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(rename, "_rename", unsupported)
    with monkeypatch.context() as patch:
        patch.setattr(os, step, crashing(getattr(os, step), 2, after))
        with pytest.raises(PowerCut):
            file_mail(one.root, apply=True)
    assert set(one.messages()) == set(everything), "no message is lost"
    result = file_mail(one.root, apply=True)
    assert result.errors == []
    assert one.messages() == everything, "no message is there twice"
    assert {one.where(key) for key in keys} == {"Bank"}
    assert file_mail(one.root, apply=True).corrected == 0


def test_a_dry_run_completes_nothing(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    file_mail(one.root, apply=True)
    key = one.deliver("", text_about("Bank", 1000))
    with monkeypatch.context() as patch:
        patch.setattr(rename, "_rename", rename._link_and_unlink)
        patch.setattr(os, "unlink", crashing(os.unlink, 1, after=False))
        with pytest.raises(PowerCut):
            file_mail(one.root, apply=True)
    file_mail(one.root)
    assert os.path.samefile(one.file("", key), one.file("Bank", key))


def test_a_copy_of_a_message_is_never_removed(one: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files with one name and the same contents are two messages."""
    file_mail(one.root, apply=True)
    key = one.deliver("", text_about("Bank", 1000))
    with monkeypatch.context() as patch:
        patch.setattr(rename, "_rename", crashing(rename._rename, 1, after=False))
        with pytest.raises(PowerCut):
            file_mail(one.root, apply=True)
    source = one.file("", key)
    (one.path("Bank") / "new" / source.name).write_bytes(source.read_bytes())
    assert file_mail(one.root, apply=True).left_by_reason == {"copy": 1}
    assert one.file("", key).exists()


@pytest.mark.parametrize("other_name", [True, False], ids=["renamed", "gone"])
def test_a_source_that_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_name: bool
) -> None:
    """Another program renames or removes the file between the two steps."""
    source, target = tmp_path / "a", tmp_path / "b"
    source.write_text("contents")
    unlink = os.unlink

    def meanwhile(path: Any, **options: Any) -> None:
        if path == "a":
            source.rename(tmp_path / "c") if other_name else unlink(source)
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        unlink(path, **options)

    monkeypatch.setattr(rename, "_rename", rename._link_and_unlink)
    monkeypatch.setattr(os, "unlink", meanwhile)
    if other_name:
        with pytest.raises(FileNotFoundError):
            move_without_overwriting(source, target)
    else:
        move_without_overwriting(source, target)
    assert os.listdir(tmp_path) == ["c" if other_name else "b"], "exactly one name is left"


def test_a_file_system_without_links_is_named_as_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    (tmp_path / "a").write_text("contents")
    monkeypatch.setattr(rename, "_rename", unsupported)
    monkeypatch.setattr(os, "link", unsupported)
    with pytest.raises(OSError, match="neither rename a file without overwriting nor link it"):
        move_without_overwriting(tmp_path / "a", tmp_path / "b")
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("part", ["cur", "new"])
def test_messages_behind_a_linked_part_are_neither_read_nor_forgotten(
    one: Mail, tmp_path: Path, part: str
) -> None:
    file_mail(one.root, apply=True)
    outside = tmp_path / "outside"
    (one.path("Bank") / part).rename(outside)
    (one.path("Bank") / part).symlink_to(outside)
    (outside / "1800000000.M1.host:2,S").write_text("Subject: secret\n\nsecret\n")
    result = file_mail(one.root, apply=True)
    assert result.learnt == 0
    assert any("a symbolic link, which is not followed" in error for error in result.errors)
    (one.path("Bank") / part).unlink()
    outside.rename(one.path("Bank") / part)
    (one.path("Bank") / part / "1800000000.M1.host:2,S").unlink()
    assert file_mail(one.root, apply=True).learnt == 0, "known messages are not learnt again"


def test_a_maildir_that_is_named_by_a_link_is_followed(one: Mail, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(one.root)
    result = file_mail(tmp_path / "link", apply=True)
    assert (result.learnt > 0, result.errors, result.links) == (True, [], [])


def test_a_circular_link_is_only_named(one: Mail) -> None:
    (one.root / "circle").symlink_to("circle")
    result = file_mail(one.root, apply=True)
    assert (result.learnt > 0, result.errors) == (True, [])
    assert result.links == [str(one.root / "circle")]
