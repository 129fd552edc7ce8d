"""The papers' mail: seven users of the Enron corpus, as streams of messages with their folders.

The mail folder has one folder per user, in either of two layouts:

- CMU's archive, ``maildir/<user>/<folder>/.../<number>.``, folders within folders;
- Bekkerman's flat folders, ``enron_flat/<user>/<folder>/<number>``.

Both are prepared as Bekkerman describes (http://www.cs.umass.edu/~ronb/enron_dataset.html): folders
that users do not file mail into (inbox, sent mail, ...) are left out, then folders with fewer than
three messages; messages are sorted by their Date field. Bekkerman's flat folders are already
prepared that way and do not change. Headers that name the folder (X-Folder) are never read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from email.parser import BytesHeaderParser
from email.utils import parsedate_to_datetime
from pathlib import Path

from tagalong.mail.formats.maildir import read_message
from tagalong.readers import Item

ENRON_VARIABLE = "TAGALONG_ENRON"
USERS = (*("beck-s", "farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "sanders-r", "williams-w3"),)
IGNORED_FOLDERS = {
    *("all_documents", "calendar", "contacts", "deleted_items", "discussion_threads", "inbox"),
    *("notes_inbox", "sent", "sent_items", "_sent_mail"),
}
MIN_MESSAGES = 3
_HEADER_BYTES = 20_000


def users() -> list[str]:
    """Return those of the seven users whose mail is available."""
    root = os.environ.get(ENRON_VARIABLE)
    return [user for user in USERS if root and (_home(Path(root)) / user).is_dir()]


def messages(user: str) -> list[Item]:
    """Return a user's filed messages, oldest first; the label of each is its folder."""
    home = _home(Path(os.environ[ENRON_VARIABLE])) / user
    folders: dict[str, list[Path]] = {}
    for path in sorted(_files(home)):
        folders.setdefault(path.parent.relative_to(home).as_posix(), []).append(path)
    kept = [
        (_date(path), _number(path), folder, path)
        for folder, paths in folders.items()
        if folder != "." and folder.split("/")[0].lower() not in IGNORED_FOLDERS
        if len(paths) >= MIN_MESSAGES
        for path in paths
    ]
    return [read_message(path, (folder,)) for _, _, folder, path in sorted(kept)]


def _home(root: Path) -> Path:
    """Return the folder of the users' folders: ``root``, or the archive's folder inside it."""
    for inner in (root / "maildir", root / "enron_flat"):
        if inner.is_dir():
            return inner
    return root


def _files(home: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(home):
        yield from (Path(folder, name) for name in names if not name.startswith("."))


def _number(path: Path) -> tuple[int, str]:
    digits = path.name.rstrip(".")
    return (int(digits) if digits.isdecimal() else 0, path.name)


def _date(path: Path) -> float:
    """Return the time when a message was sent; 0 if its date cannot be read."""
    with path.open("rb") as file:
        header = BytesHeaderParser().parsebytes(file.read(_HEADER_BYTES))
    try:
        return parsedate_to_datetime(str(header["Date"])).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0.0
