"""Choice of a folder for each message of the inbox; this module moves nothing."""

from dataclasses import dataclass
from pathlib import Path

from tagalong.learning.items import Item
from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.identity import identity_of
from tagalong.mail.filing.journal import Entry
from tagalong.mail.filing.log import Act, LogRecord
from tagalong.mail.filing.mailbox import Message, is_inbox
from tagalong.mail.filing.owner_moves import learn_from_folder
from tagalong.mail.filing.results import LeftAlone, Move, Reason
from tagalong.mail.filing.rules import FilingRules
from tagalong.tagger import Suggestions, Tagger

__all__ = ["PlannedMove", "inbox_messages", "plan"]

WORDS_SHOWN = 5
WORDS_LOGGED = 3


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
    record : LogRecord
        Record of the move for the log.
    item : Item
        Contents of the message.
    """

    move: Move
    key: str
    entry: Entry
    record: LogRecord
    item: Item


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
    context: FilingContext,
    message: Message,
    key: str,
    rules: FilingRules,
    *,
    is_beyond_limit: bool = False,
) -> PlannedMove | LeftAlone | None:
    """Return the planned move of a message of the inbox, or the reason to leave it there.

    A spot check is entered into the journal.

    Parameters
    ----------
    context : FilingContext
        State of the run.
    message : Message
        Location of the message.
    key : str
        Key of the message.
    rules : FilingRules
        Rules of the run.
    is_beyond_limit : bool
        Whether the run may neither move a further message nor make it a spot check.

    Returns
    -------
    PlannedMove, LeftAlone or None
        None if the message cannot be read, which is counted as a failure.
    """
    source, tagger, journal = (
        context.mailbox.source(message),
        context.model.tagger,
        context.model.journal,
    )
    if len(context.snapshot.messages[key]) > 1:
        return LeftAlone(source, "copy")
    if (left := _left_before(tagger, source, journal.present.get(key))) is not None:
        return left
    item = context.read(message)
    if item is None:
        return None
    # The message may have been put back into the inbox under another file name.
    entry = learn_from_folder(context, message, key, item)
    if (left := _left_before(tagger, source, entry, _subject(item))) is not None:
        return left
    found = tagger.suggest(item, k=1, min_precision=rules.min_precision)
    context.result.in_runs |= found.in_runs
    if not found:
        return LeftAlone(source, "unsure", _subject(item))
    _count_moves_at(context, item, rules)
    folder, probability = str(found[0].label), found[0].probability
    reason = _reason_to_leave(context, found)
    if is_beyond_limit and reason in (None, "spot check"):
        reason = "limit"

    def record(act: Act) -> LogRecord:
        words = why[:WORDS_LOGGED] if context.model.logs_words else ()
        return LogRecord(folder, rules.now, act, round(probability, 4), rules.min_precision, words)

    if reason not in (None, "spot check"):
        return LeftAlone(source, reason, _subject(item), folder, probability)
    why = _explaining_words(tagger, item, folder)
    if reason == "spot check":
        journal.note(key, Entry(folder, "asked", identity_of(item)), record("asked"))
        context.model.note_filed(item, folder, asked=True)
        return LeftAlone(source, reason, _subject(item), folder, probability)
    move = Move(
        source=source,
        target=context.mailbox.target(message, folder),
        subject=_subject(item),
        from_folder=message.folder,
        to_folder=folder,
        probability=probability,
        why=why,
    )
    entry = Entry(folder, "moving", identity_of(item))
    return PlannedMove(move, key, entry, record("moved"), item)


def _left_before(
    tagger: Tagger, source: Path, entry: Entry | None, subject: str = ""
) -> LeftAlone | None:
    """Return why a message with a journal entry stays in the inbox; None if it may be filed."""
    if entry is None:
        return None
    if entry.state != "asked":
        return LeftAlone(source, "put back", subject)
    # Without spot checks there is no reason to leave the message to the owner any longer.
    return LeftAlone(source, "spot check", subject, entry.folder) if tagger.audit > 0 else None


def _reason_to_leave(context: FilingContext, found: Suggestions) -> Reason | None:
    """Return why the first suggestion is not followed; None if it is followed."""
    best, snapshot = found[0], context.snapshot
    if context.model.tagger.min_precision.get(best.label) == "never":
        return "never"
    if not best.sure:
        return "unsure"
    if best.label not in snapshot.ordinary & snapshot.movable:
        return "no such folder"
    return "spot check" if found.audited else None


def _count_moves_at(context: FilingContext, item: Item, rules: FilingRules) -> None:
    """Count the targets at which a message would be moved."""
    for target in rules.other_targets:
        found = context.model.tagger.suggest(item, k=1, min_precision=target)
        would_move = _reason_to_leave(context, found) is None
        counts = context.result.moves_at
        counts[target] = counts.get(target, 0) + would_move


def _explaining_words(tagger: Tagger, item: Item, folder: str) -> tuple[str, ...]:
    """Return the words with the largest contribution to a folder's score, largest first."""
    return tuple(word for word, _ in tagger.explain(item, folder).speaks_for[:WORDS_SHOWN])


def _subject(item: Item) -> str:
    return "" if isinstance(item.text, str) else item.text.get("subject", "")
