"""Run the examples and check what they print."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_example(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run an example as a script and return its output."""
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_every_example_is_listed_and_tested() -> None:
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    listed = set(re.findall(r"\((\w+)\.py\)", (EXAMPLES / "README.md").read_text("utf-8")))
    tested = set(re.findall(r'run_example\("(\w+)"', Path(__file__).read_text("utf-8")))
    assert listed == scripts == tested


def test_demo(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output = run_example("demo", capsys)
    assert output.count("tagger.explain(") == 3
    assert "average precision" in output
    assert (tmp_path / "build/demo/pydocs.tagalong").stat().st_size > 1_000_000
    assert (tmp_path / "build/demo/pydocs.png").read_bytes().startswith(b"\x89PNG")


def test_file_mail(capsys: pytest.CaptureFixture[str]) -> None:
    output = run_example("file_mail", capsys)
    assert "learnt 450 messages" in output
    assert "to Travel because of" in output
    assert re.search(r"moved ([1-9]|1[0-2]); ", output)
    assert "rejections learnt: 1;" in output
    assert "stays: put back" in output
    assert "'put back': 1" in output


def test_route_tickets(capsys: pytest.CaptureFixture[str]) -> None:
    output = run_example("route_tickets", capsys)
    right = [int(number) for number in re.findall(r"right in (\d+) of 100", output)]
    assert len(right) == 6
    assert right[-1] > 90, "the last hundred tickets are easy"
    assert "mobile: " in output, "a team that appeared later is suggested"


def test_partial_feedback(capsys: pytest.CaptureFixture[str]) -> None:
    output = run_example("partial_feedback", capsys)
    late = [float(number) for number in re.findall(r"([\d.]+) in the last", output)]
    early = [float(number) for number in re.findall(r": ([\d.]+) of 3", output)]
    assert late[0] > early[0]
    assert late[1] > late[0], "exploring pays off"


def test_label_prior(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = dict(re.findall(r"(\w+) *: .* in (\d+)% of pairs", run_example("label_prior", capsys)))
    assert int(pairs["ski"]) > 85, "the label without examples is found through the prior"
    assert int(pairs["snow"]) > 95


def test_own_problem(capsys: pytest.CaptureFixture[str]) -> None:
    output = run_example("own_problem", capsys)
    assert float(re.search(r"off by ([\d.]+) steps", output)[1]) < 0.4  # type: ignore[index]
    assert output.endswith("is W\n")
