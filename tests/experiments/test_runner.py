"""Cells run in processes, are stored one by one, and are not run again."""

import json
import os
import re
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from experiments import code, runner, store
from experiments.experiment import Cell, Experiment, Form, MissingData, Results
from tagalong.distributed.workers import ExecutorWorkers

HERE = "tests.experiments.test_runner"


def square(settings):
    if settings.get("absent"):
        raise MissingData("the number: it is missing")
    if settings.get("broken"):
        raise ValueError("that number is broken")
    with open(settings["log"], "a") as log:
        log.write(f"{settings['x']}\n")
    return {"square": settings["x"] ** 2}


def experiment(cells, name="p0/table1"):
    return Experiment(name, "a test", lambda form: cells, lambda results: [], lambda form: "")


def own_cell(log, x, **more):
    return Cell(f"{HERE}:square", {"x": x, "log": str(log), **more})


@pytest.fixture
def threads(monkeypatch):
    """Threads in place of processes, because processes take seconds to start."""

    def local_threads(jobs):
        return ExecutorWorkers(lambda: ThreadPoolExecutor(jobs), jobs)

    monkeypatch.setattr(runner, "local_workers", local_threads)


@pytest.fixture
def places(tmp_path):
    return tmp_path / "log", tmp_path / "cells.jsonl", tmp_path / "results"


def run(cells, places, lines=None, full=False, **more):
    _, journal, results = places
    lines = [] if lines is None else lines
    failed = runner.run(
        [experiment(cells)],
        Form(full),
        jobs=1,
        journal=store.Journal(journal, results),
        results=results,
        log=lines.append,
        **more,
    )
    return failed, lines


def read_results(folder: Path) -> tuple[dict[str, Any], Results]:
    found = store.read_results("p0/table1", folder)
    assert found is not None
    return found


def test_results_have_settings_seconds_and_what_made_them(places):
    log, journal, results = places
    failed, lines = run([own_cell(log, 3), own_cell(log, 4), own_cell(log, 3)], places)
    assert failed == []
    assert lines[0].startswith("quick form: 2 cells, 2 to run")
    head, found = read_results(results)
    assert [result for _, result in found.cells] == [{"square": 9}, {"square": 16}]
    assert found.cells[0][0]["x"] == 3
    assert head["form"] == "quick"
    assert head["made"] == [store.made_here(own_cell(log, 3))]
    assert head["made"][0]["machine"] == store.machine()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", head["made"][0]["date"])
    assert head["made"][0]["code"] == code.digest(f"{HERE}:square")
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    assert all(record["seconds"] >= 0 and record["settings"]["x"] for record in records)


class Interrupted(list[str]):
    """A log that simulates Ctrl-C after the second cell."""

    def append(self, line):
        super().append(line)
        if line.startswith("[2/"):
            raise KeyboardInterrupt


