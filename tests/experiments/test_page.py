"""The page is made from results alone; the committed page matches the committed results."""

import dataclasses
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from experiments import catalogue, page, plots, store
from experiments.experiment import Cell, Experiment, Figure, Table, Verdict

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


def made(run):
    return {
        "run": run,
        "code": "abc123",
        "golden": {},
        "machine": "a machine",
        "date": "2026-01-02",
    }


def covers(form):
    return form.pick("the first rows", "all rows")


def write(folder, form, missing=0, skipped=("the set: it is missing",)):
    record = {"settings": {"x": 1}, "result": {"loss": 0.5}, "seconds": 1.25, "made": made(form)}
    store.write_results("p1/example", form, [record], list(skipped), folder, missing=missing)


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

    one = Experiment("p1/example", "P1, example: a+b (c)", lambda form: [], report, covers)
    monkeypatch.setattr(catalogue, "experiments", lambda only=None: [one])
    write(tmp_path, "full")
    return tmp_path


def test_a_page_from_results(example, tmp_path):
    written = page.write(tmp_path / "docs" / "page.md", example)
    text = written[0].read_text(encoding="utf-8")
    assert "> **Less is more.** *Holds here:* the least is 0.5." in text
    assert "| ours | 0.5 |" in text
    assert "| [p1/example](#p1-example-ab-c) | Less is more. | holds here | full |" in text
    assert "![a line](reproduction/p1-example.svg)" in text
    assert "*Left out:* the set: it is missing." in text
    assert "full form · 1 s of computing · 2026-01-02 · code abc123 · a machine" in text
    assert "--only p1/example --full`" in text
    assert written[1].name == "p1-example.svg"
    picture = ElementTree.parse(written[1]).getroot()
    assert "a <panel>" in "".join(picture.itertext())


def test_the_page_names_the_form_of_every_claim_and_what_it_covers(example):
    text, _ = page.compose(example)
    name = "[p1/example](#p1-example-ab-c)"
    assert f"| {name} | Less is more. | holds here | full |" in text
    assert f"| {name} | **full** | all rows | 1 s |" in text
    write(example, "quick")
    text, _ = page.compose(example)
    assert f"| {name} | Less is more. | holds here | quick |" in text
    assert f"| {name} | **quick** | the first rows | 1 s |" in text
    write(example, "full", missing=3)
    text, _ = page.compose(example)
    assert f"| {name} | **quick**; of the full form 1 of 4 cells exist | the first rows" in text
    assert f"| {name} | Less is more. | holds here | quick |" in text


def test_the_page_says_if_cells_were_added_since_the_results_were_made(example, monkeypatch):
    (one,) = catalogue.experiments()
    cells = [Cell("p1:run", {"x": x}) for x in (1, 2, 3)]
    larger = dataclasses.replace(one, cells=lambda form: cells)
    monkeypatch.setattr(catalogue, "experiments", lambda only=None: [larger])
    text, _ = page.compose(example)
    # The missing data of the example would explain it.
    assert "not yet run" not in text
    write(example, "full", skipped=[])
    text, _ = page.compose(example)
    assert "| all rows; **without 2 of 3 cells, not yet run** | 1 s |" in text


def test_every_claim_on_the_page_has_its_form():
    text = page.PAGE.read_text(encoding="utf-8")
    summary, forms = text.split("## At a glance")[1].split("## Forms")
    claims = [line for line in summary.splitlines() if line.startswith("| [")]
    assert claims
    for experiment in catalogue.experiments():
        head, _ = store.read_results(experiment.name) or ({}, None)
        own = [line for line in claims if line.startswith(f"| [{experiment.name}]")]
        assert own, experiment.name
        assert all(line.endswith(f" | {head['form']} |") for line in own)
        assert f"| [{experiment.name}](#{page._anchor(experiment)}) | **{head['form']}**" in forms


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
        line.startswith('{"made": 0, "settings"') for line in path.read_text().splitlines()
    )
