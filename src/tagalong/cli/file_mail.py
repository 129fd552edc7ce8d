"""``tagalong file``: sorts the mail of a Maildir into its folders, where that is sure enough."""

import argparse

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.live import Live
from tagalong.cli.output import Output
from tagalong.mail.filing import BusyError, FilingResult, Move, file_mail
from tagalong.mail.formats.folders import SPECIAL_FOLDERS

__all__ = ["run"]

_STEPS = {"learn": "learning", "suggest": "looking at the inbox", "move": "moving"}


def run(args: argparse.Namespace, out: Output) -> int:
    """File the mail, or tell what would be done."""
    if not 0 < args.min_precision <= 1:
        raise UsageError(f"--min-precision must be above 0, at most 1, not {args.min_precision:g}")
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
    out.document(result.to_dict())
    out.show("\n".join(_lines(result)))
    if not args.apply and result.moves:
        out.say("nothing was moved or saved; --apply does it")
    if result.interrupted:
        out.say("interrupted; the next run goes on from here")
        return 130
    out.skipped(result.failed, result.errors)
    return SOME_SKIPPED if result.failed else OK


def _lines(result: FilingResult) -> list[str]:
    lines = [_line(move) for move in result.moves]
    learnt = f"{result.learnt:,} messages learnt"
    if result.corrected:
        learnt += f", {result.corrected:,} that were moved since"
    if result.rejected:
        learnt += f", {result.rejected:,} that were put back"
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
