"""P5: the generator of queries, small cells that agree with the library, the real queries."""

import numpy as np
import pytest

from benchmarks.predtron import RankedQueries
from benchmarks.streams import DATA_VARIABLE
from experiments import catalogue
from experiments.experiment import Cell, Figure, Form, MissingData, Results, Table, Verdict
from experiments.p5 import curves, figure1c, generator, real
from tagalong import Predtron
from tagalong.evaluate import mean_ndcg
from tagalong.problems import SubsetRanking

TINY = {
    "layout": "levels",
    "sigma": 0.1,
    "documents": 6,
    "features": 4,
    "queries": 10,
    "repetition": 0,
}


@pytest.fixture(autouse=True)
def few_tests(monkeypatch):
    monkeypatch.setattr(generator, "TESTED", 10)


def checked(parts, panels):
    assert any(isinstance(part, Verdict) for part in parts)
    for part in parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.head) for row in part.rows)
        if isinstance(part, Figure):
            assert len([ax for ax in part.draw().axes if ax.get_visible()]) == panels


@pytest.mark.parametrize("name", ["p5/figure1a", "p5/figure1b", "p5/figure1c"])
def test_figures_run_and_report(name):
    (experiment,) = catalogue.experiments([name])
    cells = [cell for cell in experiment.cells(Form()) if cell.settings["repetition"] == 0]
    small = [Cell(cell.run, {**cell.settings, "documents": 5, "features": 20}) for cell in cells]
    found = [(cell.settings, own.compute()) for cell, own in zip(cells, small, strict=True)]
    checked(experiment.report(Results(found)), 3)


@pytest.mark.parametrize("layout", generator.LAYOUTS)
def test_grades_follow_the_thresholds(layout):
    train, test = generator.generate({**TINY, "layout": layout, "sigma": 1.0, "queries": 50})
    again, _ = generator.generate({**TINY, "layout": layout, "sigma": 1.0, "queries": 50})
    np.testing.assert_array_equal(train.X, again.X)
    assert train.X.shape == (300, 4)
    assert test.group == [6] * 10
    truth = np.random.default_rng([0, 6, 4]).normal(size=4)
    scores = train.X @ (truth / np.linalg.norm(truth))
    for grade in range(6):
        own = scores[train.y == grade]
        j = 6 - grade
        low = -np.inf if grade == 0 else 1 / (j + 1)
        high = np.inf if grade == 5 else 1 / j
        assert len(own) == 0 or (own.min() >= low and own.max() <= high)


def test_without_noise_documents_have_descending_grades():
    train, _ = generator.generate({**TINY, "sigma": 1e-6})
    np.testing.assert_array_equal(train.y.reshape(-1, 6), [[5, 4, 3, 2, 1, 0]] * 10)


def test_sparse_scores_in_the_cube():
    settings = {**TINY, "layout": "cube", "relevant": 2, "features": 30, "queries": 200}
    train, _ = generator.generate(settings)
    assert np.abs(train.X).max() <= 1
    correlations = [abs(np.corrcoef(column, train.y)[0, 1]) for column in train.X.T]
    assert np.sum(np.array(correlations) > 0.3) == 2


def test_a_cell_is_predtron_in_one_pass():
    settings = {**TINY, "ends": [4, 10], "positions": ["1/i"], "ties": "index", "others": True}
    found = generator.learn(settings)["loss"]
    train, test = generator.generate(settings)
    for place, end in enumerate((4, 10)):
        part = train.part(0, end)
        model = Predtron(SubsetRanking("1/i", ties="index"), step=1.0, dtype="float64")
        model.fit(part.X, part.y, group=part.group)
        loss = 1 - mean_ndcg(model.decision_function(test.X), test.y, test.group)
        assert found["1/i"][place] == pytest.approx(loss, abs=1e-6)
    assert set(found) == {"1/i", "averaged", "by loss", *generator.OTHERS}
    assert all(0 <= value <= 1 for values in found.values() for value in values)


def test_other_methods_learn_a_linear_ranking():
    train, test = generator.generate({**TINY, "layout": "zero", "sigma": 1.0, "queries": 100})
    for method in generator.OTHERS.values():
        loss = test.loss(method(train, test))
        assert loss is not None
        assert loss < 0.05


def test_queries_without_a_relevant_document_have_no_loss():
    queries = generator.Queries(np.zeros((4, 1)), np.zeros(4, dtype=np.int64), 2)
    assert queries.loss(np.arange(4.0)) is None
    cells = [({"x": 1}, {"loss": {"1/i": [None], "-i^2": [0.5]}})] * 2
    assert np.isnan(curves.mean_losses(Results(cells), "1/i", x=1)).all()
    assert curves.pairs(Results(cells), "-i^2", x=1) == (0, 0)


def test_the_best_step_is_chosen_over_all_features():
    cells = [
        ({"features": p, "relevant": 1}, {"loss": {"l1": losses}})
        for p, losses in ((10, [0.0, 0.2]), (20, [0.9, 0.3]))
    ]
    assert figure1c._best(Results(cells), "l1", [10, 20], 1) == 1


@pytest.fixture
def few_queries(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 5))
    y = np.digitize(X @ rng.normal(size=5), [0.5, 1.5]).astype(float)
    every = RankedQueries(X, y, [8] * 30)
    halves = every.queries(range(20)), every.queries(range(20, 30))
    monkeypatch.setattr(real, "splits", lambda name: [halves, halves[::-1]])
    return halves


def test_real_queries_run_and_report(few_queries):
    (experiment,) = catalogue.experiments(["p5/real"])
    found = [(cell.settings, cell.compute()) for cell in experiment.cells(Form())]
    checked(experiment.report(Results(found)), 2)


def test_passes_over_real_queries(few_queries):
    settings = {"set": "mslr", "learner": "f₂, averaged", "passes": [1, 3]}
    found = real.run_predtron(settings)["ndcg"]
    values = []
    for train, test in (few_queries, few_queries[::-1]):
        model = Predtron(SubsetRanking("-i^1.1"), step=1.0, average=True, passes=3)
        model.fit(train.X, train.y, group=train.group)
        values.append(mean_ndcg(model.decision_function(test.X), test.y, test.group, 10))
    # Folds are weighted by their numbers of queries, 10 and 20.
    assert found[1] == pytest.approx((values[0] + 2 * values[1]) / 3, abs=1e-5)
    assert len(found) == 2


def test_missing_queries_are_named(monkeypatch, tmp_path):
    real.splits.cache_clear()
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    with pytest.raises(MissingData, match="the queries mslr: TAGALONG_DATA is a folder"):
        real.splits("mslr")
