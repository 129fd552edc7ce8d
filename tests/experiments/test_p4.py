"""P4: small cells agree with the library, and the paper's numbers have the right sums."""

import time

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import streams
from experiments import catalogue
from experiments.experiment import Cell, Figure, Form, MissingData, Results, Table
from experiments.p4 import (
    animals,
    cutting_planes,
    figure5,
    methods,
    one_slack,
    peers,
    progress,
    sets,
    shift,
    table1,
    table2,
    table3,
    texts,
)
from tagalong import M3LClassifier
from tests.weights import dense_coef

TINY = {
    "p4/table1": {"rows": 60, "sample": 2},
    "p4/table2": {"rows": 60, "test": 40},
    "p4/table3": {"rows": 40, "test": 30, "all": 60},
    "p4/figure2": {"rows": 60, "sample": 3},
    "p4/figure3": {"rows": 60, "sample": 3},
    "p4/figure5": {"train": 30, "test": 30, "repetitions": 2},
    "p4/cutting_planes": {"rows": 40},
    "p4/reversal": {"repetitions": 2},
    "p4/zero_shot": {"rows": 40, "test": 30},
}
TIMED = ["p4/table1", "p4/table2", "p4/figure3", "p4/cutting_planes"]
"""Experiments whose reports contain times."""


def generated(rows, seed):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(rows, 12))).astype(np.float32)
    truth = np.random.default_rng(7).normal(size=(12, 5))
    Y = (X @ truth + 0.5 * rng.normal(size=(rows, 5)) > 0).astype(float)
    return X, Y


@pytest.fixture
def data(monkeypatch, tmp_path):
    """Small data sets in place of the real ones, and a generated table of animals."""
    parts = []
    for rows, seed in ((120, 0), (50, 1)):
        X, Y = generated(rows, seed)
        parts.append(sets.Part(sets.unit_rows(X), Y))
    dense = sets.Set(*parts)
    sparse = sets.Set(*(sets.Part(sp.csr_matrix(part.X), part.Y) for part in parts))
    monkeypatch.setattr(sets, "load", lambda name: sparse if name in ("rcv1", "tmc2007") else dense)
    rng = np.random.default_rng(3)
    A = (rng.random((50, 6)) < 0.5).astype(np.int8)
    names = [f"animal{place}" for place in range(40)] + list(animals.TEST)
    table = (A, names, ["black", "weak", "big", "small", "fast", "slow"])
    monkeypatch.setattr(animals, "table", lambda: table)
    monkeypatch.setattr(methods, "ROUNDS", 2)
    return dense


def computed(experiment, **change):
    """Run every cell of an experiment in this process, with some settings changed."""
    cells = [
        Cell(cell.run, {**cell.settings, **{k: v for k, v in change.items() if k in cell.settings}})
        for cell in experiment.cells(Form())
    ]
    unique = {cell.key: cell for cell in cells}.values()
    return Results([(cell.settings, cell.compute()) for cell in unique])


def reported(name):
    """Make the report of an experiment from small cells, and draw its figures."""
    (experiment,) = catalogue.experiments([name])
    parts = experiment.report(computed(experiment, **TINY[name]))
    kinds = [type(part).__name__ for part in parts]
    assert "Verdict" in kinds
    for part in parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.head) for row in part.rows)
        if isinstance(part, Figure):
            part.draw()


@pytest.mark.parametrize("name", list(TINY))
def test_reports_are_made_from_tiny_cells(data, name):
    reported(name)


@pytest.mark.parametrize("name", TIMED)
def test_reports_are_made_if_all_measured_times_are_zero(data, name, monkeypatch):
    """All work takes less than one tick of the clock."""
    monkeypatch.setattr(time, "process_time", lambda: 7.0)
    reported(name)


def test_short_times_are_not_rounded_up(monkeypatch):
    ticks = iter([0.0, 0.0004, 1.0, 1.0])
    monkeypatch.setattr(time, "process_time", lambda: next(ticks))
    assert peers.timed(lambda: "found") == (0.0004, "found")
    assert peers.timed(lambda: "found") == (peers.SHORTEST, "found")


def test_every_script_is_tested_and_full_forms_have_more_cells():
    found = catalogue.experiments(["p4"])
    assert {experiment.name for experiment in found} == set(TINY)
    for experiment in found:
        assert len(experiment.cells(Form(full=True))) >= len(experiment.cells(Form()))


def test_missing_data_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv(streams.DATA_VARIABLE, str(tmp_path))
    for name in ("mediamill", "rcv1", "yeast"):
        sets.load.cache_clear()
        with pytest.raises(MissingData, match=f"the set {name}: TAGALONG_DATA is a folder, but"):
            sets.load(name)
    animals.table.cache_clear()
    with pytest.raises(MissingData, match="the set animals:"):
        figure5.run({"repetitions": 1})


