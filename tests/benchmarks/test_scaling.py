"""The scaling curves: streams, exponents, ranges, and the quick form."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import scaling


def test_generated_streams_have_the_described_statistics():
    stream = scaling.planted(300, labels=500, nnz=40, features=2000)
    assert stream.X.shape == (300, 2000)
    assert stream.Y.shape == (300, 500)
    assert 25 <= stream.nnz <= 40
    assert 3 <= stream.Y.nnz / stream.rows <= 4
    assert set(np.unique(stream.X.data)) == set(np.unique(stream.Y.data)) == {1}
    # Zipf: the most frequent label has a seventh of the draws, and most labels are rare.
    counts = np.sort(stream.Y.getnnz(axis=0))[::-1]
    assert counts[0] > 20 * np.median(counts)
    again = scaling.planted(300, labels=500, nnz=40, features=2000)
    assert abs(sp.csr_matrix(stream.X) - sp.csr_matrix(again.X)).nnz == 0
    assert abs(stream.Y - again.Y).nnz == 0


def test_rows_have_irrelevant_labels_even_if_labels_are_few():
    stream = scaling.planted(50, labels=10, features=100, nnz=10)
    assert stream.Y.getnnz(axis=1).max() <= 2


def test_a_generated_stream_can_be_learnt():
    stream = scaling.planted(600, labels=10, features=300)
    point = scaling.measure("labels", 10, "default", stream)
    assert point.any_mistake < 0.5
    assert point.features_seen <= 300
    assert point.bytes > 300 * 10 * 4


@pytest.mark.parametrize("slope", [-1.0, 0.5])
def test_exponents(slope):
    points = [
        scaling.Point("labels", size, "default", 1, 7 * size**slope, 1, 1, 1, 0)
        for size in (10, 100, 1000)
    ]
    assert scaling.exponent(points, "new") == pytest.approx(slope)


def test_ranges_of_turns():
    rates = {10: (100.0, 80.0), 1000: (1.0, 0.2)}
    points = [
        scaling.best(
            [scaling.Point("labels", size, "default", 1, r, 2 * r, 1, 1, 0) for r in turns]
        )
        for size, turns in rates.items()
    ]
    page = scaling.table(points)
    assert "| 10 | default | 100 (80 to 100) | 200 (160 to 200) |" in page
    # Sizes are two powers of ten apart. Best rates: log10(100) / 2; slower turn: log10(400) / 2.
    assert "| *exponent* | default | -1.00 (-1.30 to -1.00) | -1.00 (-1.30 to -1.00) |" in page


def test_quick_form(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(scaling, "VARIED", {"labels": (10, 50), "nnz": (10,), "features": (100,)})
    out = tmp_path / "plots" / "scaling.svg"
    assert scaling.main(["--quick", "--plot", str(out)]) == 0
    page = capsys.readouterr().out
    assert page.count("| default |") == 5  # four points and an exponent
    assert out.read_text(encoding="utf-8").count("nonzeros per row") >= 1
