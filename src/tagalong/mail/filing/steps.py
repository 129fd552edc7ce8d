"""Steps of a filing run: sort, learn, plan and move, one message at a time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.mailbox import Message, MessageGoneError, MoveError, is_inbox
from tagalong.mail.filing.owner_moves import learn_from_folder, messages_to_learn
from tagalong.mail.filing.planner import PlannedMove, inbox_messages, plan
from tagalong.mail.filing.results import LeftAlone
from tagalong.mail.filing.rules import FilingRules

__all__ = ["Progress", "StepControl", "learn", "make_plan", "move_planned"]

CHECKPOINT = 5000

Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class StepControl:
    """Callbacks that each step calls between two messages.

    Parameters
    ----------
    report : callable
        Called as ``report(step, done, total)`` after each message.
    interrupted : callable
        Function that returns whether the run should end.
    """

    report: Progress
    interrupted: Callable[[], bool]


def learn(context: FilingContext, control: StepControl) -> None:
    """Learn from messages that the owner filed or moved; save every `CHECKPOINT` messages.

    The messages of all folders are learnt in the order of their dates, as they would have come to
    the inbox. Folder by folder, the figures of each would speak of its own messages only.
    """
    messages = _sorted_by_date(context, control, messages_to_learn(context))
    for done, (message, key) in enumerate(messages, start=1):
        if control.interrupted():
            return
        item = context.read(message)
        if item is not None:
            learn_from_folder(context, message, key, item)
        control.report("learn", done, len(messages))
        if done % CHECKPOINT == 0:
            context.model.save()


def _sorted_by_date(
    context: FilingContext, control: StepControl, messages: list[tuple[Message, str]]
) -> list[tuple[Message, str]]:
    """Return messages in the order of their dates; only dates and names are kept in memory."""
    dated: list[tuple[float, Message, str]] = []
    for done, (message, key) in enumerate(messages, start=1):
        if control.interrupted():
            return []
        dated.append((context.mailbox.date(message), message, key))
        control.report("sort", done, len(messages))
    dated.sort()
    return [(message, key) for _, message, key in dated]


def make_plan(
    context: FilingContext, control: StepControl, rules: FilingRules
) -> list[PlannedMove]:
    """Return the planned moves; record them and the remaining messages in the result.

    Parameters
    ----------
    context : FilingContext
        State of the run.
    control : StepControl
        Callbacks between two messages.
    rules : FilingRules
        Rules of the run.
    """
    result, snapshot = context.result, context.snapshot
    for folder in filter(is_inbox, snapshot.folders - snapshot.movable - snapshot.unread.keys()):
        result.fail(context.mailbox.why_unmovable(folder))
    messages = inbox_messages(context, rules.only_new)
    is_below_min_learnt = context.model.learnt < rules.min_learnt
    result.moves_at.update(dict.fromkeys(rules.other_targets, 0))
    planned: list[PlannedMove] = []
    handled = 0  # moves and new spot checks
    for done, (message, key) in enumerate(messages, start=1):
        if control.interrupted():
            break
        if is_below_min_learnt:
            result.left.append(LeftAlone(context.mailbox.source(message), "too young"))
            continue
        outcome = plan(context, message, key, rules, is_beyond_limit=handled == rules.limit)
        if isinstance(outcome, LeftAlone):
            handled += outcome.is_new_check
            result.left.append(outcome)
        elif outcome is not None:
            handled += 1
            planned.append(outcome)
            result.moves.append(outcome.move)
        control.report("suggest", done, len(messages))
    return planned


def move_planned(context: FilingContext, control: StepControl, planned: list[PlannedMove]) -> None:
    """Make the planned moves, after saving all of them in the journal.

    Parameters
    ----------
    context : FilingContext
        State of the run.
    control : StepControl
        Callbacks between two messages.
    planned : list of PlannedMove
        Moves, in the order of ``context.result.moves``.
    """
    journal = context.model.journal
    for each in planned:
        journal.note(each.key, each.entry, each.record)
    context.model.save()
    for number, each in enumerate(planned):
        if control.interrupted():
            journal.drop(each.key)  # The remaining messages stay in the inbox.
            continue
        if not _try_move(context, each):
            journal.drop(each.key)
        else:
            journal.present[each.key] = replace(each.entry, state="filed")
            context.model.note_filed(each.item, each.entry.folder)
            context.result.moves[number] = replace(each.move, done=True)
        control.report("move", number + 1, len(planned))


def _try_move(context: FilingContext, planned: PlannedMove) -> bool:
    """Move a message and return whether that succeeded; count a failure."""
    try:
        context.mailbox.move(planned.move.source, planned.move.target)
    except MessageGoneError:
        # The message was read, moved or deleted since the scan. The next run finds it if it exists.
        context.result.vanished += 1
    except MoveError as error:
        context.result.fail(str(error))
    else:
        return True
    return False
