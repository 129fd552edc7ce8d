"""Steps of a filing run: learn, plan and move, one message at a time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from tagalong.mail.filing.context import FilingContext
from tagalong.mail.filing.journal import Entry
from tagalong.mail.filing.mailbox import MessageGoneError, MoveError, is_inbox
from tagalong.mail.filing.owner_moves import learn_from_folder, messages_to_learn
from tagalong.mail.filing.planner import PlannedMove, inbox_messages, plan
from tagalong.mail.filing.results import LeftAlone

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
    """Learn from messages that the owner filed or moved; save every `CHECKPOINT` messages."""
    messages = messages_to_learn(context)
    for done, (message, key) in enumerate(messages, start=1):
        if control.interrupted():
            return
        item = context.read(message)
        if item is not None:
            learn_from_folder(context, message, key, item)
        control.report("learn", done, len(messages))
        if done % CHECKPOINT == 0:
            context.model.save()


def make_plan(
    context: FilingContext,
    control: StepControl,
    min_precision: float,
    min_learnt: int,
    only_new: bool,
) -> list[PlannedMove]:
    """Return the planned moves; record them and the remaining messages in the result.

    Parameters
    ----------
    context : FilingContext
        State of the run.
    control : StepControl
        Callbacks between two messages.
    min_precision : float
        Minimum precision of the suggestions that are followed.
    min_learnt : int
        Number of messages that the model must have learnt.
    only_new : bool
        Whether to leave out messages that a mail program has already seen.
    """
    result, snapshot = context.result, context.snapshot
    for folder in filter(is_inbox, snapshot.folders - snapshot.movable):
        result.fail(context.mailbox.why_unmovable(folder))
    messages = inbox_messages(context, only_new)
    is_below_min_learnt = context.model.learnt < min_learnt
    planned: list[PlannedMove] = []
    for done, (message, key) in enumerate(messages, start=1):
        if control.interrupted():
            break
        if is_below_min_learnt:
            result.left.append(LeftAlone(context.mailbox.source(message), "too young"))
            continue
        outcome = plan(context, message, key, min_precision)
        if isinstance(outcome, LeftAlone):
            result.left.append(outcome)
        elif outcome is not None:
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
    present = context.model.journal.present
    present.update((each.key, each.entry) for each in planned)
    context.model.save()
    for number, each in enumerate(planned):
        del present[each.key]
        if control.interrupted():
            continue  # The remaining messages stay in the inbox, without a journal entry.
        if _try_move(context, each):
            present[each.key] = Entry(each.entry.folder, "filed", each.entry.identity)
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
