"""The steps of a run: learn, plan, move, each message by message."""

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
    """What the steps look at between two messages.

    Parameters
    ----------
    report : callable
        Called as ``report(step, done, total)`` after each message.
    interrupted : callable
        Says whether the run is to end.
    """

    report: Progress
    interrupted: Callable[[], bool]


def learn(context: FilingContext, control: StepControl) -> None:
    """Learn from the messages that their owner has filed or moved, and save now and then."""
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
    """Return the moves to make; the result says them too, and what is left alone.

    Parameters
    ----------
    context : FilingContext
        The run.
    control : StepControl
        What to look at between two messages.
    min_precision : float
        How sure the tagger must be.
    min_learnt : int
        How many messages it must have learnt.
    only_new : bool
        Leave out messages that a mail program has seen already.
    """
    result, snapshot = context.result, context.snapshot
    for folder in filter(is_inbox, snapshot.folders - snapshot.movable):
        result.fail(context.mailbox.why_unmovable(folder))
    messages = inbox_messages(context, only_new)
    is_too_young = context.model.learnt < min_learnt
    planned: list[PlannedMove] = []
    for done, (message, key) in enumerate(messages, start=1):
        if control.interrupted():
            break
        if is_too_young:
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
    """Make the moves of the result, which are saved in the journal before the first is made.

    Parameters
    ----------
    context : FilingContext
        The run.
    control : StepControl
        What to look at between two messages.
    planned : list of PlannedMove
        The moves, as in the result.
    """
    present = context.model.journal.present
    present.update((each.key, each.entry) for each in planned)
    context.model.save()
    for number, each in enumerate(planned):
        del present[each.key]
        if control.interrupted():
            continue  # The rest stays where it is.
        if _is_moved(context, each):
            present[each.key] = Entry(each.entry.folder, "filed", each.entry.identity)
            context.result.moves[number] = replace(each.move, done=True)
        control.report("move", number + 1, len(planned))


def _is_moved(context: FilingContext, planned: PlannedMove) -> bool:
    """Move a message; False if it cannot be moved, which is counted."""
    try:
        context.mailbox.move(planned.move.source, planned.move.target)
    except MessageGoneError:
        # Read, moved or deleted meanwhile; if it is still there, the next run finds it.
        context.result.vanished += 1
    except MoveError as error:
        context.result.fail(str(error))
    else:
        return True
    return False
