"""Label names of any content: through the tagger, model files and the command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tagalong import Tagger, load
from tests.timeouts import TIMEOUT

NAMES = {
    "nothing": "",
    "newlines": "a\nb\r\nc",
    "NUL": "a\0b",
    "10 kB": "x" * 10_240,
    "whitespace": " \t ",
    "emoji": "📬🏷️",
    "control characters": "\x1b[31mred\x07",
    "right to left": "\u202eabc",
    "a separator": "a,b;c|d",
    "quotes": "\"'\\",
}

every_name = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)


def taught(name: str) -> Tagger:
    tagger = Tagger()
    for _ in range(4):
        tagger.learn("blue sea and sky", [name])
        tagger.learn("green grass and trees", ["plain"])
    return tagger


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tagalong", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, check=False, encoding="utf-8"
    )


@every_name
def test_a_tagger_suggests_it_and_a_file_keeps_it(name: str, tmp_path: Path) -> None:
    tagger = taught(name)
    first = tagger.suggest("blue sky", 1)[0]
    assert first.label == name
    tagger.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.suggest("blue sky", 1)[0] == first
    assert loaded.labels == tagger.labels


def test_the_command_line_lists_and_renames_them(tmp_path: Path) -> None:
    path = tmp_path / "model"
    tagger = Tagger()
    for number, name in enumerate(NAMES.values()):
        tagger.learn(f"word{number}", [name])
    tagger.save(path)
    listed = run("labels", "list", path, "--json")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.strip().isprintable()  # nothing in it can control a terminal
    assert {one["label"] for one in json.loads(listed.stdout)["labels"]} == set(NAMES.values())
    shown = run("labels", "list", path)
    assert shown.returncode == 0, shown.stderr
    assert all(line.isprintable() for line in shown.stdout.split("\n"))
    for name in ("newlines", "10 kB", "nothing"):
        renamed = run("labels", "rename", path, "--", NAMES[name], f"once {name}")
        assert renamed.returncode == 0, renamed.stderr
        assert f"once {name}" in load(path).labels
        assert NAMES[name] not in load(path).labels
