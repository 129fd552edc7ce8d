"""Tests of the shared learner on the command line."""

import json
from pathlib import Path

from sklearn.base import clone

import tagalong
from tagalong import SharedLabelRanker, Tagger
from tagalong.features import FolderAffinity
from tagalong.readers import read
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


def test_seldom_of_chooses_which_words_are_rare(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    learn = ("learn", source, "--model", "m.tagalong", "--learner", "shared")
    for geometry in ("euclidean", "entropic"):
        for of in ("folder", "all"):
            learnt = run(*learn, "--geometry", geometry, "--seldom-of", of, "--force")
            assert learnt.code == 0
            usual = FolderAffinity() if geometry == "euclidean" else FolderAffinity(0.2, 0.02, 1, 0)
            given = clone(usual).set_params(seldom_of=of)
            certificates = []
            for features in (usual, given):
                tagger = Tagger(SharedLabelRanker(features, geometry=geometry))
                with read(source) as items:
                    for item in items:
                        tagger.learn(item)
                certificates.append(tagger.certificate_)
            found = tagalong.load("m.tagalong").certificate_
            assert found == certificates[1]
            assert (found == certificates[0]) == (of == "folder" or geometry == "entropic")
    assert run(*learn, "--continue", "--seldom-of", "all").code == 0
    refused = run(*learn, "--continue", "--seldom-of", "folder")
    assert refused.code == 2
    assert "was made with --seldom-of all, not with --seldom-of folder" in refused.err
    inspected = run("inspect", "m.tagalong", "--json").json["learner"]
    assert inspected["features"]["seldom_of"] == "all"


def test_seldom_of_is_for_the_shared_learner(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    refused = run("learn", source, "--seldom-of", "all")
    assert refused.code == 2
    assert "the learner label-ranker has no --seldom-of" in refused.err
    refused = run("learn", source, "--learner", "shared", "--set", "features=all")
    assert refused.code == 2
    assert "--set features: " in refused.err
    assert "--seldom-of" in refused.err


def test_compare_gives_seldom_of_to_the_shared_learners(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    compare = ("compare", source, "--learners", "shared,label-ranker", "--json")
    rows = {row["name"]: row for row in run(*compare, "--seldom-of", "all").json["learners"]}
    assert rows["shared"]["settings"]["seldom_of"] == "all"
    assert "seldom_of" not in rows["label-ranker"]["settings"]
    usual = {row["name"]: row for row in run(*compare).json["learners"]}
    assert rows["shared"]["dual"] != usual["shared"]["dual"]
    assert rows["label-ranker"]["dual"] == usual["label-ranker"]["dual"]
