"""How a command ends: exit codes, and errors that are meant for the user."""

__all__ = [
    "EXIT_CODES",
    "FAILED",
    "OK",
    "SOME_SKIPPED",
    "WRONG_USAGE",
    "CommandError",
    "UsageError",
]

OK = 0
FAILED = 1
WRONG_USAGE = 2
SOME_SKIPPED = 3
BROKEN_PIPE = 141

EXIT_CODES = {
    OK: "all is done",
    FAILED: "the job failed; a message says why",
    WRONG_USAGE: "the command line is wrong",
    SOME_SKIPPED: "done, but some items could not be read and were skipped",
    130: "interrupted with Ctrl-C (143: by a termination signal)",
    BROKEN_PIPE: "whoever read the output went away",
}


class CommandError(Exception):
    """Something that the user should know, in a line or two, with what to do about it."""

    code = FAILED


class UsageError(CommandError):
    """A command line that makes no sense."""

    code = WRONG_USAGE
