"""The page is made from results alone; the committed page matches the committed results."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from experiments import catalogue, page, plots, store
from experiments.experiment import Experiment, Figure, Table, Verdict

pytest.importorskip("matplotlib")


def test_the_committed_page_matches_the_committed_results():
    text, figures = page.compose()
    assert page.PAGE.read_text(encoding="utf-8") == text, "run: python -m experiments --report"
    pictures = page.PAGE.parent / page.PLOT_FOLDER
    assert sorted(path.stem for path in pictures.glob("*.svg")) == sorted(f.name for f in figures)


def test_experiments_and_results_correspond():
    names = {store.results_path(experiment.name) for experiment in catalogue.experiments()}
    assert set(store.RESULTS.glob("*.json")) == names


def test_results_contain_no_absolute_path():
    for path in store.RESULTS.glob("*.json"):
        assert not re.search(r"/(home|tmp|work|root|Users)/", path.read_text(encoding="utf-8"))


@pytest.fixture
def example(monkeypatch, tmp_path):
    def report(results):
        best = min(result["loss"] for _, result in results.cells)
        line = plots.Line("ours", [1, 2], [best, 3], [0.1, 0.2])
        panel = plots.Panel("a <panel>", [line], "x", "y", log_x=True, ticks=[1, 2])
        return [
            "A text.",
            Table(["learner", "loss"], [["ours", f"{best}"]]),
            Figure("p1-example", lambda: plots.lines([panel]), "a line"),
            Verdict("Less is more.", f"the least is {best}.", holds=best < 1),
        ]

    one = Experiment("p1/example", "P1, example: a+b (c)", lambda form: [], report)
    monkeypatch.setattr(catalogue, "experiments", lambda only=None: [one])
    records = [
        {
            "settings": {"x": 1},
            "result": {"loss": 0.5},
            "seconds": 1.25,
            "commit": "abc",
            "machine": "a machine",
        }
    ]
    store.write_results(one.name, "full", records, ["the set: it is missing"], tmp_path)
    return tmp_path


def test_a_page_from_results(example, tmp_path):
    written = page.write(tmp_path / "docs" / "page.md", example)
    text = written[0].read_text(encoding="utf-8")
    assert "> **Less is more.** *Holds here:* the least is 0.5." in text
    assert "| ours | 0.5 |" in text
    assert "| [p1/example](#p1-example-ab-c) | Less is more. | holds here |" in text
    assert "![a line](reproduction/p1-example.svg)" in text
    assert "*Left out:* the set: it is missing." in text
    assert "full form · 1 s of computing · commit abc · a machine" in text
    assert "--only p1/example --full`" in text
    assert written[1].name == "p1-example.svg"
    picture = ElementTree.parse(written[1]).getroot()
    assert "a <panel>" in "".join(picture.itertext())


@pytest.mark.parametrize(
    "data_set, commit, void",
    [
        ("rcv1", "c1e31c6", True),
        ("like", "75608a2", True),
        ("rcv1", "abc", False),
        ("yeast", "c1e31c6", False),
    ],
)
def test_rcv1_figures_are_void_until_they_are_measured_on_the_corrected_files(
    example, data_set, commit, void
):
    records = [
        {
            "settings": {"set": data_set},
            "result": {"loss": 0.5},
            "seconds": 1.0,
            "commit": commit,
            "machine": "a machine",
        }
    ]
    store.write_results("p1/example", "quick", records, [], example)
    text, _ = page.compose(example)
    assert ("RCV1 figures of this section" in text) == void


def test_the_same_results_give_the_same_files(example, tmp_path):
    first, second = (page.write(tmp_path / name / "page.md", example) for name in "ab")
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]


def test_an_experiment_without_results_is_not_on_the_page(example):
    store.results_path("p1/example", example).unlink()
    text, figures = page.compose(example)
    assert "p1/example" not in text
    assert figures == []


def test_results_have_one_cell_per_line(example):
    path = store.results_path("p1/example", example)
    found = json.loads(path.read_text())
    assert found["cells"][0]["result"] == {"loss": 0.5}
    assert path.read_text().count('"settings"') == sum(
        line.startswith('{"settings"') for line in path.read_text().splitlines()
    )
