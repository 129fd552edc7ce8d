"""Nothing from outside reaches a terminal with characters that act on it, by any command."""

import csv
import io
import json
import mailbox
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Sequence
from email.header import Header
from pathlib import Path
from typing import Any

import pytest

from tagalong.cli.parser import COMMANDS
from tests.cli.conftest import Run
from tests.cli.terminals import Shown, run_on_terminals
from tests.timeouts import TIMEOUT

# The clipboard of a terminal, a colour, C1 controls, a bidirectional override, an isolate, a line
# and a paragraph separator, zero-width and soft characters, a tag, private use, a line end.
ACTS = (
    "\x1b]52;c;aGk=\x07\x1b[31m\x9b2J\x85\r\x08\u202e\u2067\u2028\u2029\u200b\xad\U000e0041\ue000"
)
EVIL = f"evil{ACTS}\nforged: line\nend"
MODEL = f"{EVIL}.tagalong"
ITEMS = f"items{ACTS}\nforged: line.jsonl"
NOT_UNICODE = f"items{ACTS}\nforged: line\udcff.jsonl"
WORDS = ["invoice payment bank", "flight hotel train"]
LABELS = [f"a {EVIL}", f"b {EVIL}"]

# The sequences of the program itself: bold and dim text, and those that redraw a display.
OUR_OWN = re.compile(r"\x1b\[(?:[012]m|2K|1A|\?25[lh])|\r(?=\x1b\[(?:2K|1A))")
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def make_files(folder: Path) -> None:
    lines = []
    for number in range(60):
        text = f"{WORDS[number % 2]} number{number % 7}"
        lines.append(
            {
                "id": f"{number} {EVIL}",
                "text": {"": text, EVIL: "field text"},
                "features": {f"feature {EVIL}": number % 3 + 0.5, f"kind {EVIL}": EVIL},
                "labels": [LABELS[number % 2]],
            }
        )
    written = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / ITEMS).write_text(written)
    (folder / NOT_UNICODE).write_text(written)
    (folder / "one.jsonl").write_text(json.dumps(lines[0]))
    (folder / "broken.jsonl").write_text(written + json.dumps({EVIL: EVIL, "labels": {}}) + "\n")
    plain = [
        {"text": f"{WORDS[n % 2]} {EVIL}", "labels": ["ab"[n % 2] + ACTS.split("\x85")[0]]}
        for n in range(6)
    ]
    (folder / "plain.jsonl").write_text("".join(json.dumps(line) + "\n" for line in plain))
    (folder / "numbers.svm").write_text("a\x1b[31m\u202e 1:2 # id\x9b2J\n")
    table = io.StringIO(newline="")
    rows = csv.writer(table)
    rows.writerow([EVIL, f"label {EVIL}"])
    rows.writerows([WORDS[number % 2], LABELS[number % 2]] for number in range(30))
    (folder / f"{EVIL}.csv").write_text(table.getvalue(), newline="")
    make_mail(folder / f"Mail {EVIL}")


def make_mail(root: Path) -> None:
    inbox = mailbox.Maildir(root)
    names = [f"x{n}{ACTS.replace('.', '')}\nforged: line" for n in range(2)]
    folders = [inbox.add_folder(name) for name in names]
    for number in range(120):
        words = WORDS[number % 2]
        folders[number % 2].add(message(f"{words} {number}"))
    for number in range(6):
        inbox.add(message(f"{WORDS[number % 2]} evil{ACTS} {number}"))


def message(subject: str) -> bytes:
    encoded = Header(subject, "utf-8").encode()
    return f"Subject: {encoded}\nMessage-ID: <{encoded[:30]}>\n\n{subject}\n".encode()


