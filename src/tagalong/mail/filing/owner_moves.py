"""Learning from the messages that the owner of the mail moved since the last run."""

from tagalong.learning.items import Item
from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.decisions import Decision, Lesson, decide
from tagalong.mail.filing.identity import identity_of
from tagalong.mail.filing.journal import Entry, Journal
from tagalong.mail.filing.mailbox import Message
from tagalong.mail.filing.results import FilingResult

__all__ = ["learn_from_folder", "messages_to_learn"]


def messages_to_learn(context: FilingContext) -> list[tuple[Message, str]]:
    """Return the messages with a lesson to learn, and their keys.

    The journal entries of all other messages are updated.
    """
    journal, snapshot = context.model.journal, context.snapshot
    found: list[tuple[Message, str]] = []
    for key in snapshot.messages:
        entry = journal.present.get(key)
        message = snapshot.place(key, entry)
        decision = decide(entry, message.folder, message.folder in snapshot.ordinary)
        if decision.lesson is not None:
            found.append((message, key))
        else:
            _update_entry(journal, key, decision, "" if entry is None else entry.identity)
    return found


def learn_from_folder(
    context: FilingContext, message: Message, key: str, item: Item
) -> Entry | None:
    """Learn from the folder of a message, if there is a lesson, and update its journal entry.

    Parameters
    ----------
    context : FilingContext
        State of the run.
    message : Message
        Location of the message.
    key : str
        Key of the message.
    item : Item
        Contents of the message.

    Returns
    -------
    Entry or None
        New journal entry of the message.
    """
    entry = context.known.find(key, item)
    decision = decide(entry, message.folder, message.folder in context.snapshot.ordinary)
    journal = context.model.journal
    if decision.lesson is not None:
        context.model.teach(item, decision, "" if entry is None else entry.folder)
        _count_lesson(journal, context.result, decision.lesson)
    _update_entry(journal, key, decision, identity_of(item))
    return journal.present.get(key)


def _count_lesson(journal: Journal, result: FilingResult, lesson: Lesson) -> None:
    if lesson == "reject":
        result.rejected += 1
        return
    journal.learnt += 1
    if lesson in ("correct", "refile"):
        result.corrected += 1
    else:
        result.learnt += 1
        result.answered += lesson == "answer"


def _update_entry(journal: Journal, key: str, decision: Decision, identity: str) -> None:
    if decision.state is None:
        journal.drop(key)
    else:
        journal.present[key] = Entry(decision.folder, decision.state, identity)
