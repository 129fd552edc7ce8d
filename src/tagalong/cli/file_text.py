"""Text of the results of ``tagalong file``: moves, summary, log."""

import time
from collections import Counter
from collections.abc import Sequence

from tagalong.cli.output import links_text, table
from tagalong.mail.filing import FilingResult, LeftAlone, LoggedMessage, Move
from tagalong.mail.filing.history import Outcome
from tagalong.mail.filing.journal import MAX_LOG
from tagalong.mail.filing.log import Act
from tagalong.printable import printable

__all__ = ["log_lines", "move_lines", "summary_lines"]

MAX_SUBJECT = 60


def move_lines(result: FilingResult) -> list[str]:
    """Return a line for each message that was or would be moved, and for each new spot check."""
    moves = [move for move in result.moves if move.done or not result.applied]
    checks = [left for left in result.left if left.is_new_check]
    lines = [*map(_move_cells, moves), *map(_check_cells, checks)]
    return table(lines, numbers_from=3) if lines else []


def _move_cells(move: Move) -> tuple[str, str, str]:
    why = f"  ({', '.join(move.why[:3])})" if move.why else ""
    return f"{move.probability:4.0%}", move.to_folder, (move.subject or move.source.name) + why


def _check_cells(left: LeftAlone) -> tuple[str, str, str]:
    text = f"{left.subject or left.source.name}  (spot check: please file it yourself)"
    return f"{left.probability:4.0%}", f"{left.folder}?", text


def summary_lines(result: FilingResult, min_learnt: int) -> list[str]:
    """Return what was learnt and moved, what stays in the inbox, and what other targets give.

    Parameters
    ----------
    result : FilingResult
        Result of the run.
    min_learnt : int
        Number of messages that must have been learnt before any message is moved.
    """
    learnt = f"{_messages(result.learnt, 'new ' if result.learnt_before else '')} learnt"
    if result.answered:
        learnt += f", {result.answered:,} of them spot checks"
    if result.corrected:
        learnt += f", {result.corrected:,} moved by you to another folder"
    if result.rejected:
        learnt += f", {result.rejected:,} moved back to the inbox"
    moved = (
        f"{_messages(result.moved)} moved"
        if result.applied
        else f"{_messages(len(result.moves))} would be moved"
    )
    stay = ", ".join(f"{count:,} {reason}" for reason, count in result.left_by_reason.items())
    if "too young" in result.left_by_reason:
        total = result.learnt_before + result.learnt + result.corrected
        stay += f": {total:,} of {_messages(min_learnt)} learnt (--min-learnt)"
    verb = "stays" if len(result.left) == 1 else "stay"
    lines = [learnt, moved, f"{len(result.left):,} {verb} in the inbox" + (stay and f": {stay}")]
    if result.in_runs:
        lines.append(
            "nothing is sure: the last messages came in long runs of one folder, so that nothing "
            "can be said about mail in its usual order"
        )
    if result.links:
        lines.append(links_text(result.links))
    return lines + _other_targets(result)


def _messages(count: int, kind: str = "") -> str:
    return f"1 {kind}message" if count == 1 else f"{count:,} {kind}messages"


def _other_targets(result: FilingResult) -> list[str]:
    """Return the line "at 0.90 I would move 170, at 0.95 152, at 0.99 80" of a dry run."""
    if not result.moves_at:
        return []
    (first, count), *others = result.moves_at.items()
    parts = [f"at {first:.2f} I would move {count:,}"]
    parts += [f"at {target:.2f} {count:,}" for target, count in others]
    return [", ".join(parts) + (" (without --limit)" if "limit" in result.left_by_reason else "")]


def log_lines(found: Sequence[LoggedMessage]) -> list[str]:
    """Return the log as a table, with a summary.

    Parameters
    ----------
    found : sequence of LoggedMessage
        Messages of the log.
    """
    kept = f"the last {MAX_LOG:,} moves and spot checks are kept"
    if not found:
        return [f"nothing has been moved yet; {kept}"]
    rows = [["when", "probability", "to", "what became of it", "subject", "why"]]
    for message in found:
        record = message.record
        rows.append(
            [
                time.strftime("%Y-%m-%d %H:%M", time.localtime(record.time)),
                f"{record.probability:.0%}",
                record.folder + ("?" if record.act == "asked" else ""),
                _outcome_text(message),
                _shortened(printable(message.subject)),
                ", ".join(record.why),
            ]
        )
    moved = Counter(message.outcome for message in found if message.record.act == "moved")
    asked = Counter(message.outcome for message in found if message.record.act == "asked")
    return [*table(rows, len(rows[0])), *_counts("moved", moved), *_counts("asked", asked), kept]


def _counts(act: Act, outcomes: Counter[Outcome]) -> list[str]:
    if not outcomes:
        return []
    parts = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
    return [f"{outcomes.total():,} {act}: {parts}"]


def _outcome_text(message: LoggedMessage) -> str:
    if message.outcome == "moved by you":
        return f"moved by you to {message.folder or ''}"
    return message.outcome


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_SUBJECT else text[: MAX_SUBJECT - 1] + "…"