MAIL = f"Mail {EVIL}"
SPACE = f"space {EVIL}"
# In this order: later commands use the files of earlier ones.
COMMAND_LINES: list[Sequence[str]] = [
    ("learn", ITEMS, "-m", MODEL, "--every", "0.000001"),
    ("learn", ITEMS, "-m", MODEL),
    ("learn", NOT_UNICODE),
    ("learn", NOT_UNICODE, "--text", "nothing"),
    ("learn", "broken.jsonl", "--on-error", "skip", "--certificate"),
    ("learn", "broken.jsonl", "-m", f"b{MODEL}"),
    ("learn", "no" + EVIL),
    ("learn", f"{EVIL}.csv", "--text", "nothing"),
    ("learn", f"{EVIL}.csv", "--text", EVIL, "--labels", f"label {EVIL}", "--separator", ""),
    ("learn", f"{EVIL}.csv", "--text", EVIL, "--labels", f"label {EVIL}", "--shuffle"),
    ("learn", ITEMS, "--learner", EVIL),
    ("learn", ITEMS, "--set", EVIL),
    ("learn", ITEMS, "--passes", EVIL),
    ("learn", ITEMS, f"--{EVIL}"),
    ("learn", ITEMS, "--format", EVIL),
    ("learn", ITEMS, "--plot", f"{EVIL}.png", "--plot-kind", "labels"),
    ("learn", MAIL),
    ("suggest", "-m", MODEL, "--text", "invoice"),
    ("suggest", "-m", MODEL, "one.jsonl", "-k", "5"),
    ("suggest", "-m", MODEL, ITEMS, "--limit", "3"),
    ("suggest", "-m", MODEL, ITEMS, "--limit", "3", "--to", "csv"),
    ("suggest", "-m", MODEL, ITEMS, "--limit", "3", "--to", "jsonl"),
    ("suggest", "-m", MODEL, ITEMS, "--out", f"{EVIL}.csv2"),
    ("suggest", "-m", MODEL, ITEMS, "--out", f"out {EVIL}.csv"),
    ("suggest", "-m", "no" + EVIL, "--text", "invoice"),
    ("explain", "-m", MODEL, "one.jsonl", "--label", LABELS[0]),
    ("explain", "-m", MODEL, "one.jsonl", "--label", EVIL),
    ("explain", "-m", MODEL, "one.jsonl", "--id", EVIL),
    ("explain", "-m", MODEL, "one.jsonl", "--json"),
    ("inspect", MODEL, "--words", "3"),
    ("inspect", MODEL, "--label", EVIL),
    ("inspect", MODEL, "--json"),
    ("evaluate", "-m", MODEL, ITEMS, "--every", "0.000001", "--certificate"),
    ("evaluate", "-m", MODEL, "broken.jsonl", "--on-error", "skip"),
    ("compare", ITEMS, "--every", "0.000001"),
    ("compare", ITEMS, "--markdown", "--set", f"C={EVIL}"),
    ("fit", "plain.jsonl", "-m", f"fit {EVIL}.tagalong", "--holdout", "0.3"),
    ("labels", "list", MODEL),
    ("labels", "set", MODEL, LABELS[0], "--never"),
    ("labels", "rename", MODEL, LABELS[0], f"new {EVIL}"),
    ("labels", "rename", MODEL, EVIL, f"new {EVIL}"),
    ("labels", "merge", MODEL, LABELS[1], f"new {EVIL}", "--into", f"all {EVIL}"),
    ("labels", "forget", MODEL, f"all {EVIL}"),
    ("export", MODEL, "--compact", "--out", f"compact {EVIL}.tagalong"),
    ("prune", MODEL, "--features", "2"),
    ("file", MAIL, "--min-learnt", "10"),
    ("file", MAIL, "--min-learnt", "10", "--apply", "--audit", "0.5"),
    ("file", MAIL, "--log"),
    ("file", MAIL, "--log", "--json"),
    ("file", f"no {EVIL}"),
    ("learn", ITEMS, "--workspace", SPACE),
    ("journal", "show", SPACE),
    ("journal", "show", SPACE, "--item", f"1 {EVIL}", "--json"),
    ("journal", "show", SPACE, "--item", EVIL),
    ("journal", "show", f"no {EVIL}"),
    ("journal", "undo", SPACE, "3"),
    ("journal", "undo", SPACE, "--batch", EVIL),
    ("journal", "forget", SPACE, f"3 {EVIL}"),
    ("journal", "forget", SPACE, EVIL),
    ("journal", "set", SPACE, "audit=0.1"),
    ("journal", "set", SPACE, f"{EVIL}=1"),
    ("journal", "set", SPACE, f"content={EVIL}"),
    ("journal", "compact", SPACE),
    ("journal", "verify", SPACE),
    ("journal", "export", SPACE, "--out", "-"),
    ("journal", "export", SPACE, "--out", "-", "--events"),
    ("journal", "export", SPACE, "--out", f"{EVIL}.jsonl"),
    ("journal", "backup", SPACE, "--out", f"backup {EVIL}"),
    ("journal", "backup", SPACE, "--out", f"backup {EVIL}"),
    ("journal", "restore", f"backup {EVIL}", "--to", f"restored {EVIL}"),
    ("workspaces", "list", SPACE),
    ("workspaces", "add", SPACE, "team"),
    ("workspaces", "add", SPACE, EVIL),
    ("workspaces", "list", f"no {EVIL}"),
    ("token", "add", SPACE, "ada"),
    ("token", "add", SPACE, EVIL),
    ("token", "list", f"no {EVIL}"),
    ("serve", SPACE, "--host", EVIL),
    ("serve", SPACE, "--allow-host", EVIL),
    ("serve", SPACE, "--port", EVIL),
    *(
        ("convert", source, "-", "--to", to)
        for source, to in [
            (ITEMS, "jsonl"),
            (ITEMS, "csv"),
            ("plain.jsonl", "csv"),
            ("plain.jsonl", "tsv"),
            ("plain.jsonl", "vw"),
            ("plain.jsonl", "fasttext"),
            ("numbers.svm", "svmlight"),
            ("numbers.svm", "arff"),
            ("plain.jsonl", "parquet"),
        ]
    ),
    ("convert", "plain.jsonl", f"{EVIL}.tsv"),
    ("convert", "plain.jsonl", f"{EVIL}.unknown"),
    ("streams",),
    ("completion", "bash"),
    ("completion", EVIL),
    (EVIL,),
    (),
]


