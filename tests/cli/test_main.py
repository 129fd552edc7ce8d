"""Tests of what all commands share: help, exit codes, output, start-up time."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import tagalong
from tagalong.cli import arguments, live, output
from tagalong.cli.errors import EXIT_CODES
from tagalong.cli.learners import LEARNERS
from tagalong.cli.main import main
from tagalong.cli.parser import COMMANDS, make_parser
from tagalong.online.label_ranker.contestant import CONTESTANTS
from tagalong.online.label_ranker.learner import GEOMETRIES, UPDATES
from tagalong.printable import as_json
from tagalong.text.features import WEIGHTINGS
from tests.cli.conftest import Run
from tests.timeouts import TIMEOUT
from tools import make_command_reference

ESCAPE = "\x1b"


def shell(*argv: str, **settings: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tagalong", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, **settings)


START = """
import json, sys
before, calls = set(sys.modules), 0
def count(frame, event, argument):
    global calls
    calls += event == "call" and not frame.f_code.co_filename.startswith("<frozen importlib")
sys.setprofile(count)
from tagalong.cli.main import main
main(["--help"])
assert main([]) == 0
sys.setprofile(None)
print(json.dumps([sorted(set(sys.modules) - before), calls]))
"""


def test_start_up_is_fast_and_imports_few_modules() -> None:
    """Counts imports and calls instead of seconds, so that a busy machine does not matter."""
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True)
    imported, calls = json.loads(done.stdout.splitlines()[-1])
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == {"tagalong"}
    assert "tagalong.readers.registry" not in imported
    assert len(imported) < 250
    # About 20,000 calls take a tenth of a second of processor time.
    assert 1_000 < calls < 50_000


def test_help_and_version(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    for command in COMMANDS:
        assert f"  {command} " in done.out or f"  {command}\n" in done.out
    for code, meaning in EXIT_CODES.items():
        assert f"{code}  {meaning}" in done.out
    assert "tagalong learn pydocs: --model" in done.out
    assert run("--version").out == f"tagalong {tagalong.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_output_options(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    actions = {"labels": "merge", "journal": "show", "workspaces": "add", "token": "add"}
    if action := actions.get(command):
        done = run(command, action, "--help")
    assert "--json" in done.out
    assert "--quiet" in done.out


def test_bare_command_lists_the_commands(run: Run) -> None:
    done = run()
    assert (done.code, done.err) == (0, "")
    listed = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")]
    assert sorted(listed) == sorted(COMMANDS)
    assert max(map(len, done.out.splitlines())) <= 100


def test_missing_and_unknown_commands(run: Run) -> None:
    assert run("--quiet").code == 2
    done = run("lern")
    assert done.code == 2
    assert "invalid choice: 'lern'" in done.err


def test_choices_match_the_library() -> None:
    assert arguments.UPDATES == UPDATES
    assert arguments.GEOMETRIES == GEOMETRIES
    assert tuple(CONTESTANTS) == arguments.CONTESTANTS
    assert arguments.WEIGHTINGS == WEIGHTINGS
    assert LEARNERS["label-ranker"].endswith(":LabelRanker")


def test_the_command_reference_is_up_to_date() -> None:
    written = make_command_reference.PAGE.read_text(encoding="utf-8")
    assert written == make_command_reference.reference(), (
        f"docs/commands.md is out of date: run python {make_command_reference.TOOL}"
    )


def test_every_option_has_help() -> None:
    parser = make_parser()
    for command in make_command_reference._subparsers(parser).values():
        for action in command._actions:
            assert action.help or action.dest == "action", (command.prog, action)


def test_usage_line_shows_required_arguments() -> None:
    for command in make_command_reference._subparsers(make_parser()).values():
        needed = [action for action in command._actions if action.required]
        for action in needed if command.usage else ():
            word = action.option_strings[0] if action.option_strings else action.metavar
            choices = action.choices and "{" + ",".join(action.choices) + "}"
            given = str(command.usage).replace("[", "").split()
            assert str(word or choices) in given, (command.usage, action)


def test_error_is_one_line_without_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("learn", "nope.jsonl")
    assert done.err == "tagalong: nope.jsonl: no such file or folder\n"
    monkeypatch.setenv("TAGALONG_DEBUG", "1")
    with pytest.raises(ValueError, match="no such file"):
        main(["learn", "nope.jsonl"])


def test_unexpected_exception_is_reported_as_a_bug(
    run: Run, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(tagalong.Tagger, "size", broken)
    done = run("inspect", model)
    assert done.code == 1
    assert done.err.startswith("tagalong: unexpected ZeroDivisionError: oh\n")
    assert "TAGALONG_DEBUG=1" in done.err


def test_folder_in_place_of_a_file(run: Run, stream: Path) -> None:
    Path("folder.jsonl").mkdir()
    done = run("learn", "folder.jsonl")
    assert done.code == 1
    assert len(done.err.splitlines()) <= 2


def test_ctrl_c_before_the_first_item(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("tagalong.cli.list_streams.streams", interrupted)
    done = run("streams")
    assert (done.code, done.out, done.err) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_class_is_made(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:  # as Python 3.11 does if __set_name__ is interrupted
            raise RuntimeError("Error calling __set_name__") from error

    monkeypatch.setattr("tagalong.cli.list_streams.streams", interrupted)
    done = run("streams")
    assert (done.code, done.out, done.err) == (130, "", "interrupted\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "argv",
    [
        ("suggest", "items.jsonl", "-m", "m.tagalong"),
        ("labels", "list", "m.tagalong"),
        ("convert", "items.jsonl", "-", "--to", "jsonl"),
    ],
    ids=["suggest", "labels", "convert"],
)
def test_a_full_disk_behind_standard_output_is_named(
    run: Run, model: str, argv: tuple[str, ...]
) -> None:
    command = [sys.executable, "-m", "tagalong", *argv]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=TIMEOUT)
    assert done.returncode == 1
    assert done.stderr == b"tagalong: standard output: No space left on device\n"


@pytest.mark.parametrize(
    ("redirection", "name", "code"),
    [
        (">&-", "m.tagalong", 0),
        (">&- 2>&-", "m.tagalong", 0),
        ("2>&-", "missing", 1),
        (">&- 2>&-", "missing", 1),
        ("<&- >&- 2>&-", "missing", 1),
    ],
)
def test_closed_streams_do_not_matter(
    run: Run, model: str, redirection: str, name: str, code: int
) -> None:
    command = f"exec {sys.executable} -m tagalong labels list {name} {redirection}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=TIMEOUT)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_nothing_is_read_from_a_closed_stream(run: Run) -> None:
    command = f"exec {sys.executable} -m tagalong learn - --format jsonl <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=TIMEOUT)
    assert done.returncode == 1
    assert done.stderr == b"tagalong: -: nothing to learn: there are no items\n"


def test_marks_take_no_column_of_a_table() -> None:
    rows = [["plain", "1"], ["ह\N{DEVANAGARI VOWEL SIGN U}", "2"], ["e\u0301\ufe0f\u20dd", "3"]]
    first, *others = output.table(rows)
    assert first == "plain  1"
    assert others == ["ह\N{DEVANAGARI VOWEL SIGN U}      2", "e\u0301\ufe0f\u20dd      3"]


def test_a_warning_is_one_line_without_its_place_in_the_source(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def warning() -> list[Any]:
        warnings.simplefilter("always")
        warnings.warn("the step was simple", UserWarning, stacklevel=1)
        return []

    monkeypatch.setattr("tagalong.cli.list_streams.streams", warning)
    before = warnings.showwarning
    assert run("streams").err == "tagalong: warning: the step was simple\n"
    assert run("streams", "--quiet").err == ""
    assert warnings.showwarning is before


def test_broken_pipe_prints_no_error(run: Run, model: str, stream: Path) -> None:
    command = [sys.executable, "-m", "tagalong", "suggest", "--model", model, *["items.jsonl"] * 40]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=stream.parent, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    json.loads(process.stdout.readline())
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=TIMEOUT) == 141


def test_output_to_a_pipe_is_plain_text(run: Run, stream: Path) -> None:
    settings = {"cwd": stream.parent, "env": {**os.environ, "FORCE_COLOR": "1"}}
    done = shell("compare", "items.jsonl", "--every", "0.001", **settings)
    assert done.returncode == 0, done.stderr
    assert ESCAPE not in done.stdout + done.stderr
    assert done.stdout.startswith(" " * 14)


def test_lone_surrogates_in_items(run: Run, model: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b'{"id": "\\ud800", "text": "the invoice"}\n')
    done = run("suggest", "--model", model, "x.jsonl", "--on-error", "skip")
    assert done.code in (0, 3)
    assert "Traceback" not in done.err


class Terminal:
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert output.wants_colour(Terminal())  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not output.wants_colour(Terminal())  # type: ignore[arg-type]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not output.wants_colour(Terminal())  # type: ignore[arg-type]


class Clock:
    """A clock that only the test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.now = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


