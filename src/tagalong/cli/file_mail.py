"""``tagalong file``: moves messages from the inbox of a Maildir to its folders."""

import argparse

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.live import Live
from tagalong.cli.output import Output
from tagalong.mail.filing import BusyError, FilingResult, Move, file_mail
from tagalong.mail.formats.folders import SPECIAL_FOLDERS

__all__ = ["run"]

_STEPS = {"learn": "learning", "suggest": "checking the inbox", "move": "moving"}


def run(args: argparse.Namespace, out: Output) -> int:
    """Move the messages, or show what would be moved."""
    if not 0 < args.min_precision <= 1:
        raise UsageError(
            f"--min-precision must be above 0 and at most 1, got {args.min_precision:g}"
        )
    with Live(out.quiet) as live:

        def show(step: str, done: int, total: int) -> None:
            if live.is_due():
                cells = [_STEPS.get(step, step), f"{done:,}", f"{total:,}"]
                live.show(["", "done", "of"], [cells], f"{cells[0]}: {done:,} of {total:,}")

        try:
            result = file_mail(
                args.maildir,
                apply=args.apply,
                model=args.model,
                min_precision=args.min_precision,
                min_learnt=args.min_learnt,
                only_new=args.only_new,
                exclude=SPECIAL_FOLDERS if args.exclude is None else args.exclude,
                names=not args.no_names,
                progress=show,
            )
        except BusyError as error:
            raise CommandError(str(error)) from error
    out.json_result(result.to_dict())
    out.result("\n".join(_lines(result)))
    if not args.apply and result.moves:
        out.info("this was a dry run; --apply moves the messages and saves the model")
    if result.interrupted:
        out.info("interrupted; the next run continues from here")
        return 130
    out.report_skipped(result.failed, result.errors)
    return SOME_SKIPPED if result.failed else OK


def _lines(result: FilingResult) -> list[str]:
    lines = [_line(move) for move in result.moves]
    learnt = f"{result.learnt:,} messages learnt"
    if result.corrected:
        learnt += f", {result.corrected:,} moved by you to another folder"
    if result.rejected:
        learnt += f", {result.rejected:,} moved back to the inbox"
    moved = (
        f"{result.moved:,} messages moved"
        if result.applied
        else f"{len(result.moves):,} messages would be moved"
    )
    stay = ", ".join(f"{count:,} {reason}" for reason, count in result.left_by_reason.items())
    return [
        *lines,
        learnt,
        moved,
        f"{len(result.left):,} stay in the inbox" + (stay and f": {stay}"),
    ]


def _line(move: Move) -> str:
    why = f"  ({', '.join(move.why[:3])})" if move.why else ""
    return f"{move.probability:4.0%}  {move.to_folder}  {move.subject or move.source.name}{why}"
