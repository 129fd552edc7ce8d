"""P3: small cells agree with the library's games, and one run of OBR covers all games."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import streams
from benchmarks.streams import DATA_VARIABLE, Stream
from experiments import catalogue
from experiments.experiment import Cell, Figure, Form, MissingData, Results, Table, Verdict
from experiments.p3 import game, report
from experiments.p3.sweep import Sweep, panel_loss
from tagalong import PartialFeedbackRanker

ROWS, LABELS = 80, 12


@pytest.fixture
def stream(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, 6)).astype(np.float32)
    Y = sp.csr_matrix(X @ rng.normal(size=(6, LABELS)) > 0.6, dtype=np.int8)
    monkeypatch.setattr(streams, "load", lambda name: Stream(name, X, Y, []))
    game.load.cache_clear()
    yield X, Y
    game.load.cache_clear()


def computed(experiment, **change):
    cells = [Cell(cell.run, {**cell.settings, **change}) for cell in experiment.cells(Form())]
    return Results([(cell.settings, cell.compute()) for cell in cells])


@pytest.mark.parametrize("name", ["p3/figure2", "p3/figure3"])
def test_figures_run_and_report(stream, name):
    (experiment,) = catalogue.experiments([name])
    parts = experiment.report(computed(experiment, rows=30))
    assert sum(isinstance(part, Verdict) for part in parts) == 4
    for part in parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.head) for row in part.rows)
        if isinstance(part, Figure):
            assert len(part.draw().axes) == 6


def test_showing_nothing_is_a_yardstick_for_every_learner(stream, monkeypatch):
    _, Y = stream
    (experiment,) = catalogue.experiments(["p3/figure2"])
    results = computed(experiment, rows=30)
    relevant = Y[:30].nnz / 30
    rows = report.variants(results).rows
    assert [rows[0][1], rows[0][4]] == [f"{relevant / 2:.2f}", f"{relevant:.2f}"]
    # In another order, other rows are the first.
    shuffled = Y[np.random.default_rng(0).permutation(ROWS)[:30]].nnz / 30
    assert rows[2][4] == f"{shuffled:.2f}" != rows[0][4]
    sweep = Sweep(results)
    monkeypatch.setattr(Sweep, "nothing", lambda self, panel: 0.0)
    slots = ", ".join(map(str, sweep.slots))
    text = report.yardstick(sweep)
    assert "**Showing nothing beats every learner with partial feedback**" in text
    assert f"in ℓ(a,c) at S = {slots}; Hamming loss at S = {slots};" in text
    monkeypatch.setattr(Sweep, "nothing", lambda self, panel: 100.0)
    assert report.yardstick(sweep).endswith("beats showing nothing at every S in all losses.")


@pytest.mark.parametrize("name", game.GAMES)
def test_a_cell_agrees_with_the_library(stream, name):
    X, Y = stream
    learner: dict[str, Any] = {"loss": "logistic", "radius": 2.0, "exploration": 0.1}
    settings = {"stream": "any", "rows": 0, "game": name, "slots": [2, 0], "learner": learner}
    found = game.play(settings)
    assert (found["labels"], found["rounds"]) == (LABELS, ROWS)
    for own, slots in zip(found["slots"], (2, LABELS), strict=True):
        ranker = PartialFeedbackRanker(
            **game.GAMES[name], **learner, max_labels=slots, dtype="float32"
        ).add_labels(range(LABELS))
        played = ranker.play(X, Y)
        assert own["loss"] == pytest.approx(played.losses.mean(), abs=1e-5)
        assert own["rank"] == pytest.approx(played.partial_rank_losses.mean() / slots, abs=1e-5)
        assert own["hits"] == pytest.approx(np.mean([*map(len, played.accepted)]), abs=1e-4)
        assert own["curve"][-1] == [ROWS, pytest.approx(played.losses.mean(), abs=1e-4)]
        common = int(np.asarray(Y.sum(axis=0)).argmax())
        assert own["common"] == pytest.approx(
            np.mean([common in row for row in played.shown]), abs=1e-4
        )


@pytest.mark.parametrize("name", game.GAMES)
def test_one_run_of_obr_has_the_lists_of_every_game(stream, name):
    X, Y = stream
    found = game.obr({"stream": "any", "rows": 0, "slots": [1, 4, LABELS]})["games"][name]
    for own, slots in zip(found, (1, 4, LABELS), strict=True):
        ranker = PartialFeedbackRanker(
            **game.GAMES[name], update="full", max_labels=slots, dtype="float32"
        ).add_labels(range(LABELS))
        played = ranker.play(X, Y)
        assert own["loss"] == pytest.approx(played.losses.mean(), abs=1e-5)
        assert own["rank"] == pytest.approx(played.partial_rank_losses.mean() / slots, abs=1e-5)


def test_the_constant_game_gives_half_the_hamming_loss(stream):
    _, Y = stream
    learner: dict[str, Any] = {"loss": "square", "exploration": 0.1}
    settings = {"stream": "any", "rows": 0, "slots": [3], "learner": learner, "game": "constant"}
    (one,) = game.play(settings)["slots"]
    wrong = one["shown"] - one["hits"] + Y.sum() / ROWS - one["hits"]
    assert panel_loss(one, "constant") == pytest.approx(wrong, abs=1e-3)


def test_words_are_hashed_and_rows_shuffled(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.random((50, 300)) < 0.1, dtype=np.float32)
    Y = sp.csr_matrix(rng.random((50, 4)) < 0.5, dtype=np.int8)
    monkeypatch.setattr(streams, "load", lambda name: Stream(name, X, Y, []))
    game.load.cache_clear()
    plain, _ = game.load("debtags")
    assert plain.shape == (50, game.HASHED)
    np.testing.assert_array_equal(plain.sum(axis=1), np.asarray(X.sum(axis=1)).ravel())
    signed, _ = game.load("debtags", signed=True)
    assert signed.min() < 0
    np.testing.assert_array_equal(signed % 2, plain % 2)
    rows, labels = game.played_rows({"stream": "debtags", "rows": 20, "shuffled": True})
    assert rows.shape[0] == labels.shape[0] == 20
    order = np.random.default_rng(0).permutation(50)[:20]
    np.testing.assert_array_equal(rows, plain[order])
    np.testing.assert_array_equal(labels.toarray(), Y[order].toarray())
    game.load.cache_clear()


def test_the_best_width_has_the_lowest_mean_over_slots():
    def one(loss):
        return {"loss": loss, "rank": loss}

    cells = [
        (
            {"name": "square", "game": "constant", "learner": {"exploration": width}},
            {"slots": [one(loss) for loss in losses]},
        )
        for width, losses in ((1.0, (1, 5)), (0.1, (2, 3)))
    ]
    obr = {"rounds": 9, "labels": 3, "games": {"constant": [one(1), one(1)]}}
    sweep = Sweep(Results([({"slots": [2, 5]}, obr), *cells]))
    assert sweep.best("square", "constant") == 0.1
    assert sweep.losses("square", "constant", None) == [4, 6]
    assert sweep.losses("square", "constant") == [2, 10]
    assert sweep.losses("OBR", "constant") == [2, 2]


def test_missing_data_is_named(monkeypatch, tmp_path):
    game.load.cache_clear()
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    with pytest.raises(MissingData, match="the stream mediamill: TAGALONG_DATA is a folder"):
        game.load("mediamill")
