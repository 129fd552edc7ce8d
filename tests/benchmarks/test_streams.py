"""The benchmark streams, loaded from small files in the layouts of the real ones."""

import gzip
import lzma

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import streams

XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="warm"></label><label name="b lue"></label></labels>"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(streams.DATA_VARIABLE, str(tmp_path))
    return tmp_path


def mulan(folder, name: str, data: str, xml: str = XML):
    place = folder / "mulan" / name
    place.mkdir(parents=True)
    (place / f"{name}.xml").write_text(xml)
    with gzip.open(place / f"{name}-train.arff.gz", "wt") as out:
        out.write(data)
    return streams.load(name)


def test_dense_arff_with_nominal_attributes(folder):
    text = """@relation r
@attribute size numeric
@attribute 'b lue' {0,1}
@attribute shape {round, square,oval}
@attribute flag {0,1}
@attribute warm {0,1}

@data
% a comment
1.5,0,square,1,1
-2,1,round,0,0
"""
    stream = mulan(folder, "flags", text)
    # Columns are in the order of their first occurrence; missing numbers are 0.
    expected = np.array([[1.5, 1, 1, 0], [-2, 0, 0, 1]], dtype=np.float32)
    np.testing.assert_array_equal(sp.csr_matrix(stream.X).toarray(), expected)
    np.testing.assert_array_equal(stream.Y.toarray(), [[1, 0], [0, 1]])
    assert stream.labels == ["warm", "b lue"]


def test_newsgroups_have_three_header_lines(folder):
    (folder / "newsgroups").mkdir()
    path = folder / "newsgroups" / "20newsgroups-train.tab.xz"
    posts = [f"{'ab'[row % 2]}\tword {['left', 'right'][row % 2]}\n" for row in range(8)]
    with lzma.open(path, "wt") as out:
        out.writelines(["Category\tText\n", "d\tstring\n", "class\t\n", "\n", *posts])
    stream = streams.load("newsgroups")
    assert (stream.rows, stream.features, stream.labels) == (8, 3, ["a", "b"])
    np.testing.assert_array_equal(stream.Y.sum(axis=0), [[4, 4]])


def test_missing_data_is_named(folder, monkeypatch):
    with pytest.raises(streams.NoData, match=r"no rcv1/rcv1sub1\.npz"):
        streams.load("rcv1")
    with pytest.raises(streams.NoData, match="choose from debtags"):
        streams.load("nothing")
    monkeypatch.delenv(streams.DATA_VARIABLE)
    with pytest.raises(streams.NoData, match="TAGALONG_DATA is not set"):
        streams.load("mediamill")


def test_other_orders_and_parts_of_a_stream(folder):
    count = 30
    X = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    Y = np.eye(3, dtype=np.int8)[np.arange(count) % 3]
    np.savez(folder / "mediamill.npz", X_train=X, y_train=Y, X_test=X[:4], y_test=Y[:4])
    shuffled = streams.load("mediamill-shuffled")
    order = (np.asarray(shuffled.X)[:, 0] // 2).astype(int)
    assert sorted(order) == list(range(count))
    assert list(order) != list(range(count))
    np.testing.assert_array_equal(shuffled.Y.toarray(), Y[order])
    np.testing.assert_array_equal(streams.load("mediamill-test").X, X[:4])
