"""``run`` of the command: from the arguments to the exit code."""

import argparse
from functools import partial

from tagalong.cli.errors import OK, SOME_SKIPPED, CommandError
from tagalong.cli.interrupts import Interrupts
from tagalong.cli.learn.checks import check_arguments, check_model
from tagalong.cli.learn.destination import Destination
from tagalong.cli.learn.drift_warning import DriftWarning
from tagalong.cli.learn.held_out import held_out_estimate
from tagalong.cli.learn.live_measures import LiveMeasures
from tagalong.cli.learn.loop import LearningLoop
from tagalong.cli.learn.order_warning import OrderWarning
from tagalong.cli.learn.outcome import report_outcome
from tagalong.cli.learn.predictions import predictions_of
from tagalong.cli.learn.preparation import prepare
from tagalong.cli.learn.saving import ModelFile
from tagalong.cli.learn.separator_warning import SeparatorWarning
from tagalong.cli.live import Live
from tagalong.cli.models import locked_model
from tagalong.cli.nothing_learnt import nothing_learnt
from tagalong.cli.output import Output
from tagalong.cli.report_files import write_report
from tagalong.cli.run_state import Run
from tagalong.cli.server_options import check_server_options
from tagalong.evaluate import Report
from tagalong.evaluate.query_report import QueryReport
from tagalong.tagger import Tagger

__all__ = ["run"]


def run(args: argparse.Namespace, out: Output) -> int:
    """Learn the items, and report the measures."""
    if args.server is not None:
        from tagalong.cli.learn import into_server  # slow to import

        return into_server.run(args, out)
    check_server_options(args)
    check_arguments(args)
    if args.workspace is not None:
        from tagalong.cli.learn import into_workspace  # slow to import

        with into_workspace.learning_workspace(args, out) as workspace:
            learning_run = into_workspace.run_in_workspace(args, workspace)
            destination = into_workspace.WorkspaceDestination(workspace, learning_run)
            return _run(args, out, workspace.tagger, learning_run, destination)
    with locked_model(args.model, args, out):
        check_model(args)  # another command may have made it meanwhile
        tagger, learning_run = prepare(args)
        return _run(args, out, tagger, learning_run, ModelFile(tagger, learning_run, args.model))


def _run(
    args: argparse.Namespace,
    out: Output,
    tagger: Tagger,
    learning_run: Run,
    destination: Destination,
) -> int:
    with Interrupts() as interrupts:
        with (
            predictions_of(args, tagger, learning_run, out),
            Live(out.quiet, args.every) as live,
        ):
            measures = LiveMeasures(tagger, learning_run, live, args.certificate)
            warning = OrderWarning(out, learning_run, args)
            loop = LearningLoop(
                tagger,
                learning_run,
                interrupts,
                measures,
                destination,
                warning,
                DriftWarning(out, tagger.drift),
                SeparatorWarning(out, learning_run),
                partial(_show_reading, live),
            )
            _learn_and_save(loop, destination, learning_run)
        report = learning_run.report(tagger)
        # Inside the block, so that a signal ends it without losing the report.
        held_out = held_out_estimate(tagger, learning_run, report, interrupts, out)
        if held_out is not None:
            learning_run.held_out = held_out.note()
            destination.save()
    _write_files(args, report, private=learning_run.is_private)
    report_outcome(
        out,
        destination,
        loop,
        report,
        interrupted=bool(interrupts.signal),
        certificate=args.certificate,
        held_out=held_out,
    )
    if interrupts.signal:
        return interrupts.exit_code
    return SOME_SKIPPED if loop.skipped else OK


def _show_reading(live: Live, count: int) -> None:
    """Show how many items have been read, while they are read to be sorted."""
    if live.is_due():
        live.show(["read, to be sorted"], [[f"{count:,}"]], f"read, to be sorted: {count:,} items")


def _learn_and_save(loop: LearningLoop, destination: Destination, run: Run) -> None:
    """Run the loop and save the model, also after Ctrl-C or an error."""
    try:
        loop.run_to_end()
    except KeyboardInterrupt:
        pass
    except (CommandError, ValueError, OSError) as error:
        if not loop.has_progressed:
            raise
        destination.save()
        raise _with_hint(error, destination.resume_hint(run)) from error
    else:
        if not (loop.has_learnt if destination.needs_labels else run.position):
            raise nothing_learnt(run.reading, run.position, loop.skipped, links=loop.links)
    destination.save()


def _with_hint(error: Exception, hint: str | None) -> Exception:
    """Return an error that also says how many items are saved and how to resume."""
    if hint is None:
        return error
    return CommandError(*(error.lines if isinstance(error, CommandError) else [str(error)]), hint)


def _write_files(args: argparse.Namespace, report: Report | QueryReport, *, private: bool) -> None:
    """Write the files of ``--report`` and ``--plot``."""
    if args.report is not None:
        write_report(report, args.report, private=private)
    if args.plot is not None:
        report.plot(args.plot, args.plot_kind, private=private)
