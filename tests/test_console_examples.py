"""Tests of the commands in the README and the docs: they print the shown output.

A block marked ``console`` has commands after ``$``, followed by their output; ``...`` matches any
text, as in doctests. A command that ends with a backslash goes on in the next line. The commands of
each document run in a temporary folder with mail and tickets. ``tagalong serve`` runs until the end
of the document, on a free port, which replaces the shown one in the commands after it, and in
Python code that uses the server.
"""

import csv
import doctest
import json
import mailbox
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.timeouts import TIMEOUT

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHER_PROGRAMS = ("pip ", "make ", "crontab ", "source ", "systemctl ", "mbsync ")
SHOWN_ADDRESS = "127.0.0.1:8420"

ABOUT = {
    "Travel": ["flight to Lisbon", "hotel in Lisbon", "boarding pass and train"],
    "Money": ["invoice is due", "bank statement attached", "tax return and payment"],
    "Family": ["birthday of mother", "photos of the children", "dinner with grandmother"],
}


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a document, each with the shown output."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\\\n\s*", "", block).splitlines(keepends=True):
            if line.startswith("$ "):
                found.append((line[2:].strip(), ""))
            elif found:
                found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def code_with_server(text: str) -> list[str]:
    """The blocks of Python code in a document that use a server, which doctests cannot run."""
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block for block in blocks if SHOWN_ADDRESS in block]


def mail(label: str, number: int) -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = f"{ABOUT[label][number % 3]} {number}"
    message["From"] = f"{label.lower()}@example.org"
    message["Message-ID"] = f"<{label.lower()}-{number}@example.org>"
    message["X-Gmail-Labels"] = label
    message.set_content(f"About {ABOUT[label][(number + 1) % 3]}, as we said.\n")
    return message


def prepare(folder: Path) -> None:
    """Write an mbox, a Maildir, a new message, tickets, and a JSON lines file."""
    labels = [list(ABOUT)[i % 3] for i in range(90)]
    old = mailbox.mbox(folder / "mail.mbox")
    tree = mailbox.Maildir(folder / "Maildir")
    for i, label in enumerate(labels):
        old.add(mail(label, i))
        message = mail(label, i)
        if label not in tree.list_folders():
            tree.add_folder(label)
        (tree if i >= 84 else tree.get_folder(label)).add(message)
    old.flush()
    new = mailbox.mbox(folder / "new.mbox")
    message = mail("Travel", 100)
    del message["X-Gmail-Labels"]
    message.replace_header("Message-ID", "<new-1@example.org>")
    new.add(message)
    new.flush()
    with (folder / "tickets.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "title", "body", "team"])
        for i, label in enumerate(labels):
            table.writerow([i, ABOUT[label][i % 3], f"{ABOUT[label][(i + 1) % 3]} please", label])
    with (folder / "stream.jsonl").open("w") as file:
        for i, label in enumerate(labels):
            json.dump({"id": str(i), "text": ABOUT[label][i % 3], "labels": [label]}, file)
            file.write("\n")


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.name) for path in DOCUMENTS if commands(path.read_text())]
)
def test_commands_print_the_shown_output(path: Path, tmp_path: Path) -> None:
    prepare(tmp_path)
    programs = Path(sys.executable).parent
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    with ExitStack() as servers:
        served = SHOWN_ADDRESS
        for command, expected in commands(path.read_text()):
            if command.startswith(OTHER_PROGRAMS):
                continue
            if command.startswith("tagalong serve "):
                served = servers.enter_context(serving(command, tmp_path, environment))
                continue
            if command.startswith("curl ") and shutil.which("curl") is None:
                continue
            assert command.startswith(("tagalong ", "curl ", "echo ")), f"cannot run {command!r}"
            run_command(command.replace(SHOWN_ADDRESS, served), expected, tmp_path, environment)
        for code in code_with_server(path.read_text()):
            given = shlex.quote(code.replace(SHOWN_ADDRESS, served))
            run_command(f"python -W error -c {given}", "", tmp_path, environment)


def run_command(command: str, expected: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a command, and compare what it prints with what is shown."""
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    run = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert run.returncode == 0, f"{command}\n{run.stderr}"
    if expected.strip():
        # Messages go to standard error; a document may show them or not.
        found = any(
            checker.check_output(expected, output, flags)
            for output in (run.stdout, run.stderr + run.stdout)
        )
        assert found, f"{command}\nshown:\n{expected}\nprinted:\n{run.stdout}\n{run.stderr}"


@contextmanager
def serving(command: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run a server on a free port during the block, and return its address."""
    with subprocess.Popen(
        f"exec {command} --port 0 --json --access-log none",
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            url: str = json.loads(process.stdout.readline())["url"]
            yield url.rstrip("/").removeprefix("http://")
        finally:
            process.terminate()
            assert process.wait(TIMEOUT) == 0


def test_commands_of_a_document() -> None:
    assert commands("```console\n$ tagalong streams\npydocs: ...\n```\n") == [
        ("tagalong streams", "pydocs: ...\n")
    ]


def test_a_command_in_two_lines() -> None:
    assert commands("```console\n$ curl -s \\\n    localhost\nok\n```\n") == [
        ("curl -s localhost", "ok\n")
    ]
