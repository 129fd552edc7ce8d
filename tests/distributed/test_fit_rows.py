"""`distributed.fit` by rows: shards that keep their rows and dual variables."""

import os
import platform
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from tagalong import M3LClassifier
from tagalong import _native as core
from tagalong.batch.m3l.losses import LabelCounts, make_costs
from tagalong.distributed import fit, row_shards
from tagalong.distributed.row_sources import load_shard
from tagalong.distributed.workers import ExecutorWorkers, local_workers, workers_of
from tagalong.learning.labels import Labels
from tests.batch.problems import data, many, priors
from tests.distributed.fit_sources import load_and_record, recorded_block
from tests.reference.m3l import dual_of

TIGHT: dict[str, Any] = {"gap": 1e-9, "max_rounds": 20, "local_passes": 20000}


def rounds_of(model):
    return model.fit_report_.rounds


def same_weights(found, expected):
    return np.array_equal(found.coef_, expected.coef_)


@pytest.mark.parametrize("density", [0.4, 1.0])  # sparse and dense storage of the rows
@pytest.mark.parametrize("prior", ["none", "diagonal", "dense", "singular"])
def test_the_dual_rises_to_the_optimum_of_a_convex_solver(threads, prior, density):
    X, Y = data(1, rows=30, columns=8, labels=4, density=density)
    R = priors(4)[prior]
    problem = dual_of(X @ X.T, 2 * Y - 1, R, C=0.5)
    optimum = problem.maximum()
    model = M3LClassifier(C=0.5, prior=R, tol=1e-5, random_state=0)
    fit(model, X, Y, threads, by="rows", shards=3, gap=5e-3, max_rounds=1000)
    duals = [each.dual for each in rounds_of(model)]
    assert len(duals) > 2
    slack = 1e-9 * optimum
    assert all(after >= before - slack for before, after in pairwise(duals))
    for each in rounds_of(model):  # the optimum lies between the two, after every round
        assert each.dual - slack <= optimum <= each.dual + each.gap + slack
    assert model.fit_report_.converged
    assert model.dual_objective_ == duals[-1] >= (1 - 5e-3) * optimum - slack


def naive_advance(X, t, low, high, b, z, sigma, passes):
    """Coordinate ascent on the bracket of one shard, as it is derived in row_shards."""
    change = np.zeros_like(b)
    for _ in range(passes):
        for i, x in enumerate(X):
            for label in range(b.shape[1]):
                own = 2 * change[:, label] @ X
                h = t[i, label] - 2 * (z[:, label] + sigma * own) @ x
                wanted = b[i, label] + change[i, label] + h / (4 * sigma * x @ x)
                change[i, label] = np.clip(wanted, low[i, label], high[i, label]) - b[i, label]
    return b + change


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 2.0, 5.0]), st.booleans())
def test_a_shard_solves_its_bracket_of_the_dual(seed, sigma, sparse):
    X, Y = data(seed, rows=12, columns=5, labels=2, density=0.6)
    X[:, 0] += 0.5  # no row of zeros
    rng = np.random.default_rng(seed)
    b = rng.random(Y.shape) * (2 * Y - 1) * 0.5
    elsewhere = rng.normal(size=(5, 2))
    labels = Labels([0, 1])
    targets = labels.encode(Y)
    scale = float(np.sqrt(sigma))
    rows = sp.csr_array(X * scale) if sparse else X * scale
    shard = row_shards.Shard(rows, targets, None, 2)
    counts = LabelCounts.of(targets.relevant, targets.unknown, 2)
    native = core.M3LSettings(
        tolerance=1e-10, most_passes=20000, threads=1, seed=0, cache_bytes=0, constant=0.0
    )
    costs = make_costs("hamming", None, 0.5, labels, counts)
    plan = row_shards.Plan(costs, None, native, scale, features=5)
    own = 2 * X.T @ b
    state = row_shards.State(b, own)
    z = own + elsewhere
    found = row_shards.advance(shard, state, z, plan, seed=1)

    t = 2 * (2 * Y - 1)
    low, high = np.where(Y == 1, 0, -0.5), np.where(Y == 1, 0.5, 0)
    expected = naive_advance(X, t, low, high, b, z, sigma, passes=500)

    def bracket(changed):
        step = changed - b
        linear = (step * (t - 2 * X @ z)).sum()
        return linear - 2 * sigma * ((X.T @ step) ** 2).sum()

    assert bracket(found.dual) == pytest.approx(bracket(expected), rel=1e-4, abs=1e-6)
    assert bracket(found.dual) >= 0
    assert found.weights == pytest.approx(2 * X.T @ found.dual, abs=1e-12)

    value, gap, violation = row_shards.evaluate(shard, found, z, plan)
    scores = X @ z
    h = t - 2 * scores
    assert value == pytest.approx((found.dual * (t - scores)).sum())
    assert gap == pytest.approx((high * np.maximum(h, 0) + low * np.minimum(h, 0)
                                 - found.dual * h).sum())  # fmt: skip
    assert violation >= 0


