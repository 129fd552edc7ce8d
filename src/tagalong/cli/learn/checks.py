"""Checks of the arguments: what would fail at the end is found before anything begins."""

import argparse
import os
from importlib.util import find_spec
from pathlib import Path

from tagalong.cli.errors import CommandError, UsageError
from tagalong.cli.models import check_destination

__all__ = ["check_arguments"]


def check_arguments(args: argparse.Namespace) -> None:
    """Raise UsageError or CommandError if the arguments cannot lead to a run."""
    for path, what in ((args.model, "--model"), (args.report, "--report"), (args.plot, "--plot")):
        check_destination(path, what)
    if args.plot is not None:
        _check_plot(args.plot)
    if (args.resume or args.go_on) and args.model is None:
        raise UsageError(f"--{'resume' if args.resume else 'continue'} needs --model")
    if not args.sources and not args.resume:
        raise UsageError("there is nothing to read: give a SOURCE, such as a file or pydocs:")
    if args.passes == 0:
        raise UsageError("--passes must be at least 1")
    _check_model(args)


def _check_plot(path: str) -> None:
    if Path(path).suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"--plot {path}: the name must end in .png or .svg")
    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib: install tagalong[plots]")


def _check_model(args: argparse.Namespace) -> None:
    """A new run needs a new file; one that goes on needs a file that exists."""
    if args.model is not None and os.path.exists(args.model):
        if not (args.resume or args.go_on):
            raise UsageError(
                f"{args.model} is there already: --resume goes on with its run, --continue learns "
                "further items with it; or choose another name"
            )
    elif args.resume or args.go_on:
        raise CommandError(f"there is no model {args.model} to go on with")
