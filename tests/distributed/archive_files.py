"""A model, archives to tag, and what one machine writes for them."""

import io
import json
from pathlib import Path

import tagalong
from tagalong.cli.main import main
from tagalong.readers import Item

TOPICS = {
    "money": ["invoice", "payment", "bank", "käse"],
    "travel": ["flight", "hotel", "train", "Lisbon"],
    "family": ["mother", "birthday", "dinner", "Sunday"],
}


def make_tagger() -> tagalong.Tagger:
    tagger = tagalong.Tagger()
    for number in range(40):
        for label, words in TOPICS.items():
            tagger.learn(Item(text=f"the {words[number % 4]} {words[number % 3]}"), [label])
    return tagger


def lines(count: int, first: int = 0) -> list[str]:
    words = [word for topic in TOPICS.values() for word in topic]
    return [
        json.dumps(
            {"id": f"ä{number}", "text": f"{words[number % 12]} {words[number * 5 % 12]} {number}"},
            ensure_ascii=False,
        )
        for number in range(first, first + count)
    ]


def write_items(path: Path, count: int, first: int = 0) -> Path:
    path.write_text("".join(line + "\n" for line in lines(count, first)), encoding="utf-8")
    return path


def one_machine(model: Path, out: Path, *arguments: str) -> bytes:
    """Return the output of ``tagalong suggest`` on one machine."""
    assert main(["suggest", "-m", str(model), "--out", str(out), "-q", *arguments]) in (0, 3)
    return out.read_bytes()


def joined(folder: Path, ending: str = ".jsonl") -> bytes:
    """All output files of a folder, in the order of their names."""
    result = io.BytesIO()
    for path in sorted(folder.glob(f"*{ending}")):
        result.write(path.read_bytes())
    return result.getvalue()
