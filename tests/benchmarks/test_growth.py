"""Curves of M3L and partial feedback: exponents, and the short form of the run."""

import pytest

from benchmarks.growth import Curve, main
from benchmarks.markdown import tables


def test_exponents():
    curve = Curve("way", "rows", (10, 100, 1000), lambda size: lambda: None)
    assert curve.exponent([1.0, 100.0, 10_000.0]) == pytest.approx(2.0)


def test_quick_form(capsys):
    assert main(["--quick"]) == 0
    (rows,) = tables(capsys.readouterr().out)
    assert {row["against"] for row in rows} == {"rows", "labels", "features", "labels of a game"}
    assert all(abs(float(row["exponent"])) < 5 for row in rows)
