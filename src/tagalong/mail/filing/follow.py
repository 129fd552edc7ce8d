"""What the owner of the mail did since the last run, and what follows from it.

A message was last seen somewhere and is somewhere now: the two decide what is learnt.
"""

from collections import Counter
from typing import Literal, NamedTuple, TypeAlias

from tagalong.learning.items import Item
from tagalong.mail.filing.desk import Desk
from tagalong.mail.filing.journal import Entry, Journal, State
from tagalong.mail.filing.scan import Message, Snapshot, identity_of, is_inbox

__all__ = ["Decision", "decide", "find_renamed", "follow", "to_follow"]

Lesson: TypeAlias = Literal["learn", "correct", "refile", "reject"]


class Decision(NamedTuple):
    """What a message's way from there to here means.

    The lesson is "learn" where a folder was chosen for it, "correct" where another one than before
    was, "refile" where that overrides Tagalong, "reject" where Tagalong was wrong and nothing else
    is known, and None where there is nothing to learn. No new state means no entry.
    """

    lesson: Lesson | None
    state: State | None
    folder: str


_NOTHING = Decision(None, None, "")


def decide(entry: Entry | None, place: str, is_ordinary: bool) -> Decision:
    """Return what is to be learnt from where a message is.

    Parameters
    ----------
    entry : Entry, optional
        What was known about the message.
    place : str
        The folder that it is in.
    is_ordinary : bool
        Whether that is a folder to learn from; neither the inbox nor a special one is.
    """
    if is_ordinary:
        return _in_folder(entry, place)
    if entry is None or entry.state == "moving":
        return _NOTHING  # The move was planned but never made.
    if is_inbox(place) and entry.state == "filed":
        return Decision("reject", "refused", entry.folder)
    if is_inbox(place) and entry.state == "learnt":
        return Decision(None, "withdrawn", entry.folder)
    # That it is in the trash, say, tells nothing about the folder where it was.
    return Decision(None, entry.state, entry.folder)


def _in_folder(entry: Entry | None, place: str) -> Decision:
    if entry is None:
        return Decision("learn", "learnt", place)
    if entry.folder == place:
        if entry.state == "refused":
            return Decision("learn", "learnt", place)
        is_ours = entry.state in ("moving", "filed")
        return Decision(None, "filed" if is_ours else "learnt", place)
    if entry.state in ("learnt", "withdrawn"):
        return Decision("correct", "learnt", place)
    # What Tagalong has filed was never counted as learnt there, so there is nothing to take back.
    return Decision("refile" if entry.state == "filed" else "learn", "learnt", place)


def to_follow(desk: Desk) -> list[tuple[Message, str]]:
    """Return the messages, with their keys, that something is to be learnt from, oldest first.

    Where nothing is to be learnt, the journal is brought up to date at once.
    """
    found: list[tuple[Message, str]] = []
    for key in desk.snapshot.messages:
        entry = desk.journal.here.get(key)
        message = desk.snapshot.place(key, entry)
        decision = decide(entry, message.folder, message.folder in desk.snapshot.ordinary)
        if decision.lesson is not None:
            found.append((message, key))
        else:
            _note(desk.journal, key, decision, "" if entry is None else entry.identity)
    return sorted(found)


def follow(desk: Desk, message: Message, key: str, item: Item) -> Entry | None:
    """Learn from where a message is, if there is anything to learn, and note it.

    Parameters
    ----------
    desk : Desk
        The run.
    message : Message
        Where the message is.
    key : str
        Its key.
    item : Item
        What it says.

    Returns
    -------
    Entry or None
        What is known about it now.
    """
    entry = desk.entry(key, item)
    place = decide(entry, message.folder, message.folder in desk.snapshot.ordinary)
    if place.lesson == "reject":
        # A label that was forgotten since cannot be wrong any more.
        if place.folder in desk.tagger.labels:
            desk.tagger.feedback(item, shown=[place.folder], accepted=[])
        desk.result.rejected += 1
    elif place.lesson is not None:
        was = "" if entry is None else entry.folder
        if place.lesson == "correct" and was in desk.tagger.labels:
            desk.tagger.correct(item, [place.folder], was=[was])
        else:
            desk.tagger.learn(item, [place.folder])
        desk.journal.learnt += 1
        if place.lesson == "learn":
            desk.result.learnt += 1
        else:
            desk.result.corrected += 1
    _note(desk.journal, key, place, identity_of(item))
    return desk.journal.here.get(key)


def _note(journal: Journal, key: str, decision: Decision, identity: str) -> None:
    if decision.state is None:
        journal.here.pop(key, None)
    else:
        journal.here[key] = Entry(decision.folder, decision.state, identity)


def find_renamed(labels: set[str], journal: Journal, snapshot: Snapshot) -> dict[str, str]:
    """Return folders that have got another name, by the old one.

    A folder that is no longer there counts as renamed if one new folder has at least half of its
    messages, and no other folder has any.

    Parameters
    ----------
    labels : set of str
        The labels so far.
    journal : Journal
        Where messages were.
    snapshot : Snapshot
        Where they are.
    """
    sizes: Counter[str] = Counter()
    places: dict[str, Counter[str]] = {}
    for key, entry in journal.here.items():
        if entry.folder in snapshot.folders or entry.folder not in labels:
            continue
        sizes[entry.folder] += 1
        place = snapshot.place(key, entry).folder if key in snapshot.messages else ""
        if place in snapshot.ordinary:
            places.setdefault(entry.folder, Counter())[place] += 1
    found = {
        old: new
        for old, counts in places.items()
        for new, count in counts.items()
        if len(counts) == 1 and 2 * count >= sizes[old]
        if new not in labels
    }
    # Two folders that became one are a merger, which is learnt message by message.
    heirs = Counter(found.values())
    return {old: new for old, new in found.items() if heirs[new] == 1}
