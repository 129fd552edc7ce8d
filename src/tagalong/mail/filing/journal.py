"""What is known about each message: where it was last, and how it came there."""

import base64
import hashlib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias, get_args

__all__ = ["Entry", "Journal", "State", "digest"]

VERSION = 1
# Mail programs often give a message another name when they move it, and the old one may vanish
# some runs before the new one comes. So many that are gone are remembered.
MAX_GONE = 1000

State: TypeAlias = Literal["learnt", "filed", "moving", "refused", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known about a message.

    Parameters
    ----------
    folder : str
        The folder that it was last in; the inbox does not count.
    state : str
        ``"learnt"``: its owner put it there, and that was learnt. ``"filed"``: Tagalong put it
        there. ``"moving"``: Tagalong was about to. ``"refused"``: Tagalong had, and its owner put
        it back into the inbox. ``"withdrawn"``: its owner had, and took it out again.
    identity : str
        A digest of what stays when a mail program gives the message another name.
    """

    folder: str
    state: State
    identity: str


@dataclass(slots=True)
class Journal:
    """Entries of messages by key, as part of a model's notes.

    Keys and identities are digests: the journal has no words of the mail, and takes some 40 bytes a
    message.

    Parameters
    ----------
    learnt : int
        How many messages have been learnt in all.
    present : dict of str to Entry
        Messages that were there when last looked.
    gone : dict of str to Entry
        Messages that were not, those that went last at the end.
    """

    learnt: int = 0
    present: dict[str, Entry] = field(default_factory=dict)
    gone: dict[str, Entry] = field(default_factory=dict)

    def update_presence(self, seen: Container[str], unread: Container[str] = ()) -> None:
        """Take note of which messages are there.

        Parameters
        ----------
        seen : collection of str
            The keys of all messages.
        unread : collection of str
            Folders that could not be read: their messages may still be there.
        """
        went = [k for k, e in self.present.items() if k not in seen and e.folder not in unread]
        came = [key for key in self.gone if key in seen]
        for key in went:
            self.gone[key] = self.present.pop(key)
        for key in came:
            self.present[key] = self.gone.pop(key)

    def gone_by_identity(self) -> dict[str, str]:
        """Return the keys of messages that are gone, by identity."""
        return {entry.identity: key for key, entry in self.gone.items()}

    def trim(self) -> None:
        """Forget messages that went long ago."""
        for key in list(self.gone)[: max(0, len(self.gone) - MAX_GONE)]:
            del self.gone[key]

    def rename_folder(self, old: str, new: str) -> None:
        """Give a folder another name.

        Parameters
        ----------
        old, new : str
            Its label so far, and from now on.
        """
        for entries in (self.present, self.gone):
            for key, entry in entries.items():
                if entry.folder == old:
                    entries[key] = Entry(new, entry.state, entry.identity)

    def to_json(self) -> dict[str, Any]:
        """Return the journal in terms of JSON; folders are numbered to keep it small."""
        numbers: dict[str, int] = {}

        def packed(entries: Mapping[str, Entry]) -> dict[str, list[Any]]:
            return {
                key: [numbers.setdefault(e.folder, len(numbers)), e.state, e.identity]
                for key, e in entries.items()
            }

        here, gone = packed(self.present), packed(self.gone)
        return {
            "version": VERSION,
            "learnt": self.learnt,
            "folders": list(numbers),
            "here": here,
            "gone": gone,
        }

    @classmethod
    def from_json(cls, saved: Any) -> Self:
        """Return the journal that `to_json` wrote; ValueError if it is none."""
        written = saved.get("version") if isinstance(saved, dict) else None
        if isinstance(written, int) and written > VERSION:
            raise ValueError(
                f"its journal has version {written}, and this Tagalong reads up to {VERSION}: "
                "upgrade to use it"
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
            raise ValueError(f"its journal is damaged: {error!r}") from error


def digest(*parts: bytes) -> str:
    """Return twelve characters that stand for some bytes.

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


def _state(name: Any) -> State:
    for state in get_args(State):
        if state == name:
            found: State = state
            return found
    raise TypeError(f"no such state: {name!r}")
