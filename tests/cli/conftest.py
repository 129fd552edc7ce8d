"""Fixtures that run commands in this process, on a small fixed stream of items."""

import io
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tagalong
from tagalong.cli.main import main

WORDS = {
    "money": ["invoice", "payment", "due", "bank", "account"],
    "travel": ["flight", "hotel", "ticket", "Lisbon", "train"],
    "family": ["mother", "birthday", "dinner", "Sunday", "käse"],
}


def items(count: int = 60) -> list[dict[str, Any]]:
    """Texts about one or two topics; some have no labels key or an empty list."""
    topics = list(WORDS)
    found = []
    for number in range(count):
        labels = (
            [topics[number % 3]] if number % 4 else [topics[number % 3], topics[(number + 1) % 3]]
        )
        words = [
            WORDS[label][(number * 7 + place * 3) % 5] for label in labels for place in range(2)
        ]
        item: dict[str, Any] = {"id": f"item-{number}", "text": " ".join(["the", *words])}
        if number % 10 != 9:
            item["labels"] = [] if number % 13 == 12 else labels
        if number % 7 == 0:
            item["weight"] = 0.5
        found.append(item)
    return found


@dataclass
class Finished:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Finished]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A function that runs a command in a temporary folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAGALONG_DEBUG", raising=False)

    def run(*argv: str, stdin: str = "") -> Finished:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        capfd.readouterr()
        code = main(argv)
        written = capfd.readouterr()
        return Finished(code, written.out, written.err)

    return run


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """A JSON lines file of items."""
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in items()), encoding="utf-8")
    return path


@pytest.fixture
def model(run: Run, stream: Path) -> str:
    """A model that has learnt the items."""
    assert run("learn", "items.jsonl", "--model", "m.tagalong", "-q").code == 0
    return "m.tagalong"


def interrupt_at(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Raise SIGINT while the count-th item from now on is being learnt."""
    watch = tagalong.Tagger.watch
    seen = [0]

    def watching(self: tagalong.Tagger, *args: Any, **options: Any) -> Any:
        seen[0] += 1
        if seen[0] == count:
            signal.raise_signal(signal.SIGINT)
        return watch(self, *args, **options)

    monkeypatch.setattr(tagalong.Tagger, "watch", watching)
