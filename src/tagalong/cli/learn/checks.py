"""Checks of the arguments before the run starts, so that it does not fail at the end."""

import argparse
import os

from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.learn.predictions import check_predictions
from tagalong.cli.models import check_destination, check_model_destination
from tagalong.cli.plot_files import check_plot
from tagalong.cli.sources import is_live_stream

__all__ = ["check_arguments", "check_model"]


def check_arguments(args: argparse.Namespace) -> None:
    """Raise UsageError or CommandError if the arguments are invalid."""
    check_model_destination(args.model)
    if args.workspace is not None:
        _check_workspace(args)
    check_destination(args.report, "--report")
    check_predictions(args)
    check_plot(args.plot)
    if (args.resume or args.continue_run) and args.model is None:
        raise UsageError(f"--{'resume' if args.resume else 'continue'} needs --model")
    if not args.sources and not args.resume:
        raise UsageError("nothing to read: give a SOURCE, such as a file or pydocs:")
    if args.passes == 0:
        raise UsageError("--passes must be at least 1")
    if (args.passes or 1) > 1 and any(map(_is_read_once, args.sources)):
        raise UsageError(
            f"--passes {args.passes}: standard input and pipes can be read only once; write the "
            "items to a file first, and give the file"
        )
    check_model(args)


def _check_workspace(args: argparse.Namespace) -> None:
    """Raise UsageError for options that have no meaning with a workspace."""
    for flag, is_given, reason in (
        ("--model", args.model is not None, "a workspace has its own model"),
        ("--resume", args.resume, "the same command goes on where it stopped"),
        ("--continue", args.continue_run, "a workspace always learns further items"),
        ("--force", args.force, "nothing in a workspace is replaced; use another folder"),
        ("--passes", args.passes is not None, "a workspace learns each item once"),
        ("--predictions", args.predictions is not None, "it needs --model, or neither"),
    ):
        if is_given:
            raise UsageError(f"--workspace {args.workspace} cannot be used with {flag}: {reason}")
    if os.path.exists(args.workspace) and not os.path.isdir(args.workspace):
        raise UsageError(f"--workspace {args.workspace} is a file; it must be a folder")


def _is_read_once(source: str) -> bool:
    return source == "-" or is_live_stream(source)


def check_model(args: argparse.Namespace) -> None:
    """Raise an error if the file of a new model exists, or the file to load does not."""
    if args.model is not None and os.path.exists(args.model):
        if not (args.resume or args.continue_run or args.force):
            raise UsageError(
                f"--model {args.model} already exists: use --resume to finish its run, --continue "
                "to learn further items with it, --force to replace it, or another file name"
            )
    elif args.resume or args.continue_run:
        flag = "--resume" if args.resume else "--continue"
        raise CommandError(f"{flag}: there is no model file {args.model}")