def test_shards_reach_what_one_machine_reaches(client):
    X, Y = many(3, 240, 80, 20, 8)
    best = M3LClassifier(tol=1e-6, max_iter=50000, random_state=0).fit(X, Y)
    model = M3LClassifier(random_state=0)
    assert fit(model, X, Y, client, by="rows", shards=2, gap=0.02, max_rounds=200) is model
    last = rounds_of(model)[-1]
    assert last.relative_gap <= 0.02
    assert last.dual <= best.dual_objective_ * (1 + 1e-6) <= (last.dual + last.gap) * (1 + 2e-6)
    assert model.classes_.tolist() == best.classes_.tolist()
    agree = (model.predict(X) == best.predict(X)).mean()
    assert agree > 0.97
    assert not hasattr(model, "dual_coef_")


def test_every_kind_of_worker_computes_the_same_bits(threads, processes):
    X, Y = many(4, 150, 60, 20, 8)
    found = [
        fit(M3LClassifier(random_state=7, constant=1.0), X, Y, each, by="rows", shards=3, gap=0.05)
        for each in (threads, processes)
    ]
    assert same_weights(found[0], found[1])
    assert np.array_equal(found[0].intercept_, found[1].intercept_)
    assert rounds_of(found[0]) == rounds_of(found[1])


def test_one_shard_is_one_machine(threads):
    X, Y = many(5, 100, 50, 20, 6)
    model = fit(M3LClassifier(tol=1e-6, random_state=0), X, Y, threads, "rows", shards=1, **TIGHT)
    one = M3LClassifier(tol=1e-6, max_iter=20000, random_state=0).fit(X, Y)
    assert model.dual_objective_ == pytest.approx(one.dual_objective_, rel=1e-6)


def test_costs_weights_and_priors_are_those_of_all_rows(threads):
    X, Y = data(6, rows=60, columns=10, labels=4)
    Y[:20, 1] = np.nan
    weights = np.linspace(0.2, 2, 60)
    choices: list[dict[str, Any]] = [
        {"class_weight": "balanced"},
        {"loss": {"miss": 2.0, "false_alarm": 0.5}},
        {"prior": "cooccurrence"},
        {"loss": "prior", "prior": np.eye(4) + 0.1},
    ]
    for options in choices:
        chosen: dict[str, Any] = {
            "tol": 1e-5,
            "random_state": 0,
            "C": 0.5,
            "constant": 0.5,
            **options,
        }
        best = M3LClassifier(max_iter=50000, **chosen).fit(X, Y, weights)
        model = M3LClassifier(**chosen)
        fit(model, X, Y, threads, "rows", sample_weight=weights, shards=3, gap=1e-2)  # fmt: skip
        assert model.dual_objective_ == pytest.approx(best.dual_objective_, rel=0.011)
        assert model.dual_objective_ <= best.dual_objective_ + best.duality_gap_


