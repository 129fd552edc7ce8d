"""Tests of the shared learner on the command line."""

import json
from pathlib import Path

from tagalong import SharedLabelRanker, Tagger
from tests.cli.conftest import Run
from tests.online.custom_features import Kesler


def stream(path: Path) -> str:
    about = {"money": "invoice payment", "travel": "flight hotel", "family": "mother birthday"}
    lines = [
        json.dumps({"id": str(i), "text": f"{text} number{i}", "labels": [label]})
        for i in range(20)
        for label, text in about.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_learn_suggest_inspect(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    learnt = run(
        *("learn", source, "--model", "m.tagalong", "--learner", "shared", "--update", "max"),
        "--json",
    )
    assert learnt.code == 0
    found = run("suggest", "--model", "m.tagalong", "--text", "a birthday", "--json")
    assert json.loads(found.out)["suggestions"][0]["label"] == "family"
    assert run("inspect", "m.tagalong", "--json").json["learner"]["update"] == "max"


def test_update_of_another_learner_is_refused(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    refused = run("learn", source, "--learner", "shared", "--update", "single")
    assert refused.code == 2
    assert "--update must be one of 'simperc'" in refused.err


def test_paper_2_has_every_scheme_in_both_forms(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    compared = run("compare", source, "--paper", "p2", "--json")
    assert compared.code == 0
    names = [row["name"] for row in compared.json["learners"]]
    assert len(names) == len(set(names)) == 23  # with the default, for comparison
    for form in ("additive, shared", "multiplicative, multi-prototype"):
        assert sum(form in name for name in names) in (5, 6)


def test_model_with_custom_features_is_refused(run: Run, tmp_path: Path) -> None:
    Tagger(SharedLabelRanker(Kesler())).learn("one", ["a"]).save(tmp_path / "own.tagalong")
    for command in (["suggest", "--text", "one", "--model"], ["inspect"]):
        refused = run(*command, str(tmp_path / "own.tagalong"))
        assert refused.code != 0
        assert "its features are made by Kesler, which is code and not in the file" in refused.err
