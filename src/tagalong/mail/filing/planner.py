"""Choice of a folder for each message of the inbox; this module moves nothing."""

from dataclasses import dataclass

from tagalong.learning.items import Item
from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.identity import identity_of
from tagalong.mail.filing.journal import Entry
from tagalong.mail.filing.mailbox import Message, is_inbox
from tagalong.mail.filing.owner_moves import learn_from_folder
from tagalong.mail.filing.results import LeftAlone, Move, Reason
from tagalong.tagger import Suggestion, Tagger

__all__ = ["PlannedMove", "inbox_messages", "plan"]

WORDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class PlannedMove:
    """Planned move of a message.

    Parameters
    ----------
    move : Move
        Source, target and reasons.
    key : str
        Key of the message.
    entry : Entry
        Journal entry of the message until it is moved.
    """

    move: Move
    key: str
    entry: Entry


def inbox_messages(context: FilingContext, only_new: bool) -> list[tuple[Message, str]]:
    """Return the messages of the inbox that can be filed, with their keys, oldest first.

    Parameters
    ----------
    context : FilingContext
        State of the run.
    only_new : bool
        Whether to leave out messages that a mail program has already seen.
    """
    return sorted(
        (message, key)
        for key, found in context.snapshot.messages.items()
        for message in found
        if is_inbox(message.folder) and message.folder in context.snapshot.movable
        if message.state == "new" or not only_new
    )


def plan(
    context: FilingContext, message: Message, key: str, min_precision: float
) -> PlannedMove | LeftAlone | None:
    """Return the planned move of a message of the inbox, or the reason to leave it there.

    Parameters
    ----------
    context : FilingContext
        State of the run.
    message : Message
        Location of the message.
    key : str
        Key of the message.
    min_precision : float
        Minimum precision of the suggestions that are followed.

    Returns
    -------
    PlannedMove, LeftAlone or None
        None if the message cannot be read, which is counted as a failure.
    """
    source = context.mailbox.source(message)
    if len(context.snapshot.messages[key]) > 1:
        return LeftAlone(source, "copy")
    if key in context.model.journal.present:
        return LeftAlone(source, "put back")
    item = context.read(message)
    if item is None:
        return None
    # The message may have been put back into the inbox under another file name.
    if learn_from_folder(context, message, key, item) is not None:
        return LeftAlone(source, "put back", _subject(item))
    tagger, targets = context.model.tagger, context.snapshot.ordinary & context.snapshot.movable
    best = next(iter(tagger.suggest(item, k=1, min_precision=min_precision)), None)
    if best is None:
        return LeftAlone(source, "unsure", _subject(item))
    folder = str(best.label)
    reason = _reason_to_leave(best, targets)
    if reason is not None:
        return LeftAlone(source, reason, _subject(item), folder, best.probability)
    move = Move(
        source=source,
        target=context.mailbox.target(message, folder),
        subject=_subject(item),
        from_folder=message.folder,
        to_folder=folder,
        probability=best.probability,
        why=_explaining_words(tagger, item, folder),
    )
    return PlannedMove(move, key, Entry(folder, "moving", identity_of(item)))


def _reason_to_leave(best: Suggestion, targets: frozenset[str]) -> Reason | None:
    """Return why a suggestion is not followed; None if it is followed."""
    if not best.sure:
        return "unsure"
    if not isinstance(best.label, str) or best.label not in targets:
        return "no such folder"
    return None


def _explaining_words(tagger: Tagger, item: Item, folder: str) -> tuple[str, ...]:
    """Return the words with the largest contribution to a folder's score, largest first."""
    return tuple(word for word, _ in tagger.explain(item, folder).speaks_for[:WORDS_SHOWN])


def _subject(item: Item) -> str:
    return "" if isinstance(item.text, str) else item.text.get("subject", "")
