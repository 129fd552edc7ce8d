"""Journal of messages: the last folder of each message, and who put it there."""

import base64
import hashlib
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, TypeAlias, get_args

from tagalong import parameters
from tagalong.learning.estimators import texts
from tagalong.mail.filing.log import LogRecord

__all__ = ["Entry", "Journal", "State", "digest", "is_within"]

VERSION = 2
# Number of gone messages to remember. Mail programs often rename a message when they move it, and
# the old name may disappear some runs before the new one appears.
MAX_GONE = 1000

# Number of moves and spot checks that `tagalong file --log` can show.
MAX_LOG = 1000

State: TypeAlias = Literal["learnt", "filed", "moving", "refused", "withdrawn", "asked"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Journal entry of a message.

    Parameters
    ----------
    folder : str
        Last folder of the message other than the inbox; the suggested folder of a spot check.
    state : str
        ``"learnt"``: the owner put the message into the folder, and the tagger learnt the folder.
        ``"filed"``: Tagalong filed it there. ``"moving"``: Tagalong planned to file it there.
        ``"refused"``: Tagalong filed it there, and the owner put it back into the inbox.
        ``"withdrawn"``: the owner put it there, and later back into the inbox.
        ``"asked"``: Tagalong was sure of the folder, but left the message to the owner as a spot
        check.
    identity : str
        Digest that does not depend on the name of the message's file.
    """

    folder: str
    state: State
    identity: str


@dataclass(slots=True)
class Journal:
    """Journal entries by message key, saved in the notes of a model.

    Keys and identities are digests, so the entries contain no words of the mail. They take about
    40 bytes per message.

    Parameters
    ----------
    learnt : int
        Number of messages learnt so far.
    present : dict of str to Entry
        Messages that were in the mailbox at the last scan.
    gone : dict of str to Entry
        Messages that have disappeared from the mailbox, in the order of their disappearance.
    log : dict of str to LogRecord
        The last move or spot check of each message, oldest first.
    home : str
        Digest of the location of the mailbox at the last run; "" if it is not known.
    """

    learnt: int = 0
    present: dict[str, Entry] = field(default_factory=dict)
    gone: dict[str, Entry] = field(default_factory=dict)
    log: dict[str, LogRecord] = field(default_factory=dict)
    home: str = ""

    def update_presence(self, seen: Container[str], unread: Collection[str] = ()) -> None:
        """Update which messages are present and which are gone.

        Parameters
        ----------
        seen : collection of str
            Keys of all messages of a scan.
        unread : collection of str
            Folders that could not be read. Their messages, and those of the folders inside them,
            stay present.
        """
        disappeared = [
            key
            for key, entry in self.present.items()
            if key not in seen and not is_within(entry.folder, unread)
        ]
        reappeared = [key for key in self.gone if key in seen]
        for key in disappeared:
            self.gone[key] = self.present.pop(key)
        for key in reappeared:
            self.present[key] = self.gone.pop(key)

    def gone_by_identity(self) -> dict[str, str]:
        """Return the keys of gone messages by identity."""
        return {entry.identity: key for key, entry in self.gone.items()}

    def take_over(self, old_key: str, new_key: str) -> None:
        """Give the entry and the log record of a gone message to a present message.

        Parameters
        ----------
        old_key, new_key : str
            Keys of the gone and of the present message.
        """
        self.present[new_key] = self.gone.pop(old_key)
        if old_key in self.log:
            # Rebuild the dict, as its order is the order of the log.
            self.log = {
                new_key if key == old_key else key: record for key, record in self.log.items()
            }

    def drop(self, key: str) -> None:
        """Remove the entry and the log record of a message, whose move was never made.

        Parameters
        ----------
        key : str
            Key of the message.
        """
        if self.present.pop(key, None) is not None:
            self.log.pop(key, None)

    def note(self, key: str, entry: Entry, record: LogRecord) -> None:
        """Add a move or a spot check; it replaces an earlier record of the same message.

        Parameters
        ----------
        key : str
            Key of the message.
        entry : Entry
            New entry of the message.
        record : LogRecord
            What was decided, when and why.
        """
        self.present[key] = entry
        self.log.pop(key, None)
        self.log[key] = record

    def trim(self, *, gone: bool = True) -> None:
        """Drop the oldest log records, and the messages that have been gone longest.

        Parameters
        ----------
        gone : bool
            Whether to drop gone messages. False while a folder cannot be read, since they may be
            in that folder.
        """
        for key in list(self.log)[: max(0, len(self.log) - MAX_LOG)]:
            del self.log[key]
        for key in list(self.gone)[: max(0, len(self.gone) - MAX_GONE)] if gone else ():
            del self.gone[key]

    def rename_folder(self, old: str, new: str) -> None:
        """Rename a folder in all entries.

        Parameters
        ----------
        old, new : str
            Old and new label of the folder.
        """
        for entries in (self.present, self.gone):
            for key, entry in entries.items():
                if entry.folder == old:
                    entries[key] = replace(entry, folder=new)
        for key, record in self.log.items():
            if record.folder == old:
                self.log[key] = replace(record, folder=new)

    def to_json(self) -> dict[str, object]:
        """Return the journal as JSON values; entries refer to folders by number to save space."""
        numbers: dict[str, int] = {}

        def number(folder: str) -> int:
            return numbers.setdefault(folder, len(numbers))

        def packed(entries: Mapping[str, Entry]) -> dict[str, list[int | str]]:
            return {key: [number(e.folder), e.state, e.identity] for key, e in entries.items()}

        present, gone = packed(self.present), packed(self.gone)
        log = {key: [number(record.folder), *record.pack()] for key, record in self.log.items()}
        return {
            "version": VERSION,
            "learnt": self.learnt,
            "home": self.home,
            "folders": list(numbers),
            "here": present,
            "gone": gone,
            "log": log,
        }

    @classmethod
    def from_json(cls, saved: Any) -> Self:
        """Return the journal from the result of `to_json`; raise ValueError if it is invalid."""
        version = saved.get("version") if isinstance(saved, dict) else None
        if isinstance(version, int) and version > VERSION:
            raise ValueError(
                f"the journal has version {version}, but this Tagalong reads versions up to "
                f"{VERSION}: upgrade Tagalong to use it"
            )
        try:
            folders = texts(saved["folders"], "folders")

            def unpacked(entries: dict[str, list[Any]]) -> dict[str, Entry]:
                return {
                    key: Entry(folders[number], _state(state), str(identity))
                    for key, (number, state, identity) in entries.items()
                }

            return cls(
                learnt=parameters.integer(saved["learnt"], "learnt", 0),
                present=unpacked(saved["here"]),
                gone=unpacked(saved["gone"]),
                # Version 1 had neither a log nor a home.
                log={
                    key: LogRecord.unpack(folders[number], parts)
                    for key, (number, *parts) in saved.get("log", {}).items()
                },
                home=str(saved.get("home", "")),
            )
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            raise ValueError(f"the journal is damaged: {error!r}") from error


def is_within(folder: str, folders: Collection[str]) -> bool:
    """Whether a folder is one of some folders, or inside one of them.

    Parameters
    ----------
    folder : str
        Label of the folder.
    folders : collection of str
        Labels of the other folders. The label "" of the mailbox itself contains no other.

    Examples
    --------
    >>> is_within("Work/Code", ["Work"]), is_within("Workshop", ["Work"]), is_within("Work", [""])
    (True, False, False)
    """
    return any(folder == each or (each and folder.startswith(f"{each}/")) for each in folders)


def digest(*parts: bytes) -> str:
    """Return a digest of byte strings as twelve characters.

    Examples
    --------
    >>> digest(b"1700000000.M1P2.host") == digest(b"1700000000.M1P2.host")
    True
    >>> len(digest(b"")), digest(b"a", b"b") == digest(b"ab")
    (12, False)
    """
    state = hashlib.blake2b(digest_size=9)
    for part in parts:
        state.update(b"%d:" % len(part) + part)
    return base64.urlsafe_b64encode(state.digest()).decode()


def _state(name: object) -> State:
    for state in get_args(State):
        if state == name:
            found: State = state
            return found
    raise TypeError(f"no such state: {name!r}")
