"""Maildirs made with the standard library, and actions of their owner."""

import hashlib
import itertools
import mailbox
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

from tagalong import filing
from tagalong.mail.formats.folders import mail_item
from tagalong.mail.formats.mime import parse_mail
from tagalong.readers import Item

TOPICS = {
    "Bank": ["invoice", "account", "balance", "transfer", "loan", "interest", "payment"],
    "Travel": ["flight", "hotel", "booking", "passport", "luggage", "ticket", "island"],
    "Work/Code": ["patch", "review", "merge", "branch", "compile", "kernel", "commit"],
}
FILLER = ["the", "of", "to", "and", "hello", "please", "thank", "regards", "today", "week"]
EACH = 40  # messages per topic in a template Maildir


def file_mail(maildir: Path, **options: Any) -> filing.FilingResult:
    """File a Maildir without spot checks, so that all sure messages are moved."""
    return filing.file_mail(maildir, **{"audit": 0, **options})


def item_about(topic: str, number: int) -> Item:
    """Return the message of `text_about` as readers of mail return it."""
    return mail_item(parse_mail(text_about(topic, number).encode()), "", None, "")


def text_about(topic: str, number: int) -> str:
    """Return a message about a topic; each number gives a different one."""
    rng = random.Random(f"{topic} {number}")
    subject = " ".join(rng.choices(TOPICS[topic], k=3))
    body = " ".join([*rng.choices(TOPICS[topic], k=8), *rng.choices(FILLER, k=8)])
    return (
        f"From: someone@example.org\nTo: me@example.org\nMessage-ID: <{topic}.{number}@here>\n"
        f"Subject: {subject}\n\n{body}\nbody of {topic} {number}\n"
    )


class Mail:
    """A Maildir, with the actions of its owner as methods.

    Folders are in Maildir++ style or nested. File names contain a running number, which determines
    the delivery order.
    """

    def __init__(self, root: Path, nested: bool = False, first: int = 1):
        self.root = root
        self.nested = nested
        self.inbox = mailbox.Maildir(root)
        self.numbers = itertools.count(first)

    def folder(self, label: str) -> mailbox.Maildir:
        if label == "":
            return self.inbox
        if self.nested:
            (self.root / label).parent.mkdir(parents=True, exist_ok=True)
            return mailbox.Maildir(self.root / label)
        return self.inbox.add_folder(label.replace("/", "."))

    def path(self, label: str) -> Path:
        if label == "":
            return self.root
        return self.root / (label if self.nested else "." + label.replace("/", "."))

    def deliver(self, label: str, text: str, flags: str | None = None) -> str:
        """Put a message into a folder, unseen if `flags` is None, and return its key."""
        folder = self.folder(label)
        message = mailbox.MaildirMessage(text)
        if flags is not None:
            message.set_subdir("cur")
            message.set_flags(flags)
        made = folder.add(message)
        key = f"{1_700_000_000 + next(self.numbers)}.M1.host"
        path = self.file(label, made)
        path.rename(path.with_name(path.name.replace(made, key)))
        return key

    def file(self, label: str, key: str) -> Path:
        found = [
            path
            for state in ("cur", "new")
            for path in (self.path(label) / state).iterdir()
            if path.name.partition(":")[0] == key
        ]
        assert len(found) == 1, (label, key, found)
        return found[0]

    def fill(self, each: int, flags: str | None = "S") -> None:
        """Put messages into the folder of each topic, alternating between topics."""
        for number in range(each):
            for topic in TOPICS:
                self.deliver(topic, text_about(topic, number), flags)

    def where(self, key: str) -> str | None:
        """Return the folder of a message, which must not be in two folders."""
        found = [label for label, keys in self.contents().items() if key in keys]
        assert len(found) <= 1, (key, found)
        return found[0] if found else None

    def contents(self) -> dict[str, set[str]]:
        """Return the message keys of each folder by label."""
        return {
            self.label(path): {
                file.name.partition(":")[0]
                for state in ("cur", "new")
                for file in (path / state).iterdir()
            }
            for path in self.maildirs()
        }

    def label(self, path: Path) -> str:
        if path == self.root:
            return ""
        name = path.relative_to(self.root).as_posix()
        return name if self.nested else name.removeprefix(".").replace(".", "/")

    def maildirs(self) -> list[Path]:
        return [Path(where) for where, folders, _ in os.walk(self.root) if "cur" in folders]

    def move(self, key: str, label: str, new_name: bool = False, flags: str = "S") -> str:
        """Move a message, optionally under a new file name, and return its key."""
        at = self.where(key)
        assert at is not None
        self.folder(label)
        moved = f"{1_800_000_000 + next(self.numbers)}.M1.host" if new_name else key
        self.file(at, key).rename(self.path(label) / "cur" / f"{moved}:2,{flags}")
        return moved

    def delete(self, key: str) -> None:
        at = self.where(key)
        assert at is not None
        self.file(at, key).unlink()

    def messages(self) -> Counter[bytes]:
        """Return the contents of all messages with their multiplicity."""
        return Counter(
            file.read_bytes()
            for path in self.maildirs()
            for state in ("cur", "new", "tmp")
            for file in (path / state).iterdir()
        )


def fingerprint(root: Path) -> str:
    """Return a digest of all names, modes, modification times and contents in a tree."""
    state = hashlib.sha256()
    for path in sorted(root.rglob("*"), key=os.fsencode):
        about = path.lstat()
        state.update(os.fsencode(path) + f"{about.st_mode} {about.st_mtime_ns}".encode())
        if path.is_file():
            state.update(path.read_bytes())
    return state.hexdigest()