@settings(max_examples=40)
@given(st.integers(1, 8), st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 300.0]))
def test_weights_of_cuts_are_the_optimum(count, seed, total):
    rng = np.random.default_rng(seed)
    G = rng.normal(size=(count, 3))
    G[0] = 0
    H, b = G @ G.T, rng.random(count) * rng.choice([0.1, 10])
    found = one_slack.weights_of_cuts(H, b, total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)
    # Optimality on a simplex: at the optimum, no vertex has a larger linearised value.
    slope = b - H @ found
    scale = total * max(np.abs(b).max(), np.abs(H).max() * total)
    assert slope.max() * total - slope @ found <= 1e-7 * scale


@pytest.mark.parametrize("seed", range(3))
def test_cutting_planes_m3l_and_a_convex_solver_agree(seed):
    rng = np.random.default_rng(seed)
    X, Y = generated(15, seed)
    Y = Y[:, :3]
    B = rng.normal(size=(3, 3))
    R = B @ B.T + 0.1 * np.eye(3)
    found = one_slack.solve(X, Y, R, 0.7, 1e-6)
    assert found.upper - found.lower <= 1e-6 * found.upper
    model = M3LClassifier(C=0.7, prior=R, tol=1e-6, max_iter=100_000, random_state=0).fit(X, Y)
    assert model.dual_objective_ == pytest.approx(found.upper, rel=1e-5)
    np.testing.assert_allclose(
        dense_coef(model), found.weights, atol=0.02 * np.abs(dense_coef(model)).max()
    )
    # The dual of M3L: max Σ 2a − 2 Σ R (a y)ᵀ K (a y), 0 <= a <= C.
    signs = (2 * Y - 1).T.ravel()
    P = 4 * np.kron(R, X.astype(float) @ X.T.astype(float)) * np.outer(signs, signs)
    n = len(signs)
    options = clarabel.DefaultSettings()
    options.verbose = False
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(np.triu(P)),
        np.full(n, -2.0),
        sp.csc_matrix(np.vstack([np.eye(n), -np.eye(n)])),
        np.concatenate([np.full(n, 0.7), np.zeros(n)]),
        [clarabel.NonnegativeConeT(2 * n)],
        options,
    )
    assert -solver.solve().obj_val == pytest.approx(found.upper, rel=1e-5)


def test_the_most_violated_answer_is_found_without_enumeration():
    X, Y = generated(6, 4)
    signs = 2 * Y - 1
    z = np.random.default_rng(5).normal(size=(5, 12))
    every = 2 * (np.arange(32)[:, None] >> np.arange(5) & 1) - 1.0
    brute_force = sum(
        max(2 * np.sum(answer != own) - ((own - answer) * (z @ row)).sum() for answer in every)
        for row, own in zip(X.astype(float), signs, strict=True)
    )
    assert np.maximum(2 - 2 * signs * (X @ z.T), 0).sum() == pytest.approx(brute_force)


def test_one_vs_rest_is_m3l_without_a_prior(data):
    train = peers.first_rows(data.train, 60)
    for C in (0.1, 1.0):
        found = methods.one_vs_rest(train, data.test.X, C)
        assert np.mean(found != methods.m3l(train, data.test.X, C, None)) < 0.02


def test_the_gap_of_libsvm_refers_to_its_own_problem(data):
    loose = peers.libsvm(data.train, 0, "rbf", 1.0, 1.0)
    tight = peers.libsvm(data.train, 0, "rbf", 1.0, 1e-6)
    assert tight["gap"] < 1e-5 < loose["gap"]
    assert loose["dual"] < tight["dual"] < loose["dual"] * (1 + loose["gap"])
    assert tight["iterations"] > loose["iterations"]
    linear = peers.libsvm(data.train, 0, "linear", 1.0, 1e-6)
    assert 0 <= linear["gap"] < 1e-4


def test_liblinear_is_above_the_optimum_and_m3l_reaches_a_given_gap(data):
    _, excess = peers.liblinear(data.train, np.arange(5))
    assert -1e-5 < excess < 0.05
    assert peers.fit_to_gap(data.train, 10.0)[2] == peers.LOOSEST
    _, gap, tol = peers.fit_to_gap(data.train, 1e-3)
    assert gap <= 1e-3
    assert tol < peers.LOOSEST


def test_samples_have_labels_of_all_frequencies():
    Y = np.zeros((20, 7))
    for label, count in enumerate((0, 3, 20, 10, 1, 5, 7)):
        Y[:count, label] = 1
    assert peers.spread_sample(Y, None).tolist() == [3, 6, 5, 1, 4]
    assert peers.spread_sample(Y, 3).tolist() == [3, 5, 4]
    assert peers.first_rows(sets.Part(np.ones((20, 1)), Y), 4).Y.shape == (4, 2)


