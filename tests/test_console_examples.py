"""Tests of the commands in the README and the docs: they print the shown output.

A block marked ``console`` has commands after ``$``, followed by their output; ``...`` matches any
text, as in doctests. The commands of each document run in a temporary folder with mail and tickets.
"""

import csv
import doctest
import json
import mailbox
import os
import re
import subprocess
import sys
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.timeouts import TIMEOUT

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OTHER_PROGRAMS = ("pip ", "make ", "crontab ", "source ", "systemctl ", "mbsync ")

ABOUT = {
    "Travel": ["flight to Lisbon", "hotel in Lisbon", "boarding pass and train"],
    "Money": ["invoice is due", "bank statement attached", "tax return and payment"],
    "Family": ["birthday of mother", "photos of the children", "dinner with grandmother"],
}


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a document, each with the shown output."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines(keepends=True):
            if line.startswith("$ "):
                found.append((line[2:].strip(), ""))
            elif found:
                found[-1] = (found[-1][0], found[-1][1] + line)
    return found


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
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in commands(path.read_text()):
        if command.startswith(OTHER_PROGRAMS):
            continue
        assert command.startswith("tagalong "), f"cannot run {command!r}"
        run = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
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


def test_commands_of_a_document() -> None:
    assert commands("```console\n$ tagalong streams\npydocs: ...\n```\n") == [
        ("tagalong streams", "pydocs: ...\n")
    ]
