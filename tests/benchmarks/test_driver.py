"""The benchmark driver: pages, tables, ratios, failing benchmarks, void figures."""

import gc
import json

import numpy as np
import pytest

from benchmarks import __main__ as driver
from benchmarks import contest, turns
from benchmarks.machine import machine, peer_packages
from benchmarks.markdown import parse_tables, table
from benchmarks.turns import Times, prepare_turn, take_turns


def test_tables_survive_a_round_trip():
    page = (
        "# Head\n\n"
        + table(["method", "µs"], [["ours", "1.5"], ["theirs", "9"]])
        + "\n\ntext | no\n"
    )
    page += "\n| a | b |\n|---|:-:|\n| 1 | |\n"
    first, second = parse_tables(page)
    assert first == [{"method": "ours", "µs": "1.5"}, {"method": "theirs", "µs": "9"}]
    assert second == [{"a": "1", "b": ""}]


def test_ratios_are_computed_per_turn():
    ratio = Times([8.0, 6.0, 9.0]).over(Times([2.0, 1.0, 1.0]))
    assert ratio.turns == [4.0, 6.0, 9.0]
    assert str(ratio) == "6.0 (4.0 to 9.0)"
    assert str(Times([100.0]).over(Times([3.0]))) == "33"
    assert str(Times([1.0, 2.0]).over(Times([3.0, 4.0]))) == "0.42 (0.33 to 0.5)"


def test_methods_alternate_and_every_turn_is_prepared(monkeypatch):
    order, now = [], iter(range(100))
    monkeypatch.setattr(turns, "prepare_turn", lambda: order.append("ready"))
    methods = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    found = take_turns(methods, 3, clock=lambda: float(next(now)))
    assert order == ["ready", "a", "ready", "b"] * 3
    assert found["a"].seconds == [1.0, 1.0, 1.0]
    assert found["a"].best == found["a"].median == 1.0


def test_a_turn_is_prepared_by_collecting_garbage_and_touching_memory(monkeypatch):
    done: list[object] = []
    monkeypatch.setattr(gc, "collect", lambda: done.append("collected"))
    monkeypatch.setattr(np, "ones", lambda size, dtype: done.append((size, dtype)))
    prepare_turn(4096)
    prepare_turn()
    wanted = [(size, np.uint8) for size in (4096, turns.TOUCHED_BYTES)]
    assert done == ["collected", wanted[0], "collected", wanted[1]]


def test_contestants_alternate_and_a_failing_one_is_not_run_again(monkeypatch):
    order = []
    monkeypatch.setattr(contest, "prepare_turn", lambda: order.append("ready"))

    class Contestant:
        rows = 10

        def __init__(self, name):
            self.name = name

        def time(self):
            order.append(self.name)
            if self.name == "b":
                raise ValueError("no more memory")
            return 0.5

        def measure(self):
            return None

    a, b = contest.alternate([Contestant("a"), Contestant("b")], 2, lambda line: None)
    assert order == ["ready", "a", "ready", "b", "ready", "a"]
    assert a.seconds == [0.5, 0.5]
    assert a.best == a.median == 20
    assert b.failure == "ValueError: no more memory"


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Two small benchmarks in place of the real ones; one of them fails."""
    package = tmp_path / "benchmarks"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "good.py").write_text("print('# Good\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |')")
    (package / "bad.py").write_text("print('half')\nraise ValueError('no such peer')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    benchmarks = {name: driver.Benchmark(name, name.title()) for name in ("good", "bad")}
    monkeypatch.setattr(driver, "BENCHMARKS", benchmarks)
    return tmp_path


def test_a_failing_benchmark_is_reported_and_the_others_run(modules, capfd):
    out = modules / "results.md"
    assert driver.main(["bad", "good", "--out", str(out)]) == 1
    page = out.read_text(encoding="utf-8")
    assert "**Failed** (status 1): ValueError: no such peer" in page
    assert "half" in page
    assert "### Good" in page
    assert machine()["commit"] in page
    good, bad = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    assert [good["status"], bad["status"]] == [0, 1]
    assert good["tables"] == [[{"a": "1", "b": "2"}]]
    assert "failed: bad" in capfd.readouterr().err


def test_a_named_benchmark_replaces_only_its_section(modules):
    out = modules / "results.md"
    assert driver.main(["good", "bad", "--out", str(out)]) == 1
    (modules / "benchmarks" / "bad.py").write_text("print('whole')")
    assert driver.main(["bad", "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert page.index("### Good") < page.index("whole")
    assert "Failed" not in page


def test_report_writes_the_page_from_the_stored_results(modules):
    out = modules / "results.md"
    assert driver.main(["good", "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    out.unlink()
    assert driver.main(["--report", "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    "name, date, void",
    [
        ("m3l-linear-rcv1", "2026-11-16", True),
        ("m3l-linear-rcv1", "2026-11-17", False),
        ("text", "2026-11-16", False),
    ],
)
def test_rcv1_figures_are_void_until_they_are_measured_on_the_corrected_file(name, date, void):
    facts = {"commit": "abc", "date": date}
    section = driver.Run(name, "command", 1.0, 0, "a page", machine=facts).section
    assert ("RCV1 figures of this section are void" in section) == void


def test_the_committed_page_matches_the_committed_results():
    path = driver.FOLDER / "results.md"
    runs = driver.stored_runs(path)
    ordered = [runs[name] for name in driver.BENCHMARKS if name in runs]
    assert len(ordered) == len(runs)
    assert path.read_text(encoding="utf-8") == driver.page(ordered), "run: -m benchmarks --report"
    assert all(run.tables == parse_tables(run.page) for run in ordered)


def test_the_quick_form_writes_nothing(modules):
    assert driver.main(["good", "--quick", "--out", str(modules / "results.md")]) == 0
    assert not (modules / "results.md").exists()


def test_names_are_checked(capsys):
    with pytest.raises(SystemExit):
        driver.main(["fast"])
    assert "unknown benchmark 'fast'; choose from online," in capsys.readouterr().err


def test_the_versions_of_all_peers_are_recorded():
    assert "liblinear-official" in peer_packages()
    assert "vowpalwabbit" in peer_packages()
    assert set(peer_packages()) < set(machine())
