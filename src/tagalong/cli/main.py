"""The entry point: parse, run a command, turn what goes wrong into a line and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from tagalong.cli.errors import BROKEN_PIPE, FAILED, WRONG_USAGE, CommandError, UsageError
from tagalong.cli.late_imports import UNUSED_BY_COMMANDS, late_imports
from tagalong.cli.output import Output
from tagalong.cli.parser import make_parser

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        What stands after ``tagalong``; by default what this process was started with.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    _be_lenient_about_letters()
    try:
        # The options of other commands need not be known: their formats take time to import.
        args, rest = make_parser(only=_command(argv)).parse_known_args(argv)
        if rest:
            raise UsageError(
                f"{args.command} cannot make sense of {' '.join(rest)}; sources stand together, "
                f"options before or after them: see tagalong {args.command} --help"
            )
        with late_imports(*UNUSED_BY_COMMANDS):
            command = import_module(f"tagalong.cli.{args.module}")
        code: int = command.run(args, Output(args.json, args.quiet))
        sys.stdout.flush()
        return code
    except SystemExit as end:  # argparse has said everything
        return end.code if isinstance(end.code, int) else FAILED
    except BrokenPipeError:
        # Standard output is flushed once more at exit: let that go nowhere.
        _let_output_go()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if os.environ.get("TAGALONG_DEBUG"):
            raise
        message, code = _explained(error)
        print(f"tagalong: {message}", file=sys.stderr)
        return code


def _command(argv: list[str]) -> str:
    return next((word for word in argv if not word.startswith("-")), "")


def _explained(error: Exception) -> tuple[str, int]:
    if isinstance(error, CommandError):
        return str(error), error.code
    if type(error).__name__ == "OptionError":  # of the readers, which need not be imported yet
        return _as_flags(str(error)), WRONG_USAGE
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}", FAILED
    if isinstance(error, (ValueError, OSError)):
        return f"{_as_flags(str(error))}{notes}", FAILED
    if isinstance(error, MemoryError):
        return "there is not enough memory", FAILED
    return (
        f"unexpected {type(error).__name__}: {error}{notes}\n"
        "this is a fault of tagalong; TAGALONG_DEBUG=1 shows where it happened",
        FAILED,
    )


def _as_flags(message: str) -> str:
    """Return a message of the library in terms of the command line."""
    return message.replace("give format= one of", "give --format one of")


def _be_lenient_about_letters() -> None:
    for stream in (sys.stdout, sys.stderr):
        # Names of files need not be valid text. In JSON such an escape is even right.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _let_output_go() -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