def test_live_figures_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    monkeypatch.setattr(live, "is_terminal", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with live.Live(every=0.01) as shown:
        assert not shown.is_due()
        clock.now += 0.011
        assert shown.is_due()
        shown.show(["items", "AP"], [["1,234", "[b]0.5"]], "items 1,234")
        assert not shown.is_due()
        clock.now += 0.011
        assert shown.is_due()
    err = capsys.readouterr().err
    assert "1,234" in err
    assert "[b]0.5" in err


def test_short_runs_write_no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    for terminal, first in ((False, live.EVERY), (True, live.EVERY_ON_TERMINAL)):
        monkeypatch.setattr(live, "is_terminal", lambda stream, found=terminal: found)
        shown = live.Live()
        clock.now += first - 0.01
        assert not shown.is_due()
        clock.now += 0.02
        assert shown.is_due()


def test_quiet_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with live.Live(quiet=True, every=0.001) as shown:
        clock.now += 1000
        assert not shown.is_due()
        shown.show(["items"], [["1"]], "items 1")
    assert capsys.readouterr() == ("", "")


def test_json_has_null_for_nan() -> None:
    assert as_json({"a": [float("nan"), float("inf"), 1.5], ("b",): "ü"}) == (
        '{"a": [null, null, 1.5], "(\'b\',)": "ü"}'
    )


@pytest.mark.parametrize(
    "size, text", [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2_500_000, "2.5 MB")]
)
def test_sizes(size: int, text: str) -> None:
    assert output.size_text(size) == text
