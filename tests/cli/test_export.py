"""Tests of ``tagalong export``."""

import json
import os
from pathlib import Path

import pytest

import tagalong
from tests.cli.conftest import Run


@pytest.fixture
def compact(run: Run, stream: Path) -> str:
    assert run("learn", "items.jsonl", "--model", "m.tagalong", "-q").code == 0
    done = run("export", "m.tagalong", "--compact", "--out", "c.tagalong")
    assert done.code == 0, done.err
    assert "it suggests and explains, but does not learn" in done.out
    return "c.tagalong"


def test_the_compact_model_suggests_explains_and_is_measured(run: Run, compact: str) -> None:
    full = tagalong.load("m.tagalong")
    done = run("suggest", "--text", "the invoice", "-m", compact, "--json")
    found = [each["label"] for each in json.loads(done.out.splitlines()[0])["suggestions"]]
    assert found == [each.label for each in full.suggest("the invoice")]
    assert run("explain", "--text", "the invoice", "-m", compact).code == 0
    reports = [
        run("evaluate", "items.jsonl", "-m", model, "--json") for model in (compact, "m.tagalong")
    ]
    precisions = [each.json["report"]["overall"]["average_precision"] for each in reports]
    assert precisions[0] == pytest.approx(precisions[1], abs=0.02)
    assert reports[0].json["certificate"] is None
    line = run("evaluate", "items.jsonl", "-m", compact, "--certificate")
    assert "is compact and has no certificate" in line.out
    inspected = run("inspect", compact, "--words", "2", "--certificate")
    assert inspected.code == 0
    assert "CompactRanker" in inspected.out
    assert run("inspect", compact, "--json").json["items"] == full.history.items


@pytest.mark.parametrize(
    "argv",
    [
        ("learn", "items.jsonl", "-m", "c.tagalong", "--continue"),
        ("learn", "-m", "c.tagalong", "--resume"),
        ("labels", "merge", "c.tagalong", "money", "travel", "--into", "both"),
        ("labels", "forget", "c.tagalong", "money"),
        ("prune", "c.tagalong", "--features", "1"),
        ("export", "c.tagalong", "--compact", "--out", "d.tagalong"),
    ],
    ids=lambda argv: " ".join(argv[:2]),
)
def test_a_compact_model_does_not_change(run: Run, compact: str, argv: tuple[str, ...]) -> None:
    before = Path(compact).read_bytes()
    done = run(*argv)
    assert done.code == 1
    assert "compact" in done.err
    assert "this is a bug" not in done.err
    assert Path(compact).read_bytes() == before
    assert not Path("d.tagalong").exists()


def test_filing_needs_the_full_model(run: Run, compact: str, tmp_path: Path) -> None:
    for folder in ("cur", "new", "tmp"):
        (tmp_path / "Mail" / folder).mkdir(parents=True)
    done = run("file", "Mail", "--model", compact)
    assert done.code == 1
    assert "for predictions only" in done.err


def test_results_as_json(run: Run, compact: str) -> None:
    done = run("export", "m.tagalong", "--compact", "--out", compact, "--json")
    sizes = done.json["file_bytes"]
    assert sizes == {"before": os.path.getsize("m.tagalong"), "after": os.path.getsize(compact)}


def test_wrong_arguments(run: Run, compact: str) -> None:
    for argv, problem in (
        (("m.tagalong", "--out", "x"), "--compact"),
        (("m.tagalong", "--compact"), "--out"),
        (("m.tagalong", "--compact", "--out", "m.tagalong"), "would replace"),
        (("m.tagalong", "--compact", "--out", "nowhere/x"), "there is no folder nowhere"),
        (("m.tagalong", "--compact", "--out", "."), "is a folder"),
    ):
        done = run("export", *argv)
        assert done.code == 2
        assert problem in done.err
    assert run("export", "nowhere", "--compact", "--out", "x").code == 1


def test_other_learners_are_refused(run: Run, stream: Path) -> None:
    assert run("learn", "items.jsonl", "-m", "s", "--learner", "shared", "-q").code == 0
    done = run("export", "s", "--compact", "--out", "x")
    assert done.code == 1
    assert "a SharedLabelRanker cannot be exported as a compact model" in done.err
