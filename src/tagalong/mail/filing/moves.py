"""What belongs in a folder, and how it gets there."""

import os
from dataclasses import replace
from pathlib import Path

from tagalong.learning.items import Item
from tagalong.mail.filing.desk import Desk
from tagalong.mail.filing.follow import follow
from tagalong.mail.filing.journal import Entry
from tagalong.mail.filing.results import LeftAlone, Move, shown
from tagalong.mail.filing.scan import Message, identity_of, is_inbox, name_elsewhere

__all__ = ["carry_out", "in_inbox", "plan"]

WORDS_SHOWN = 5


def in_inbox(desk: Desk, only_new: bool) -> list[tuple[Message, str]]:
    """Return the messages of the inbox that can be filed, with their keys, oldest first.

    Parameters
    ----------
    desk : Desk
        The run.
    only_new : bool
        Leave out those that a mail program has seen already.
    """
    return sorted(
        (message, key)
        for key, found in desk.snapshot.messages.items()
        for message in found
        if is_inbox(message.folder) and message.folder in desk.snapshot.whole
        if message.state == "new" or not only_new
    )


def plan(desk: Desk, message: Message, key: str, min_precision: float) -> None:
    """Plan a move for a message of the inbox, or say why it is left alone.

    Parameters
    ----------
    desk : Desk
        The run.
    message : Message
        The message.
    key : str
        Its key.
    min_precision : float
        How sure the tagger must be.
    """
    source = desk.snapshot.path(message)
    left = desk.result.left
    entry = desk.journal.here.get(key)
    if len(desk.snapshot.messages[key]) > 1:
        left.append(LeftAlone(source, "copy"))
        return
    if entry is not None:
        left.append(LeftAlone(source, "put back"))
        return
    item = desk.read(message)
    if item is None:
        return
    subject = _subject(item)
    # It may be one that was moved back under another name.
    if follow(desk, message, key, item) is not None:
        left.append(LeftAlone(source, "put back", subject))
        return
    best = next(iter(desk.tagger.suggest(item, k=1, min_precision=min_precision)), None)
    if best is None:
        left.append(LeftAlone(source, "unsure", subject))
        return
    label, probability = best.label, best.probability
    if not best.sure:
        left.append(LeftAlone(source, "unsure", subject, str(label), probability))
        return
    targets = desk.snapshot.ordinary & desk.snapshot.whole
    if not isinstance(label, str) or label not in targets:
        left.append(LeftAlone(source, "no such folder", subject, str(label), probability))
        return
    words = desk.tagger.explain(item, label).speaks_for[:WORDS_SHOWN]
    move = Move(
        source=source,
        target=desk.snapshot.folders[label] / message.state / name_elsewhere(message.name),
        subject=subject,
        from_folder=message.folder,
        to_folder=label,
        probability=probability,
        why=tuple(word for word, _ in words),
    )
    desk.result.moves.append(move)
    desk.planned.append((key, Entry(label, "moving", identity_of(item))))


def carry_out(desk: Desk, number: int) -> None:
    """Make a planned move, which the saved journal must know about, and note how it went.

    Parameters
    ----------
    desk : Desk
        The run.
    number : int
        The number of the move among those of the result.
    """
    move, (key, entry) = desk.result.moves[number], desk.planned[number]
    del desk.journal.here[key]
    try:
        _move(move.source, move.target)
    except FileNotFoundError:
        if os.path.lexists(move.source):
            desk.result.fail(f"{shown(move.target.parent)}: there is no such folder")
        else:
            # Read, moved or deleted meanwhile; if it is still there, the next run finds it.
            desk.result.vanished += 1
    except OSError as error:
        problem = f"cannot be moved to {shown(move.target)}: {error.strerror or error}"
        desk.result.fail(f"{shown(move.source)}: {problem}")
    else:
        desk.journal.here[key] = Entry(entry.folder, "filed", entry.identity)
        desk.result.moves[number] = replace(move, done=True)


def _move(source: Path, target: Path) -> None:
    """Move a file in one step, so that it is at no time in both places or in none."""
    # Names are unique by the rules of Maildir, and no message is moved that the scan saw twice;
    # this is for one that has come since.
    if os.path.lexists(target):
        raise FileExistsError("there is a file of that name already")
    os.rename(source, target)


def _subject(item: Item) -> str:
    return "" if isinstance(item.text, str) else item.text.get("subject", "")
