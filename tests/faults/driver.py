"""Run an operation once per system call and fault, each time in a new process and folder.

The processes are forks of one that has imported everything, so that a run takes milliseconds.
"""

import os
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from errno import EIO, ENOSPC
from io import StringIO
from pathlib import Path

from tests.faults.injection import FAULTS, Call, Fault, inject, record, recorded
from tests.faults.operations import TEMPORARY, Operation
from tests.forked_imports import ForkedImports

IMPORTS = ForkedImports()
SECONDS = 120  # only a loop without end takes that long
GOOD_CODES = (0, 1, 3)


@dataclass
class Ended:
    """How a process ended: its exit code, negative if a signal killed it, and its messages."""

    code: int
    errors: str


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder; operations may set another folder for temporary files meanwhile."""
    before, temporary = Path.cwd(), tempfile.tempdir
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        tempfile.tempdir = temporary


def forked(folder: Path, work: Callable[[], int], arm: Callable[[], object] | None = None) -> Ended:
    """Do work in a forked process, in a folder."""
    output = folder.with_name("output")
    child = os.fork()
    if child == 0:
        code = 99
        try:
            signal.alarm(SECONDS)
            handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for stream in (1, 2):
                os.dup2(handle, stream)
            os.chdir(folder)
            if arm is not None:
                arm()
            code = work()
            IMPORTS.report()
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException as error:
            os.write(2, f"Traceback: {error!r}\n".encode())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    IMPORTS.share()
    return Ended(os.waitstatus_to_exitcode(status), output.read_text(errors="replace"))


def prepared(operation: Operation, folder: Path) -> None:
    """Create a folder with the files that an operation finds."""
    (folder / TEMPORARY).mkdir(parents=True)
    with inside(folder), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        operation.prepare()


class Attack:
    """An operation with the folders before and after an undisturbed run.

    Parameters
    ----------
    operation : Operation
        The operation.
    folder : path
        An empty folder for all files.
    """

    def __init__(self, operation: Operation, folder: Path):
        self._operation = operation
        self._before = folder / "before"
        self._complete = folder / "complete"
        self._work = folder / "work"
        self._log = folder / "calls"
        prepared(operation, self._before)
        shutil.copytree(self._before, self._complete)
        ended = forked(self._complete, operation.run, lambda: record(self._complete, self._log))
        assert ended.code == 0, ended.errors
        self.calls = recorded(self._log)
        self._names = {*_names(self._before), *_names(self._complete)}

    def chosen_calls(self, per_kind: int | None) -> list[Call]:
        """Return the calls to attack: all, or a few of each kind, spread over the run."""
        if per_kind is None:
            return self.calls
        by_kind: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            by_kind[call.kind].append(call)
        return sorted(
            {
                calls[round(i * (len(calls) - 1) / max(per_kind - 1, 1))]
                for calls in by_kind.values()
                for i in range(per_kind)
            }
        )

    def complaints(self, call: Call, fault: Fault) -> Iterator[str]:
        """Run the operation with one fault; yield whatever it does wrong then, and afterwards."""
        self._renew()
        ended = forked(
            self._work, self._operation.run, lambda: inject(self._work, call.number, fault)
        )
        if fault.kills:
            is_over = self._operation.has_threads and ended.code == 0
            if ended.code != -signal.SIGKILL and not is_over:
                yield f"was not killed: {ended}"
        else:
            yield from self._complaints_about_end(ended, call, fault)
        yield from self._complaints_about_files("after the fault", complete=ended.code == 0)
        # Nothing can remove a file while removing files fails.
        if not fault.kills and call.kind != "unlink":
            yield from self._complaints_about_rest("after the fault", self._operation.keeps)
        again = forked(self._work, self._operation.run_again)
        if again.code != 0:
            yield f"the next run fails: {again}"
        yield from self._complaints_about_files("after the next run", complete=True)
        yield from self._complaints_about_rest("after the next run")

    def _renew(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._before, self._work)

    def _complaints_about_end(self, ended: Ended, call: Call, fault: Fault) -> Iterator[str]:
        if ended.code not in GOOD_CODES or "Traceback" in ended.errors or "bug" in ended.errors:
            yield f"ends badly: {ended}"
        elif self._must_go_on(fault) and ended.code != 0:
            yield f"must go on: {ended}"
        elif ended.code != 0:
            own = [name for name in self._operation.names if name in call.path]
            # A full disk stays full, so the message may be about a later call.
            names = [] if fault.error == ENOSPC else own
            if not any(name in ended.errors for name in names or self._operation.names):
                yield f"the message does not name the file: {ended}"

    def _must_go_on(self, fault: Fault) -> bool:
        return fault.is_invisible or (self._operation.tries_again and fault.error == EIO)

    def _complaints_about_files(self, when: str, complete: bool) -> Iterator[str]:
        try:
            with inside(self._work):
                self._operation.check(self._before, self._complete)
                if complete:
                    self._operation.check_complete(self._complete)
        except Exception as error:
            yield f"{when}: {type(error).__name__}: {error}"

    def _complaints_about_rest(self, when: str, keeps: Collection[str] = ()) -> Iterator[str]:
        if rest := sorted(_names(self._work) - self._names - set(keeps)):
            yield f"{when} these files are left: {', '.join(rest)}"


def _names(folder: Path) -> set[str]:
    """Return the files and folders in a folder.

    Messages move, so they are not listed; nor are lock files, which lock nothing without a process.
    """
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.parent.name not in ("cur", "new") and path.suffix != ".lock"
    }


def attack(operation: Operation, folder: Path, per_kind: int | None) -> tuple[int, list[str]]:
    """Attack an operation; return the number of runs, and everything that went wrong."""
    attack = Attack(operation, folder)
    runs, found = 0, []
    for call in attack.chosen_calls(per_kind):
        for fault in FAULTS:
            if call.kind in fault.kinds:
                runs += 1
                found += [
                    f"{operation.name}: call {call.number} ({call.kind} {call.path}) {fault.name}: "
                    f"{complaint}"
                    for complaint in attack.complaints(call, fault)
                ]
    return runs, found
