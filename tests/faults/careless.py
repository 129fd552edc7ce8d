"""An operation that loses data, to show that the attacks notice it."""

import sys
from pathlib import Path

from tests.faults.operations import Operation, same_file


class Careless(Operation):
    """Writes a file in place, and ignores that it has not written all of it."""

    name = "careless"
    names = ("notes.txt",)

    def prepare(self) -> None:
        Path("notes.txt").write_text("old\n" * 100)

    def run(self) -> int:
        try:
            with open("notes.txt", "wb", buffering=0) as file:
                file.write(b"new\n" * 100)
        except OSError as error:
            print(f"tagalong: {error.strerror}", file=sys.stderr)
            return 1
        return 0

    def check(self, before: Path, complete: Path) -> None:
        assert same_file("notes.txt", before, complete), "the file is neither old nor new"

    def check_complete(self, complete: Path) -> None:
        assert same_file("notes.txt", complete), "the file differs"
