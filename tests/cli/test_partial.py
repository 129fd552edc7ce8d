"""Tests of the learner from partial feedback on the command line."""

import json
from pathlib import Path

import numpy as np

import tagalong
from tests.cli.conftest import Run
from tests.cli.test_shared import stream
from tests.contract.bits import native_of

LEARN = ("--learner", "partial", "--slots", "2", "--json")


def test_learn_reports_list_losses(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    found = run("learn", source, "--model", "m.tagalong", *LEARN)
    assert found.code == 0
    lists = found.json["lists"]["overall"]
    assert 1 <= lists["shown"] <= 2
    assert 0.7 <= lists["accepted"] <= 1
    assert found.json["report"]["overall"]["one_error"] < 0.4
    assert found.json["report"]["certificate"]["rounds"] == 60
    text = run("learn", source, "--learner", "partial", "--slots", "2").out
    assert "labels shown per item" in text
    assert "slot loss" in text


def test_suggest_and_inspect(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    run("learn", source, "--model", "m.tagalong", *LEARN)
    found = run("suggest", "--model", "m.tagalong", "--text", "a birthday", "--json")
    first = json.loads(found.out)["suggestions"][0]
    assert (first["label"], first["explores"]) == ("family", False)
    about = run("inspect", "m.tagalong", "--json").json
    assert about["learner"]["max_labels"] == 2
    assert "labels shown in 60 rounds" in about["certificate"]["in_words"]


def test_same_bits_as_python_and_after_a_resume(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    run("learn", source, "--model", "whole.tagalong", *LEARN)
    run("learn", source, "--model", "half.tagalong", "--limit", "25", *LEARN)
    resumed = run("learn", "--model", "half.tagalong", "--resume", "--limit", "60", "--json")
    assert resumed.json["lists"]["overall"]["shown"] > 0
    whole, half = (tagalong.load(tmp_path / f"{name}.tagalong") for name in ("whole", "half"))
    by_hand = tagalong.Tagger(whole.learner.__class__(**whole.learner.get_params()))
    from tagalong.readers import read

    with read(source) as items:
        for item in items:
            by_hand.learn(item)
    for other in (half, by_hand):
        for name, array in native_of(whole.learner).state()["arrays"].items():
            assert np.array_equal(native_of(other.learner).state()["arrays"][name], array), name


def test_compare(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    found = run("compare", source, "--learners", "label-ranker,partial", "--json")
    assert found.code == 0
    assert [row["name"] for row in found.json["learners"]] == ["label-ranker", "partial"]


def test_plot_without_a_dual_value(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    assert run("learn", source, *LEARN, "--plot", "curve.png").code == 0
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_losses_by_name(run: Run, tmp_path: Path) -> None:
    source = stream(tmp_path / "items.jsonl")
    learn = ("learn", source, "--model", "m.tagalong", *LEARN)
    assert run(*learn, "--set", "loss=exponential", "--limit", "30").code == 0
    assert run("inspect", "m.tagalong", "--json").json["learner"]["loss"] == "exponential"
    assert run(*learn, "--continue", "--set", "loss=exponential").code == 0
    refused = run(*learn, "--force", "--set", "loss=cubic")
    assert refused.code == 2
    assert "loss must be one of 'square', 'logistic', 'exponential', got 'cubic'" in refused.err
    refused = run(*learn, "--continue", "--set", "loss=logistic")
    assert "was made with --set loss=exponential, not with --set loss=logistic" in refused.err