def acting(shown: str) -> list[str]:
    """Return the characters that act on a terminal and are not the program's own."""
    rest = OUR_OWN.sub("", shown).replace("\n", "")
    return sorted({c for c in rest if unicodedata.category(c) in HIDDEN})


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[Sequence[str], Shown]:
    folder = tmp_path_factory.mktemp("terminal")
    make_files(folder)
    found = run_on_terminals(COMMAND_LINES, folder)
    return dict(zip(COMMAND_LINES, found, strict=True))


def test_every_command_is_run() -> None:
    assert {line[0] for line in COMMAND_LINES if line} >= COMMANDS.keys()


@pytest.mark.parametrize("argv", COMMAND_LINES, ids=lambda argv: " ".join(map(ascii, argv))[:80])
def test_terminals_receive_only_our_own_sequences(
    argv: Sequence[str], shown: dict[Sequence[str], Shown]
) -> None:
    done = shown[argv]
    assert b"unexpected" not in done.err
    out, err = done.out.decode(), done.err.decode()
    assert out or err
    assert acting(out) == []
    assert acting(err) == []
    for line in f"{out}\n{err}".split("\n"):
        assert not line.startswith("forged"), line


def test_the_hostile_text_is_shown_escaped(shown: dict[Sequence[str], Shown]) -> None:
    """Otherwise the other tests would prove nothing."""
    escaped = "\\x1b]52;c;aGk=\\x07\\x1b[31m\\x9b2J\\x85\\r\\x08\\u202e\\u2067\\u2028\\u2029"
    told = {argv[:2] for argv, done in shown.items() if escaped.encode() in done.out + done.err}
    assert {argv[0] for argv in told} >= COMMANDS.keys() - {"streams", "compare", "prune"}


def test_bold_text_and_displays_still_reach_a_terminal(shown: dict[Sequence[str], Shown]) -> None:
    assert b"\x1b[1m" in shown["suggest", "-m", MODEL, "--text", "invoice"].out
    assert b"\x1b[?25l" in shown[COMMAND_LINES[0]].err


def test_warnings_and_tracebacks(tmp_path: Path) -> None:
    (done,) = run_on_terminals([("learn", f"no {EVIL}")], tmp_path, TAGALONG_DEBUG="1")
    assert b"Traceback (most recent call last)" in done.err
    assert b"evil\\x1b]52" in done.err
    assert acting(done.err.decode()) == []


def test_data_in_a_pipe_are_exact(tmp_path: Path) -> None:
    make_files(tmp_path)

    def output(*argv: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "tagalong", *map(os.fsencode, argv)],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT,
        ).stdout.decode()

    def lines(text: str) -> list[Any]:
        return [json.loads(line) for line in text.split("\n") if line]

    given = lines((tmp_path / ITEMS).read_text())
    assert lines(output("convert", ITEMS, "-", "--to", "jsonl")) == given
    table = io.StringIO(output("convert", "plain.jsonl", "-", "--to", "tsv"), newline="")
    plain = lines((tmp_path / "plain.jsonl").read_text())
    assert [row["text"] for row in csv.DictReader(table, delimiter="\t")] == [
        line["text"] for line in plain
    ]
    output("learn", ITEMS, "-m", MODEL)
    found = json.loads(output("labels", "list", MODEL, "--json"))
    assert [one["label"] for one in found["labels"]] == LABELS


def test_a_text_in_a_pipe_is_escaped_too(run: Run, tmp_path: Path) -> None:
    make_files(tmp_path)
    run("learn", ITEMS, "-m", MODEL)
    done = run("labels", "list", MODEL)
    assert acting(done.out) == []
    assert "evil\\x1b]52" in done.out


def test_the_completion_script_is_exact_in_a_pipe(run: Run) -> None:
    import shtab

    from tagalong.cli.parser import make_parser

    for shell in ("bash", "zsh", "tcsh"):
        assert run("completion", shell).out == shtab.complete(make_parser(), shell) + "\n"
