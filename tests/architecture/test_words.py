"""Texts avoid phrases that readers had to read twice (codespell checks the spelling)."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = {".py", ".hpp", ".cpp", ".md"}
UNITS = "label|row|round|item|word|feature|pass|second|block|query|message"
AVOIDED = {
    'a rate without "per"': rf"\b(?:numbers?|weights?|vectors?|bytes|items|rows|rounds|"
    rf"µs|coefficients?) an? (?:{UNITS})\b",
    'a docstring that begins with "What"': r'"""What (?!to )',
    'a comment that begins with "What"': r"^\s*(?://|#) What (?!to )",
    '"without it none is"': r"without it none\b",
    '"as many as there are"': r"as many as there are\b",
}


def texts() -> list[Path]:
    """Return all files of code and documentation in the repository, except this one."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout: the files of the project are unknown")
    paths = [ROOT / name for name in listed.stdout.splitlines()]
    return [path for path in paths if path.suffix in TEXTS and path != Path(__file__)]


@pytest.mark.parametrize("reason", AVOIDED)
def test_no_text_has(reason: str) -> None:
    pattern = re.compile(AVOIDED[reason], re.MULTILINE)
    found = []
    for path in texts():
        if not path.exists():
            continue
        content = path.read_text(encoding="utf-8", errors="replace")
        for match in pattern.finditer(content):
            line = content.count("\n", 0, match.start()) + 1
            found.append(f"{path.relative_to(ROOT)}:{line}: {match[0].strip()}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "reason, text",
    [
        ('a rate without "per"', "one pass has 3 numbers a label"),
        ('a docstring that begins with "What"', '"""What all learners share."""'),
        ('a comment that begins with "What"', "    // What is left"),
        ('"without it none is"', "where the model is kept; without it none is"),
        ('"as many as there are"', "as many as there are labels"),
    ],
)
def test_the_patterns_find_what_they_are_for(reason: str, text: str) -> None:
    assert re.search(AVOIDED[reason], text, re.MULTILINE)
