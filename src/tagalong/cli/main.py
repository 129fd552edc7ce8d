"""The entry point: parse the command line, run the command, report errors as exit codes."""

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TextIO

from tagalong.cli.errors import BROKEN_PIPE, FAILED, OK, WRONG_USAGE, CommandError, UsageError
from tagalong.cli.flags import keywords_as_flags, parameters_as_flags
from tagalong.cli.late_imports import UNUSED_BY_COMMANDS, late_imports
from tagalong.cli.output import Output
from tagalong.cli.parser import make_parser, short_help
from tagalong.cli.screen import protected_streams
from tagalong.cli.starting import without_blas_threads, without_garbage_collection

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after ``tagalong``; by default those of this process.
    """
    with protected_streams():
        return _run(list(sys.argv[1:] if argv is None else argv))


def _run(argv: list[str]) -> int:
    flags: dict[str, str] = {}
    try:
        if not argv:
            Output().result(*short_help())
            sys.stdout.flush()
            return OK
        # Only the options of this command are added: the options of formats are slow to import.
        args, rest = make_parser(only=_command(argv)).parse_known_args(argv)
        if rest:
            raise UsageError(
                f"{args.command} does not understand {' '.join(rest)}; give all sources in one "
                f"place, and options before or after them: see tagalong {args.command} --help"
            )
        args.command_line = argv  # for messages that show the command
        flags = getattr(args, "reading_flags", {})
        out = Output(args.json, args.quiet)
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, out)
            with (
                late_imports(*UNUSED_BY_COMMANDS),
                without_blas_threads(args.command != "fit"),
                without_garbage_collection(),
            ):
                command = import_module(f"tagalong.cli.{args.module}")
            code: int = command.run(args, out)
        sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse has printed a message
        return end.code if isinstance(end.code, int) else FAILED
    except BrokenPipeError:
        # Python flushes standard output at exit, which would raise the same error again.
        _discard_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # from __set_name__ in Python 3.11
            return _interrupted()
        if os.environ.get("TAGALONG_DEBUG"):
            raise
        (first, *others), code = _lines_and_code(error, flags)
        Output().error(f"tagalong: {first}", *others)
        return code


def _show_warning(
    out: Output,
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning of a learner without the place in the source, which only programmers need."""
    out.info(f"tagalong: warning: {message}")


def _interrupted() -> int:
    Output().error("interrupted")
    return 130


def _command(argv: list[str]) -> str:
    return next((word for word in argv if not word.startswith("-")), "")


def _lines_and_code(error: Exception, flags: Mapping[str, str]) -> tuple[list[str], int]:
    if isinstance(error, CommandError):
        return error.lines, error.code
    # Compare the class by name, because its module may not be imported yet.
    if type(error).__name__ == "OptionError":
        return [parameters_as_flags(str(error), flags)], WRONG_USAGE
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return [f"{place}{error.strerror}"], FAILED
    if isinstance(error, (ValueError, OSError)):
        return [f"{keywords_as_flags(str(error), flags)}{notes}"], FAILED
    if isinstance(error, MemoryError):
        return ["out of memory"], FAILED
    lines = [
        f"unexpected {type(error).__name__}: {error}{notes}",
        "this is a bug in tagalong; set TAGALONG_DEBUG=1 to see the traceback",
    ]
    return lines, FAILED


def _discard_output() -> None:
    try:
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
