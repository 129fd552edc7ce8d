"""The warning that labels come in runs, with the command that mends it."""

import argparse
import shlex

from tagalong.cli.output import Output
from tagalong.cli.run_state import Run
from tagalong.cli.sources import is_live_stream

__all__ = ["OrderWarning"]


class OrderWarning:
    """Warns, once per run, that items with the same labels follow one another.

    Parameters
    ----------
    out : Output
        Writes the warning.
    run : Run
        The sources and their order.
    args : Namespace
        The command line.
    """

    def __init__(self, out: Output, run: Run, args: argparse.Namespace):
        self._out = out
        self._run = run
        self._args = args
        self._is_done = False

    def show_if(self, labels_come_in_runs: bool) -> None:
        """Write the warning if labels come in runs, and it has not been written yet."""
        if labels_come_in_runs and not self._is_done:
            self._is_done = True
            self._out.info(
                f"warning: after {self._run.progress.items:,} items the labels come in runs far "
                "beyond chance: the measures do not show how well new items will be labelled, and "
                f"no suggestion is sure. {self._remedy()}"
            )

    def _remedy(self) -> str:
        args, reading = self._args, self._run.reading
        if any(map(is_live_stream, reading.sources)):
            return "Write the items to a file, and learn it with --shuffle"
        if args.resume or args.continue_run:
            return "Learn all items again, into another model, with --shuffle"
        flag = ["--order", "date"] if self._can_be_sorted() else ["--shuffle"]
        return f"Learn them in another order: {self._command(flag)}"

    def _can_be_sorted(self) -> bool:
        """Whether the run reads mail in the order of its files."""
        reading = self._run.reading
        if reading.order != "file":
            return False
        with reading.open() as stream:
            return stream.is_mail

    def _command(self, flag: list[str]) -> str:
        """Return the command line of the user with another order."""
        words = list(self._args.command_line)
        if "--order" in words:
            at = words.index("--order")
            del words[at : at + 2]
        words = [word for word in words if not word.startswith("--order=")]
        has_model = self._args.model is not None and "--force" not in words
        return shlex.join(["tagalong", *words, *flag, *(["--force"] if has_model else [])])