@pytest.mark.usefixtures("threads")
def test_an_interrupted_run_is_resumed(places):
    log, journal, results = places
    with pytest.raises(KeyboardInterrupt):
        run([own_cell(log, x) for x in (1, 2, 5)], places, Interrupted())
    assert not store.results_path("p0/table1", results).exists()
    # An interrupted writer may have left an incomplete line.
    text = journal.read_text()
    assert text.count("\n") == 2
    journal.write_text(text + text[: len(text) // 4])
    log.write_text("1\n2\n")
    failed, lines = run([own_cell(log, 1), own_cell(log, 2), own_cell(log, 5)], places)
    assert failed == []
    assert "3 cells, 1 to run" in lines[0]
    assert log.read_text().split() == ["1", "2", "5"]
    _, found = read_results(results)
    assert [result["square"] for _, result in found.cells] == [1, 4, 25]
    # The lines after the incomplete one are readable.
    assert "3 cells, 0 to run" in run([own_cell(log, x) for x in (1, 2, 5)], places)[1][0]
    run([own_cell(log, 1)], places, again=True)
    assert log.read_text().split() == ["1", "2", "5", "1"]


class AtOnce(Executor):
    """An executor that runs submitted work immediately."""

    def submit(self, work, /, *args, **options):
        future: Future[Any] = Future()
        future.set_result(work(*args, **options))
        return future


def test_cells_that_finish_together_keep_their_order(places, monkeypatch):
    monkeypatch.setattr(runner, "local_workers", lambda jobs: ExecutorWorkers(AtOnce, jobs))
    log, journal, _ = places
    run([own_cell(log, x) for x in (3, 1, 2, 5, 4)], places)
    records = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [record["settings"]["x"] for record in records] == [3, 1, 2, 5, 4]


@pytest.mark.usefixtures("threads")
def test_cells_run_again_after_a_code_change(places, monkeypatch):
    log = places[0]
    run([own_cell(log, 1)], places)
    assert "1 cells, 0 to run" in run([own_cell(log, 1)], places)[1][0]
    monkeypatch.setattr(code, "digest", lambda run: "changed")
    assert store.state("p0/table1", places[2]) == "quick, by older code"
    assert "1 cells, 1 to run" in run([own_cell(log, 1)], places)[1][0]
    monkeypatch.undo()
    assert "1 cells, 0 to run" in run([own_cell(log, 1)], places)[1][0]


@pytest.mark.usefixtures("threads")
def test_cells_run_again_if_a_golden_answer_changed_but_not_for_new_ones(places, monkeypatch):
    cells = [own_cell(places[0], 1)]
    golden = {"m3l/linear": "a", "m3l/rbf": "b"}
    monkeypatch.setattr(code, "golden", lambda run: golden)
    run(cells, places)
    golden = {**golden, "m3l/new": "c"}
    assert "1 cells, 0 to run" in run(cells, places)[1][0]
    golden = {**golden, "m3l/rbf": "changed"}
    assert "1 cells, 1 to run" in run(cells, places)[1][0]
    del golden["m3l/linear"]
    assert "1 cells, 1 to run" in run(cells, places)[1][0]


@pytest.mark.usefixtures("threads")
def test_a_run_resumes_from_the_results_alone(places):
    log, journal, _ = places
    run([own_cell(log, x) for x in (1, 2)], places)
    journal.unlink()
    found = run([own_cell(log, x) for x in (1, 2, 3)], places)[1]
    assert "3 cells, 1 to run" in found[0]
    assert log.read_text().split() == ["1", "2", "3"]


@pytest.mark.usefixtures("threads")
def test_an_interrupted_full_form_is_kept_beside_the_quick_results(places):
    """Another copy of the repository, without the journal, resumes from the unfinished cells."""
    log, journal, results = places
    full = [own_cell(log, x) for x in (7, 8, 9)]
    run([own_cell(log, 1)], places)
    with pytest.raises(KeyboardInterrupt):
        run(full, places, Interrupted(), full=True)
    head, found = read_results(results)
    assert (head["form"], len(found.cells)) == ("quick", 1)
    assert store.read_unfinished("p0/table1", results) == (2, 3)
    assert store.state("p0/table1", results) == "quick, full: 2 of 3"
    journal.unlink()
    log.write_text("1\n7\n8\n")  # the third cell may have begun
    assert "full form: 3 cells, 1 to run" in run(full, places, full=True)[1][0]
    head, found = read_results(results)
    assert (head["form"], len(found.cells)) == ("full", 3)
    assert [result["square"] for _, result in found.cells] == [49, 64, 81]
    assert store.read_unfinished("p0/table1", results) is None
    assert log.read_text().split() == ["1", "7", "8", "9"]


@pytest.mark.usefixtures("threads")
def test_the_quick_form_does_not_replace_full_results(places):
    log, _, results = places
    run([own_cell(log, 7)], places, full=True)
    lines = run([own_cell(log, 1)], places)[1]
    assert lines[-1] == "p0/table1: the results of the full form are kept"
    assert read_results(results)[0]["form"] == "full"


@pytest.mark.usefixtures("threads")
def test_missing_data_is_named_and_left_out(places):
    log, _, results = places
    failed, lines = run([own_cell(log, 1), own_cell(log, 2, absent=True)], places)
    assert failed == []
    assert any("skipped, the number: it is missing" in line for line in lines)
    head, found = read_results(results)
    assert len(found.cells) == 1
    assert head["skipped"] == ["the number: it is missing"]


@pytest.mark.usefixtures("threads")
def test_a_failed_cell_keeps_the_old_results(places):
    log, _, results = places
    run([own_cell(log, 1)], places)
    before = store.results_path("p0/table1", results).read_text()
    failed, lines = run([own_cell(log, 2), own_cell(log, 3, broken=True)], places)
    assert len(failed) == 1
    assert "ValueError: that number is broken" in failed[0]
    assert "p0/table1: results not written, because 1 of 2 cells are missing" in lines
    assert store.results_path("p0/table1", results).read_text() == before
    # The result of the cell that did not fail is kept.
    assert (
        "2 cells, 1 to run" in run([own_cell(log, 2), own_cell(log, 3, broken=True)], places)[1][0]
    )


@pytest.mark.usefixtures("threads")
def test_workers_use_one_thread_and_the_environment_is_restored(places, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    run([own_cell(places[0], 1)], places)
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ


def test_a_cluster_computes_the_same_results(places):
    """Workers of a Dask cluster find the code of a cell in their working directory."""
    distributed = pytest.importorskip("distributed")
    log, _, results = places
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        cells = [own_cell(log, 3), own_cell(log, 4, absent=True), own_cell(log, 5)]
        address = cluster.scheduler_address
        failed, lines = run(cells, places, scheduler=address)
    assert failed == []
    assert lines[0].endswith(f"3 to run, by the workers of {address}")
    _, found = read_results(results)
    assert [result["square"] for _, result in found.cells] == [9, 25]


def test_a_scheduler_that_is_not_there_is_named(places):
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="nonsense: not the address of a scheduler"):
        run([own_cell(places[0], 1)], places, scheduler="nonsense")
