"""Journal of messages: the last folder of each message, and who put it there."""

import base64
import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias, get_args

__all__ = ["Entry", "Journal", "State", "digest"]

VERSION = 1
# Number of gone messages to remember. Mail programs often rename a message when they move it, and
# the old name may disappear some runs before the new one appears.
MAX_GONE = 1000

State: TypeAlias = Literal["learnt", "filed", "moving", "refused", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Journal entry of a message.

    Parameters
    ----------
    folder : str
        Last folder of the message other than the inbox.
    state : str
        ``"learnt"``: the owner put the message into the folder, and the tagger learnt the folder.
        ``"filed"``: Tagalong filed it there. ``"moving"``: Tagalong planned to file it there.
        ``"refused"``: Tagalong filed it there, and the owner put it back into the inbox.
        ``"withdrawn"``: the owner put it there, and later back into the inbox.
    identity : str
        Digest that does not depend on the name of the message's file.
    """

    folder: str
    state: State
    identity: str


@dataclass(slots=True)
class Journal:
    """Journal entries by message key, saved in the notes of a model.

    Keys and identities are digests, so the journal contains no words of the mail. It takes about
    40 bytes per message.

    Parameters
    ----------
    learnt : int
        Number of messages learnt so far.
    present : dict of str to Entry
        Messages that were in the mailbox at the last scan.
    gone : dict of str to Entry
        Messages that have disappeared from the mailbox, in the order of their disappearance.
    """

    learnt: int = 0
    present: dict[str, Entry] = field(default_factory=dict)
    gone: dict[str, Entry] = field(default_factory=dict)

    def update_presence(self, seen: Container[str], unread: Container[str] = ()) -> None:
        """Update which messages are present and which are gone.

        Parameters
        ----------
        seen : collection of str
            Keys of all messages of a scan.
        unread : collection of str
            Folders that could not be read. Their messages stay present.
        """
        disappeared = [
            key
            for key, entry in self.present.items()
            if key not in seen and entry.folder not in unread
        ]
        reappeared = [key for key in self.gone if key in seen]
        for key in disappeared:
            self.gone[key] = self.present.pop(key)
        for key in reappeared:
            self.present[key] = self.gone.pop(key)

    def gone_by_identity(self) -> dict[str, str]:
        """Return the keys of gone messages by identity."""
        return {entry.identity: key for key, entry in self.gone.items()}

    def trim(self) -> None:
        """Drop the messages that have been gone longest, until `MAX_GONE` remain."""
        for key in list(self.gone)[: max(0, len(self.gone) - MAX_GONE)]:
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
                    entries[key] = Entry(new, entry.state, entry.identity)

    def to_json(self) -> dict[str, object]:
        """Return the journal as JSON values; entries refer to folders by number to save space."""
        numbers: dict[str, int] = {}

        def packed(entries: Mapping[str, Entry]) -> dict[str, list[int | str]]:
            return {
                key: [numbers.setdefault(e.folder, len(numbers)), e.state, e.identity]
                for key, e in entries.items()
            }

        present, gone = packed(self.present), packed(self.gone)
        return {
            "version": VERSION,
            "learnt": self.learnt,
            "folders": list(numbers),
            "here": present,
            "gone": gone,
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
            folders = saved["folders"]

            def unpacked(entries: dict[str, list[Any]]) -> dict[str, Entry]:
                return {
                    key: Entry(folders[number], _state(state), str(identity))
                    for key, (number, state, identity) in entries.items()
                }

            return cls(int(saved["learnt"]), unpacked(saved["here"]), unpacked(saved["gone"]))
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            raise ValueError(f"the journal is damaged: {error!r}") from error


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
