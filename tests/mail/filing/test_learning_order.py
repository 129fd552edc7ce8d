"""Messages are learnt in the order of their dates, whatever folder and file they are in."""

from pathlib import Path
from typing import Any

import pytest

from tagalong import Tagger
from tests.mail.filing.maildirs import Mail, file_mail


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Subjects of learnt messages."""
    found: list[str] = []
    real: Any = Tagger.watch

    def watch(self: Tagger, item: Any, *args: Any, **options: Any) -> Any:
        found.append(item.text["subject"])
        return real(self, item, *args, **options)

    monkeypatch.setattr(Tagger, "watch", watch)
    return found


def write(mail: Mail, folder: str, name: str, subject: str, date: str | None) -> None:
    header = "" if date is None else f"Date: {date}\n"
    path = mail.path(folder) / "cur" / f"{name}:2,S"
    path.write_text(f"Subject: {subject}\n{header}\nHello")


def test_messages_are_learnt_by_date_across_folders(tmp_path: Path, learnt: list[str]) -> None:
    """mbsync delivers folder by folder, so that file names say nothing about the order."""
    mail = Mail(tmp_path / "Mail")
    for number, folder in enumerate(["Bank", "Travel", "Work"]):
        mail.folder(folder)
        for day in range(1, 6):
            date = f"{day} Jan 2024 {number + 10}:00:00 +0000"
            write(mail, folder, f"17100{number}000{6 - day}.host", f"{day} {folder}", date)
    file_mail(mail.root, apply=True)
    assert learnt == [
        f"{day} {folder}" for day in range(1, 6) for folder in ("Bank", "Travel", "Work")
    ]


def test_time_zones_and_missing_or_wrong_dates(tmp_path: Path, learnt: list[str]) -> None:
    mail = Mail(tmp_path / "Mail")
    mail.folder("Bank")
    mail.folder("Travel")
    delivered = 1704103200  # 1 January 2024, 10:00 UTC
    write(
        mail, "Bank", f"{delivered + 40}.e", "fifth, from the future", "1 Jan 2099 10:00:00 +0000"
    )
    write(mail, "Travel", f"{delivered + 30}.d", "fourth, without a date", None)
    write(mail, "Bank", f"{delivered + 99}.c", "third, in New York", "1 Jan 2024 05:00:20 -0500")
    write(mail, "Travel", f"{delivered + 99}.b", "second, in Berlin", "1 Jan 2024 11:00:10 +0100")
    write(mail, "Bank", "1.a", "first, in a numbered file", "1 Jan 2024 10:00:00 +0000")
    file_mail(mail.root, apply=True)
    assert [subject.split(",")[0] for subject in learnt] == [
        *("first", "second", "third", "fourth", "fifth")
    ]


def test_corrections_take_their_place_by_date(tmp_path: Path, learnt: list[str]) -> None:
    mail = Mail(tmp_path / "Mail")
    for folder in ("Bank", "Travel"):
        mail.folder(folder)
        write(mail, folder, f"1700000001.{folder}", f"first {folder}", "2 Jan 2023 10:00:00 +0000")
    file_mail(mail.root, apply=True)
    learnt.clear()
    mail.move("1700000001.Bank", "Travel")
    write(mail, "Bank", "1700000002.x", "before", "1 Jan 2023 10:00:00 +0000")
    write(mail, "Bank", "1700000003.x", "after", "3 Jan 2023 10:00:00 +0000")
    file_mail(mail.root, apply=True)
    assert learnt == ["before", "first Bank", "after"]
