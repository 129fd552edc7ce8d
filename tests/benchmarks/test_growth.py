"""Scaling of M3L and partial feedback: exponents, ranges, and the quick form."""

import itertools
import time

import pytest

from benchmarks.growth import Curve, Measured, main, plot
from benchmarks.markdown import parse_tables


def test_exponents():
    curve = Curve("method", "rows", (10, 100, 1000), lambda size: lambda: None)
    assert curve.exponent([1.0, 100.0, 10_000.0]) == pytest.approx(2.0)


def test_ranges_of_turns(tmp_path):
    curve = Curve("method", "rows", (10, 1000), lambda size: lambda: None)
    measured = Measured(curve, [[1.0, 2.0], [100.0, 150.0]])
    assert str(measured) == "10: 1 (1 to 2) s; 1,000: 100 (100 to 150) s"
    # log10(100) / 2 and log10(75) / 2: the sizes are two powers of ten apart.
    assert measured.exponent == "1.00 (0.94 to 1.00)"
    out = tmp_path / "growth.svg"
    other = Measured(Curve("method", "labels", (10, 20), lambda size: lambda: None), [[1.0], [2.0]])
    plot([measured, other], out)
    assert "method: 1.00 (0.94 to 1.00)" in out.read_text(encoding="utf-8")


def test_quick_form(capsys, monkeypatch):
    # On this clock the first size takes one second and the second size two.
    ticks = itertools.accumulate(itertools.cycle([0.0, 1.0, 0.0, 2.0]))
    monkeypatch.setattr(time, "process_time", lambda: next(ticks))
    assert main(["--quick"]) == 0
    (rows,) = parse_tables(capsys.readouterr().out)
    assert {row["varied"] for row in rows} == {"rows", "labels", "features", "labels of a game"}
    # M3L's labels grow from 10 to 30; the other sizes double.
    assert {row["exponent"] for row in rows if row["varied"] == "labels"} == {"0.63"}
    assert {row["exponent"] for row in rows if row["varied"] != "labels"} == {"1.00"}