def test_labels_are_those_of_all_shards(threads):
    X, _ = data(7, rows=12)
    Y = [["c"], ["b"], [], ["c"], ["a", "b"], ["b"], ["d"], ["d"], ["a"], [], ["b"], ["c"]]
    one = M3LClassifier(random_state=0, max_iter=5000).fit(X, Y)
    model = fit(M3LClassifier(random_state=0), X, Y, threads, "rows", shards=4, gap=0.1)
    assert model.classes_.tolist() == one.classes_.tolist() == ["a", "b", "c", "d"]
    y = np.array(["x", "y", "z"])[[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]]  # one class per shard
    chosen: dict[str, Any] = {"random_state": 0, "class_weight": {"x": 3.0}, "constant": 1.0}
    model = fit(M3LClassifier(**chosen), X, y, threads, "rows", shards=3, max_rounds=500)
    best = M3LClassifier(max_iter=50000, **chosen).fit(X, y)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.dual_objective_ == pytest.approx(best.dual_objective_, rel=0.011)


def test_columns_that_never_occur_have_no_weights(threads):
    X, Y = many(8, 80, 40, 4, 5)
    wide = sp.hstack([X, sp.csr_matrix((80, 10**6))], format="csr")
    model = fit(M3LClassifier(random_state=0), wide, Y, threads, "rows", shards=2, gap=0.1)
    assert model.n_features_in_ == 40 + 10**6
    assert len(model.weights_by_feature()["features"]) <= 40
    assert model.decision_function(wide).shape == (80, 4)


def write_files(folder, X, Y, parts):
    paths = []
    for number, rows in enumerate(np.array_split(np.arange(X.shape[0]), parts)):
        part = sp.csr_array(X[rows])
        path = Path(folder, f"part{number}.npz")
        np.savez(path, X_data=part.data, X_indices=part.indices, X_indptr=part.indptr,
                 X_shape=part.shape, Y=Y[rows])  # fmt: skip
        paths.append(str(path))
    return paths


def test_files_are_loaded_by_workers_only(processes, threads, tmp_path):
    X, Y = many(9, 120, 50, 6, 6)
    paths = write_files(tmp_path, X, Y, 4)
    found = fit(M3LClassifier(random_state=0), paths, None, processes, "rows", shards=2,
                load=load_and_record, gap=0.05)  # fmt: skip
    loaded_by = {int(mark.suffix[1:]) for mark in tmp_path.glob("*.npz.*")}
    assert len(list(tmp_path.glob("*.npz.*"))) == 4
    assert os.getpid() not in loaded_by
    in_memory = fit(M3LClassifier(random_state=0), X, Y, threads, "rows", shards=2, gap=0.05)
    assert same_weights(found, in_memory)


def test_svmlight_files(threads, tmp_path):
    lines = ["a,b 0:1 3:0.5", "b 1:1", "a 0:1 2:2", "c 1:0.5 2:1"]
    for number in range(2):
        text = "\n".join(lines[2 * number : 2 * number + 2]) + "\n"
        (tmp_path / f"{number}.svm").write_text(text)
    paths = [tmp_path / "0.svm", tmp_path / "1.svm"]
    X, Y = load_shard(paths[0])
    assert X.toarray().tolist() == [[1, 0, 0, 0.5], [0, 1, 0, 0]]
    assert Y == [("a", "b"), ("b",)]
    model = fit(M3LClassifier(random_state=0), paths, None, threads, "rows", max_rounds=300)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.n_features_in_ == 4  # the second file has three columns


