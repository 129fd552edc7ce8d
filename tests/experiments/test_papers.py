"""P1 and P2: small cells agree with the library, and the papers' numbers have the right sums."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.streams import Stream
from experiments import catalogue, compare, streams
from experiments.experiment import Cell, Figure, Form, Results, Table
from experiments.p1 import sweep
from experiments.p1 import table1 as p1_table1
from experiments.p2 import enron_table, mail, synthetic, table1, table2, table3
from tagalong import BlockProjection

TINY = {"block": 3, "relevant": 20, "noise": 0.0, "zeros": 0.5, "trials": 40, "repetition": 0}


@pytest.fixture(autouse=True)
def few_samples(monkeypatch):
    monkeypatch.setattr(synthetic, "SAMPLE", 2000)


@pytest.fixture
def stream(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(sp.random(120, 40, density=0.2, random_state=1, dtype=np.float32))
    X.data[:] = 1.0
    Y = np.zeros((120, 4), dtype=np.int8)
    Y[np.arange(120), np.asarray(X @ rng.normal(size=(40, 4))).argmax(axis=1)] = 1
    own = Stream("tiny", X, sp.csr_matrix(Y), list("abcd"))
    monkeypatch.setattr(streams, "load", lambda name: own)
    monkeypatch.setattr(streams, "names", lambda: ["newsgroups", "medical"])
    return own


def computed(experiment, **change):
    """Run every cell of an experiment in this process, with some settings changed."""
    cells = [Cell(cell.run, {**cell.settings, **change}) for cell in experiment.cells(Form())]
    return Results([(cell.settings, cell.compute()) for cell in cells])


@pytest.mark.parametrize(
    "name", ["p1/table1", "p2/table1", "p2/table2", "p2/table3", "p2/figure10"]
)
def test_tables_of_streams_run_and_report(stream, name):
    (experiment,) = catalogue.experiments([name])
    few = {} if name == "p1/table1" else {"Cs": [0.125, 1.0]}
    parts = experiment.report(computed(experiment, rows=120, **few))
    assert any(type(part).__name__ == "Verdict" for part in parts)
    for part in parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.head) for row in part.rows)
        if isinstance(part, Figure):
            part.draw()


@pytest.mark.parametrize("name", ["p2/figure7", "p2/figure8", "p2/figure9"])
def test_synthetic_figures_run_and_report(name, monkeypatch):
    monkeypatch.setattr(synthetic, "SAMPLE", 500)
    (experiment,) = catalogue.experiments([name])
    few = {"trials": 10, "Cs": [0.25, 1.0], "margins": [1.0]}
    parts = experiment.report(computed(experiment, **few))
    assert any(type(part).__name__ == "Verdict" for part in parts)
    for part in parts:
        if isinstance(part, Figure):
            part.draw()


def test_full_forms_have_more_cells(stream):
    for experiment in catalogue.experiments(["p1", "p2"]):
        assert len(experiment.cells(Form(full=True))) >= len(experiment.cells(Form()))


@pytest.mark.parametrize("name", ["p2/table1", "p2/table2", "p2/table3"])
def test_both_readings_of_the_rule_for_rare_words_are_tried(stream, name):
    (experiment,) = catalogue.experiments([name])
    for full, expected in ((False, {"newsgroups"}), (True, {"newsgroups", "medical"})):
        other = [
            own.settings for own in experiment.cells(Form(full)) if "seldom_of" in own.settings
        ]
        assert {own["stream"] for own in other} == expected
        assert {(own["seldom_of"], own["model"]) for own in other} == {("all", "shared")}
    text = "".join(str(part) for part in experiment.report(computed(experiment, rows=40, Cs=[1.0])))
    assert "in less than 2% of all earlier messages" in text
    assert "With the other reading of the rule for rare words" in text


def test_p1_percentages_come_from_scores_before_learning(stream):
    settings: dict[str, Any] = {
        "stream": "tiny",
        "rows": None,
        "update": "single",
        "geometry": "euclidean",
    }
    settings |= {"margin": 1.0, "unit": False, "Cs": [0.05]}
    found = sweep.run(settings)["percent"][0]
    scores = sweep._learner(settings, 0.05).predict_then_learn(stream.X, stream.Y)
    relevant = stream.Y.toarray() > 0
    worst = np.where(relevant, scores, np.inf).min(axis=1)
    top = np.where(relevant, -np.inf, scores).max(axis=1)
    assert found == pytest.approx(100 * np.mean(worst <= top), abs=1e-3)


def test_p2_curves_end_with_all_mistakes(stream):
    settings = {"stream": "tiny", "rows": 120, "model": "shared", "geometry": "euclidean"}
    settings |= {"update": "simproj", "margin": 1.0, "Cs": [0.1, 1.0]}
    found = mail.run(settings)
    assert found["curve"][-1] == pytest.approx(min(found["percent"]) * 1.2, abs=1e-2)
    assert len(found["curve"]) == mail.CURVE_POINTS
    assert found["curve"] == sorted(found["curve"])
    whole = mail._learner(settings, 1.0).fit(stream.X, stream.Y)
    assert found["percent"][1] == pytest.approx(100 * whole.certificate_.mistakes / 120, abs=1e-3)


@pytest.mark.parametrize("model", ["shared", "multi"])
def test_mistakes_of_additive_simperc_do_not_depend_on_C(stream, model, monkeypatch):
    settings = {"stream": "tiny", "rows": 120, "model": model, "geometry": "euclidean"}
    settings |= {"update": "simperc", "margin": 1.0, "Cs": [2.0**-5, 1.0, 2.0**5]}
    once = mail.run(settings)
    monkeypatch.setattr(mail, "is_free_of_C", lambda update, geometry: False)
    assert mail.run(settings) == once
    X, y, _ = synthetic.generate(TINY)
    counts = {
        synthetic._mistakes(sp.csr_matrix(X), y, [3] * 40, "simperc", "euclidean", C, 1.0)
        for C in settings["Cs"]
    }
    assert len(counts) == 1


def test_synthetic_rows_have_the_described_statistics():
    settings = {**TINY, "trials": 400, "zeros": 0.7}
    X, y, _ = synthetic.generate(settings)
    again, _, _ = synthetic.generate(settings)
    np.testing.assert_array_equal(X, again)
    assert X.shape == (1200, 500)
    assert set(np.unique(X)) == {-1.0, 0.0, 1.0}
    assert np.mean(X == 0) == pytest.approx(0.7, abs=0.01)
    # The rows are separable by a classifier with weights on 20 features.
    learner = BlockProjection("optimal", C=100.0, dtype="float64")
    for _ in range(20):
        losses = learner.learn_blocks(X, y, np.full(400, 3))
    assert losses.max() < 1
    other, _, _ = synthetic.generate({**settings, "repetition": 1})
    assert not np.array_equal(X, other)


def test_noise_flips_signs_in_some_blocks_only():
    settings = {**TINY, "block": 20, "trials": 500}
    X, clean, _ = synthetic.generate(settings)
    same, noisy, _ = synthetic.generate({**settings, "noise": 0.2})
    np.testing.assert_array_equal(X, same)
    flipped = (clean != noisy).reshape(500, 20).mean(axis=1)
    assert np.mean(flipped > 0) == pytest.approx(0.2, abs=0.06)
    assert flipped[flipped > 0].mean() == pytest.approx(0.4, abs=0.05)


def test_synthetic_mistakes_are_trials_with_a_wrong_row():
    settings = {**TINY, "Cs": [0.5], "margins": [1.0]}
    found = synthetic.run(settings)["mistakes"]
    X, y, _ = synthetic.generate(settings)
    learner = BlockProjection("simproj", C=0.5)
    mistakes = 0
    for start in range(0, len(y), 3):
        rows, signs = X[start : start + 3], y[start : start + 3]
        scores = learner.decision_function(rows) if start else np.zeros(3)
        mistakes += bool((signs * scores <= 0).any())
        learner.learn_block(rows, signs)
    assert found["SimProj.A"] == [[mistakes]]
    assert set(found) == set(synthetic.SCHEMES)


def test_the_best_setting_is_chosen_on_average():
    cells = [
        ({"block": 5}, {"mistakes": {"MaxPA.A": [[10, 4, 9]]}}),
        ({"block": 5}, {"mistakes": {"MaxPA.A": [[1, 8, 9]]}}),
    ]
    assert synthetic.best(Results(cells), "MaxPA.A", block=5) == [10, 1]


def test_numbers_of_the_papers():
    # Sums of the columns in the papers.
    columns = np.array([values for _, _, values in p1_table1.PAPER.values()])
    np.testing.assert_allclose(
        columns.sum(axis=0), [248.0, 216.8, 206.9, 226.7, 200.3, 189.8], atol=1e-9
    )
    assert sum(messages for _, messages, _ in p1_table1.PAPER.values()) == 20581
    for printed in (table1.PAPER, table2.PAPER, table3.PAPER):
        assert list(printed) == list(enron_table.USERS)
    first, second, third = (
        np.array(list(printed.values())) for printed in (table1.PAPER, table2.PAPER, table3.PAPER)
    )
    # The additive columns are in all three tables.
    np.testing.assert_array_equal(first[:, :4], second[:, :4])
    np.testing.assert_array_equal(first[:, :5], third[:, :5])
    np.testing.assert_allclose(first[:, 5].sum(), 198.4, atol=1e-9)
    np.testing.assert_allclose(second[:, 4:].sum(axis=0), [217.1, 219.4, 218.8, 218.5], atol=1e-9)
    np.testing.assert_allclose(third[:, 5:].sum(axis=0), [220.1, 210.5], atol=1e-9)
    assert sum(messages for _, messages in enron_table.USERS.values()) == 20313


def test_helpers_of_reports():
    assert compare.bold_minimum([1.04, 1.01, float("nan"), 2]) == ["**1.0**", "**1.0**", "–", "2.0"]
    assert compare.wins({"a": 1, "b": 2, "c": 0}, {"a": 2, "b": 2}) == (1, 2)
    assert [compare.holds(w, 4) for w in (4, 3, 2, 1, 0)] == [True, None, None, False, False]
    assert compare.holds(0, 0) is None
    assert compare.mean_and_error([1, 3]) == (2, 1.0)
    assert compare.mean_and_error([5]) == (5, 0.0)


def test_the_catalogue_finds_scripts_in_order():
    names = [experiment.name for experiment in catalogue.experiments(["p2"])]
    assert names == [f"p2/{n}" for n in ("table1", "table2", "table3")] + [
        f"p2/figure{n}" for n in (7, 8, 9, 10)
    ]
    with pytest.raises(ValueError, match="unknown experiment 'p9'; choose from p1/table1"):
        catalogue.experiments(["p9"])