def test_shifted_subsets_have_other_correlations():
    rng = np.random.default_rng(0)
    both = rng.random(400) < 0.5
    Y = np.column_stack([both, both ^ (rng.random(400) < 0.1), rng.random(400) < 0.3]) * 1.0
    taken, rest = shift.draw_subset(Y, 40, 0.1, rng)
    assert len(taken) == 40
    assert sorted([*taken, *rest]) == list(range(400))
    at_random, _ = shift.draw_subset(Y, 40, 1.0, rng)
    assert shift.correlations(Y[taken])[0, 1] < -0.5 < 0.5 < shift.correlations(Y[at_random])[0, 1]
    assert shift.distance(Y[taken], Y) > 2 * shift.distance(Y[at_random], Y)
    # Brute force for one row.
    c, p = np.corrcoef(Y.T), Y.mean(axis=0)
    by_hand = sum(
        c[a, b] * (Y[5, a] - p[a]) * (Y[5, b] - p[b]) for a in range(3) for b in range(3) if a != b
    )
    assert shift.agreement(Y)[5] == pytest.approx(by_hand)


def test_priors_are_those_of_signs_and_of_correlations():
    Y = (np.random.default_rng(2).random((30, 5)) < 0.4).astype(float)
    Y[:, 0] = 0
    signs = 2 * Y - 1
    np.testing.assert_allclose(shift.prior_of(Y, "signs"), signs.T @ signs / 30)
    found = shift.prior_of(Y, "correlations")
    np.testing.assert_allclose(found[1:, 1:], np.corrcoef(Y[:, 1:].T), atol=1e-12)
    assert found[0].tolist() == [1, 0, 0, 0, 0]


def test_generated_texts_have_the_statistics_of_the_real_ones():
    rng = np.random.default_rng(0)
    real = sets.Part(
        sp.random(200, 60, density=0.2, random_state=1, format="csr"),
        (rng.random((200, 4)) < 0.3).astype(float),
    )
    # Words 0 to 9 occur only with label 0.
    rows = sp.lil_matrix(real.X)
    rows[real.Y[:, 0] == 0, :10] = 0
    real = real._replace(X=sp.csr_matrix(rows))
    found = texts.generate(real, 3000, 0)
    np.testing.assert_allclose(found.Y.mean(axis=0), real.Y.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(np.asarray(found.X.multiply(found.X).sum(axis=1)), 1, atol=1e-5)
    has = np.asarray((found.X[:, :10] != 0).sum(axis=1)).ravel()
    assert has[found.Y[:, 0] == 1].mean() > 1.5 * has[found.Y[:, 0] == 0].mean()
    again = texts.generate(real, 3000, 0)
    assert (found.X != again.X).nnz == 0


def test_generated_images_reveal_attributes(data):
    X, Y, X_test, Y_test = animals.images(300, 100, 0, spread=0.0, noise=0.1)
    assert X.shape == (300, 252)
    A, new = animals.table()[0], animals.is_test()
    assert all(any((row == kind).all() for kind in A[~new]) for row in Y)
    assert all(any((row == kind).all() for kind in A[new]) for row in Y_test)
    # Almost without noise, a linear classifier predicts the attributes of unseen animals.
    part = sets.Part(sets.with_constant(sets.unit_rows(X)), Y * 1.0)
    found = peers.m3l(part, C=10.0, tol=0.01).predict(sets.with_constant(sets.unit_rows(X_test)))
    assert np.mean(found != Y_test) < 0.1


def test_progress_is_measured_in_shares_of_the_optimum():
    def result(dual, iterations):
        side = {"dual": dual, "gap": 0.0, "iterations": iterations, "seconds": iterations / 10}
        each = {"dual": [1.0, 3.0], "iterations": [10, 30], "seconds": [0.1, 0.3]}
        return {"labels": 2, **dict.fromkeys(progress.SIDES, side), "one_by_one": each}

    results = Results([({"set": "a"}, result(2.0, 5)), ({"set": "a"}, result(4.0, 9))])
    assert progress.curve(results, "a", progress.PAPER, "iterations") == ([5, 9], [0.5, 1.0])
    assert progress.needed([5, 9], [0.5, 1.0], 0.5) == 5
    assert progress.needed([5, 9], [0.5, 1.0], 0.6) == pytest.approx(5.8)
    assert progress.needed([5, 9], [0.5, 1.0], 0.1) == 5
    assert progress.needed([5, 9, 12], [0.5, 1.0, 0.9], 0.75) == 7
    assert progress.one_by_one(results, "a", "iterations") == ([0, 10, 40], [0, 0.25, 1])


def test_best_settings_are_chosen_on_average():
    cells = [
        ({"set": "a", "share": 1}, {"loss": {"m": [3.0, 1.0]}}),
        ({"set": "a", "share": 1}, {"loss": {"m": [1.0, 4.0]}}),
    ]
    assert table3.losses(Results(cells), "m", set="a") == [3.0, 1.0]


def test_numbers_of_the_paper():
    # Sums of the columns in the paper.
    printed = np.array(list(table1.PAPER.values()))
    assert printed.sum(axis=0).tolist() == [[541, 608], [64207, 4770], [79860, 9652]]
    assert sum(dual for _, dual, _, _ in table2.PAPER) == 10_140_247
    assert [round(sum(found.values()), 2) for found in table3.PAPER.values()] == [
        *(214.72, 79.59, 38.14, 29.93, 199.6)
    ]
    assert [round(b / a) for a, b in cutting_planes.PAPER.values()] == [105, 81, 131]