def test_dask_arrays_stay_on_the_workers(dask_client, threads, tmp_path):
    da = pytest.importorskip("dask.array")
    X, Y = data(10, rows=60, columns=8, labels=3)
    blocks = da.from_array(X, chunks=(20, 4)).map_blocks(
        recorded_block, str(tmp_path), dtype=X.dtype, meta=np.empty((0, 0))
    )
    targets = da.from_array(Y, chunks=(15, 2))
    chosen: dict[str, Any] = {"gap": 0.05, "max_rounds": 300}
    model = fit(M3LClassifier(random_state=0), blocks, targets, dask_client, "rows", shards=2,
                **chosen)  # fmt: skip
    processes = {int(mark.name) for mark in tmp_path.iterdir()}
    assert processes
    assert os.getpid() not in processes
    assert model.fit_report_.parts == 2
    assert rounds_of(model)[-1].relative_gap <= 0.05
    with pytest.raises(TypeError, match="so Y must be one, too"):
        fit(M3LClassifier(), blocks, Y, dask_client, "rows")
    with pytest.raises(ValueError, match="X has 60 rows but Y has 30"):
        fit(M3LClassifier(), blocks, targets[:30], dask_client, "rows")
    with pytest.raises(TypeError, match="client must be a dask"):
        fit(M3LClassifier(), blocks, targets, threads, "rows")


@pytest.mark.parametrize("kind", ["files", "memory"])
def test_dask_workers_that_are_killed_between_rounds_change_no_bit(mortal, threads, tmp_path, kind):
    """Both workers of the first rounds are lost, one after the other."""
    X, Y = many(11, 120, 50, 6, 6)
    rows: tuple[Any, Any] = (write_files(tmp_path, X, Y, 2), None) if kind == "files" else (X, Y)
    chosen: dict[str, Any] = {"by": "rows", "shards": 2, "gap": 1e-6, "max_rounds": 5}
    with pytest.warns(ConvergenceWarning):
        expected = fit(M3LClassifier(random_state=0), rows[0], rows[1], threads, **chosen)

    def kill_one(each):
        if each.number in (2, 3):
            mortal.kill()

    with pytest.warns(ConvergenceWarning):
        found = fit(M3LClassifier(random_state=0), rows[0], rows[1], mortal.client, **chosen,
                    on_round=kill_one)  # fmt: skip
    assert same_weights(found, expected)
    assert rounds_of(found) == rounds_of(expected)


def test_the_prior_is_sent_once_and_not_with_each_call(processes, monkeypatch):
    X, Y = data(16, labels=4)
    arguments: list[Any] = []
    real = ExecutorWorkers.submit

    def noted(self, function, *args):
        if function in (row_shards.advance, row_shards.evaluate):
            arguments.extend(args)
        return real(self, function, *args)

    monkeypatch.setattr(ExecutorWorkers, "submit", noted)
    model = M3LClassifier(random_state=0, prior=np.eye(4))
    with pytest.warns(ConvergenceWarning):
        fit(model, X, Y, processes, "rows", shards=2, max_rounds=1)
    assert arguments
    assert not any(isinstance(each, row_shards.Plan) for each in arguments)


def test_paths_of_files(tmp_path, monkeypatch):
    """They are those of the client, whatever the working directory of a worker is."""
    X, Y = many(9, 120, 50, 6, 6)
    write_files(tmp_path, X, Y, 2)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    chosen: dict[str, Any] = {"by": "rows", "shards": 2, "gap": 0.05}
    with ProcessPoolExecutor(1, get_context("spawn"), os.chdir, (str(elsewhere),)) as client:
        monkeypatch.chdir(tmp_path)
        paths = sorted(path.name for path in Path().glob("*.npz"))
        found = fit(M3LClassifier(random_state=0), paths, None, client, **chosen)
        several = Path().glob("part[01].npz")
        again = fit(M3LClassifier(random_state=0), several, None, client, **chosen)
        assert found.n_features_in_ == again.n_features_in_ == 50
        message = rf"shard 1, on {platform.node()}: .*No such file.*/nowhere\.npz"
        with pytest.raises(ValueError, match=message):
            fit(M3LClassifier(), [paths[0], "nowhere.npz"], None, client, **chosen)
        with pytest.raises(ValueError, match="X has no sources"):
            fit(M3LClassifier(), Path().glob("*.nothing"), None, client, by="rows")


