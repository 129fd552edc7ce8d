"""All benchmarks in one go: pages, tables, ratios, and benchmarks that fail."""

import json

import pytest

from benchmarks import __main__ as driver
from benchmarks import contest, turns
from benchmarks.machine import machine, peers
from benchmarks.markdown import table, tables
from benchmarks.turns import Times, get_ready, take_turns


def test_tables_are_read_as_they_were_written():
    page = (
        "# Head\n\n" + table(["way", "µs"], [["ours", "1.5"], ["theirs", "9"]]) + "\n\ntext | no\n"
    )
    page += "\n| a | b |\n|---|:-:|\n| 1 | |\n"
    first, second = tables(page)
    assert first == [{"way": "ours", "µs": "1.5"}, {"way": "theirs", "µs": "9"}]
    assert second == [{"a": "1", "b": ""}]


def test_ratios_are_of_turns():
    ratio = Times([8.0, 6.0, 9.0]).over(Times([2.0, 1.0, 1.0]))
    assert ratio.turns == [4.0, 6.0, 9.0]
    assert str(ratio) == "6.0 (4.0 to 9.0)"
    assert str(Times([100.0]).over(Times([3.0]))) == "33"
    assert str(Times([1.0, 2.0]).over(Times([3.0, 4.0]))) == "0.42 (0.33 to 0.5)"


def test_ways_take_turns_and_are_readied_for_each(monkeypatch):
    order, now = [], iter(range(100))
    monkeypatch.setattr(turns, "get_ready", lambda: order.append("ready"))
    ways = {"a": lambda: order.append("a"), "b": lambda: order.append("b")}
    found = take_turns(ways, 3, clock=lambda: float(next(now)))
    assert order == ["ready", "a", "ready", "b"] * 3
    assert found["a"].seconds == [1.0, 1.0, 1.0]
    assert found["a"].best == found["a"].median == 1.0


def test_getting_ready_leaves_no_garbage_and_has_touched_memory(monkeypatch):
    done = []
    monkeypatch.setattr(turns.gc, "collect", lambda: done.append("collected"))
    monkeypatch.setattr(turns.np, "ones", lambda size, dtype: done.append((size, dtype)))
    get_ready(4096)
    get_ready()
    wanted = [(size, turns.np.uint8) for size in (4096, turns.MEMORY_AT_HAND)]
    assert done == ["collected", wanted[0], "collected", wanted[1]]


def test_contestants_do_so_too_and_one_that_fails_drops_out(monkeypatch):
    order = []
    monkeypatch.setattr(contest, "get_ready", lambda: order.append("ready"))

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
    """Two benchmarks of our own, one of which breaks down."""
    package = tmp_path / "benchmarks"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "good.py").write_text("print('# Good\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |')")
    (package / "bad.py").write_text("print('half')\nraise ValueError('no such peer')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    own = {name: driver.Benchmark(name, name.title()) for name in ("good", "bad")}
    monkeypatch.setattr(driver, "BENCHMARKS", own)
    return tmp_path


def test_a_benchmark_that_fails_is_reported_and_the_others_go_on(modules, capfd):
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


def test_a_benchmark_that_is_named_replaces_its_own_section(modules):
    out = modules / "results.md"
    assert driver.main(["good", "bad", "--out", str(out)]) == 1
    (modules / "benchmarks" / "bad.py").write_text("print('whole')")
    assert driver.main(["bad", "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert page.index("### Good") < page.index("whole")
    assert "Failed" not in page


def test_the_quick_form_writes_nothing(modules):
    assert driver.main(["good", "--quick", "--out", str(modules / "results.md")]) == 0
    assert not (modules / "results.md").exists()


def test_names_are_checked(capsys):
    with pytest.raises(SystemExit):
        driver.main(["fast"])
    assert "there is no benchmark fast; there are online," in capsys.readouterr().err


def test_the_versions_of_all_peers_are_told():
    assert "liblinear-official" in peers()
    assert "vowpalwabbit" in peers()
    assert set(peers()) < set(machine())
