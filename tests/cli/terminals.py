"""Runs commands with both outputs on pseudo-terminals of their own.

The commands run in forks of one process, which has imported the package already, and whatever
earlier commands have needed.
"""

import io
import json
import os
import select
import subprocess
import sys
import termios
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.forked_imports import ForkedImports
from tests.timeouts import TIMEOUT

ROOT = Path(__file__).parents[2]


@dataclass
class Shown:
    """The exit code of a command, and the bytes that its terminals have received."""

    code: int
    out: bytes
    err: bytes


def run_on_terminals(commands: Sequence[Sequence[str]], folder: Path, **env: str) -> list[Shown]:
    """Run commands one after the other."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.terminals", folder],
        input=json.dumps([list(command) for command in commands]).encode(),
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "PYTHONPATH": str(ROOT), **env},
        timeout=TIMEOUT,
        check=True,
    )
    return [
        Shown(one["code"], bytes.fromhex(one["out"]), bytes.fromhex(one["err"]))
        for one in json.loads(done.stdout)
    ]


def terminal() -> tuple[int, int]:
    """Return both ends of a pseudo-terminal that changes no line ends."""
    ours, theirs = os.openpty()
    attributes = termios.tcgetattr(theirs)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(theirs, termios.TCSANOW, attributes)
    return ours, theirs


def run_in_fork(argv: list[str], imports: ForkedImports) -> dict[str, object]:
    out, err = terminal(), terminal()
    process = os.fork()
    if process == 0:
        child(argv, out[1], err[1], imports)
    os.close(out[1])
    os.close(err[1])
    shown = {out[0]: bytearray(), err[0]: bytearray()}
    waiting = set(shown)
    while waiting:
        for stream in select.select(waiting, [], [])[0]:
            try:
                data = os.read(stream, 1 << 16)
            except OSError:  # the other end is closed
                data = b""
            shown[stream] += data
            if not data:
                waiting.remove(stream)
                os.close(stream)
    _, status = os.waitpid(process, 0)
    imports.share()
    code = os.waitstatus_to_exitcode(status)
    return {"code": code, "out": shown[out[0]].hex(), "err": shown[err[0]].hex()}


def child(argv: list[str], out: int, err: int, imports: ForkedImports) -> None:
    from tagalong.cli.main import main

    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w"), "utf-8", line_buffering=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w"), "utf-8", line_buffering=True)
        code = main(argv)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        imports.report()
        os._exit(code)


if __name__ == "__main__":
    import tagalong.tagger  # noqa: F401

    given = json.load(sys.stdin)
    os.chdir(sys.argv[1])
    imports = ForkedImports()
    print(json.dumps([run_in_fork(argv, imports) for argv in given]))