def test_a_process_that_is_killed_between_rounds_changes_no_bit(threads, tmp_path):
    X, Y = many(12, 100, 40, 6, 6)
    chosen: dict[str, Any] = {"by": "rows", "shards": 2, "gap": 1e-6, "max_rounds": 5}
    with pytest.warns(ConvergenceWarning):
        expected = fit(M3LClassifier(random_state=0), X, Y, threads, **chosen)
    with local_workers(2) as workers:

        def kill_one(each):
            if each.number == 2:
                os.kill(workers.result(workers.submit(os.getpid)), 9)

        with pytest.warns(ConvergenceWarning):
            found = fit(M3LClassifier(random_state=0), X, Y, workers, **chosen, on_round=kill_one)
    assert same_weights(found, expected)


def test_too_few_rounds_warn_and_leave_a_model(threads):
    X, Y = many(13, 80, 40, 4, 5)
    model = M3LClassifier(random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_rounds=1: the duality gap is .* fewer shards"):
        fit(model, X, Y, threads, "rows", shards=4, max_rounds=1)
    assert not model.fit_report_.converged
    assert model.decision_function(X).shape == (80, 4)


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"kernel": "rbf"}, {}, "by='rows' needs kernel='linear', got 'rbf'"),
    ({"warm_start": True}, {}, "needs warm_start=False"),
    ({"C": -1}, {}, "C must be"),
    ({"prior": "guess"}, {}, "prior must be"),
    ({}, {"shards": 0}, "shards must be"),
    ({}, {"shards": 99}, "shards must be at most 40, the number of rows, got 99"),
    ({}, {"gap": 0.0}, "gap must be"),
    ({}, {"sigma": -2.0}, "sigma must be"),
    ({}, {"max_rounds": 0}, "max_rounds must be"),
    ({}, {"sample_weight": np.full(40, -1.0)}, "shard 0: sample_weight: row 0 is -1"),
    ({}, {"sample_weight": np.zeros(40)}, "at least one positive entry"),
]


@pytest.mark.parametrize(("parameters", "options", "message"), REFUSED)
def test_what_is_refused(threads, parameters, options, message):
    X, Y = data(14)
    model = M3LClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        fit(model, X, Y, threads, by="rows", **options)
    assert not model.is_started


def test_shards_must_agree(threads, tmp_path):
    X, Y = data(15)
    for number, columns in enumerate([12, 11]):
        np.savez(tmp_path / f"{number}.npz", X=X[:, :columns], Y=Y)
    np.savez(tmp_path / "2.npz", X=X, Y=Y[:, :3])
    np.savez(tmp_path / "3.npz", X=X)
    np.savez(tmp_path / "4.npz", X=np.full_like(X, np.nan), Y=Y)
    paths = [str(tmp_path / f"{number}.npz") for number in range(5)]
    for chosen, message in (
        ([0, 1], "shard 1 has 11 columns, but another 12"),
        ([0, 2], r"shard 1 have the columns \[0, 1, 2\]"),
        ([3], "3.npz: it must have an array 'Y'"),
        ([0, 4], "shard 1: .*row 0"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(M3LClassifier(), [paths[each] for each in chosen], None, threads, "rows",
                shards=len(chosen))  # fmt: skip
    with pytest.raises(ValueError, match="Y and sample_weight must be None"):
        fit(M3LClassifier(), paths, Y, threads, "rows")
    with pytest.raises(ValueError, match="Y must be given"):
        fit(M3LClassifier(), X, None, threads, "rows")


def test_an_executor_keeps_what_many_calls_need(workers):
    kept = workers.keep(workers.submit(abs, -3))
    assert workers.result(workers.submit(max, kept, 2)) == 3
    assert [workers.result(each) for each in workers.submit_all(max, [(kept, 5), (1, kept)])] == [
        5,
        3,
    ]
    assert workers_of(workers) is workers
