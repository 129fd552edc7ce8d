"""``tagalong file``: moves messages from the inbox of a Maildir to its folders."""

import argparse
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from tagalong.cli.arguments import WAIT
from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError, UsageError
from tagalong.cli.file_text import log_lines, move_lines, summary_lines
from tagalong.cli.flags import keywords_as_flags
from tagalong.cli.live import Live
from tagalong.cli.output import Output
from tagalong.journal import JournalError
from tagalong.learning.model_files import ModelFileError
from tagalong.mail.filing import BusyError, FilingResult, file_mail, read_log
from tagalong.mail.filing.maildir import NoInboxError
from tagalong.mail.filing.rules import MIN_AUDIT, is_share
from tagalong.mail.formats.folders import SPECIAL_FOLDERS

__all__ = ["run"]

MAX_BUSY_SECONDS = 3600.0
"""How long another run may take before ``--cron`` reports it: it may hang."""

_STEPS = {
    "sort": "reading dates",
    "learn": "learning",
    "suggest": "checking the inbox",
    "move": "moving",
}
_FLAGS = {"model": "--model", "workspace": "--workspace", "start_from": "--start-from"}


def run(args: argparse.Namespace, out: Output) -> int:
    """Move the messages, or show what would be or was moved."""
    if not 0 < args.min_precision <= 1:
        raise UsageError(
            f"--min-precision must be above 0 and at most 1, got {args.min_precision:g}"
        )
    if args.audit is not None and not is_share(args.audit):
        raise UsageError(f"--audit must be 0 or from {MIN_AUDIT:g} to 1, got {args.audit:g}")
    if args.cron and not args.apply:
        raise UsageError("--cron needs --apply: it is silent unless messages were moved")
    if args.log and args.limit == 0:
        raise UsageError("--limit must be at least 1 with --log, got 0")
    exclude = SPECIAL_FOLDERS if args.exclude is None else args.exclude
    try:
        if args.log:
            found = read_log(
                args.maildir, model=args.model, workspace=args.workspace, exclude=exclude
            )
            found = found[-args.limit :] if args.limit else found
            out.json_result({"log": [message.to_dict() for message in found]})
            out.result(*log_lines(found))
            return OK
        with Live(out.quiet or args.cron) as live:
            result = _file(args, exclude, live, out)
    except BusyError as error:
        if args.cron and error.held_seconds(datetime.now(UTC)) <= MAX_BUSY_SECONDS:
            return OK  # The next run of the timer does the work.
        advice = "if it hangs, end it" if args.cron else "--wait SECONDS waits longer"
        raise CommandError(f"{error}; {advice}") from error
    except NoInboxError as error:
        raise UsageError(str(error)) from error
    except (ModelFileError, JournalError, ValueError) as error:
        raise CommandError(keywords_as_flags(str(error), _FLAGS)) from error
    if args.cron:
        out = Output(out.json)  # reports failures
        if result.moved or result.failed:
            _write(result, out, move_lines(result))
    else:
        _write(result, out, [*move_lines(result), *summary_lines(result, args.min_learnt)])
        if not args.apply and result.moves:
            out.info("this was a dry run; --apply moves the messages and saves the model")
    if result.interrupted:
        out.info("interrupted; the next run continues from here")
        return 130
    out.report_skipped(result.failed, result.errors)
    return SOME_SKIPPED if result.failed else OK


def _file(args: argparse.Namespace, exclude: Any, live: Live, out: Output) -> FilingResult:
    def say_waiting(who: str) -> None:
        if not args.cron:
            out.info(f"waiting for {who}")

    return file_mail(
        args.maildir,
        apply=args.apply,
        model=args.model,
        workspace=args.workspace,
        min_precision=args.min_precision,
        min_learnt=args.min_learnt,
        limit=args.limit,
        audit=args.audit,
        only_new=args.only_new,
        exclude=exclude,
        names=not args.no_names,
        start_from=args.start_from,
        progress=_progress(live),
        wait=_wait(args),
        on_wait=say_waiting,
    )


def _wait(args: argparse.Namespace) -> float:
    if args.wait is not None:
        return float(args.wait)
    return 0.0 if args.cron else WAIT


def _progress(live: Live) -> Callable[[str, int, int], None]:
    def show(step: str, done: int, total: int) -> None:
        if live.is_due():
            cells = [_STEPS.get(step, step), f"{done:,}", f"{total:,}"]
            live.show(["", "done", "of"], [cells], f"{cells[0]}: {done:,} of {total:,}")

    return show


def _write(result: FilingResult, out: Output, lines: list[str]) -> None:
    out.json_result(result.to_dict())
    out.result(*lines)
