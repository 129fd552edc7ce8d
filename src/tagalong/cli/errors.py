"""Exit codes, and errors with a message for the user."""

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
    OK: "success",
    FAILED: "the command failed; a message says why",
    WRONG_USAGE: "the command line is wrong",
    SOME_SKIPPED: "success, but some items could not be read and were skipped",
    130: "interrupted by Ctrl-C (143: by a termination signal)",
    BROKEN_PIPE: "the program that reads the output has ended",
}


class CommandError(Exception):
    """An error whose message tells the user, in one or two lines, what to do about it.

    Parameters
    ----------
    lines : str
        The lines. A line end inside of one comes from outside and is escaped.
    """

    code = FAILED

    def __init__(self, *lines: str):
        super().__init__(*lines)
        self.lines = list(lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)


class UsageError(CommandError):
    """An invalid command line."""

    code = WRONG_USAGE
