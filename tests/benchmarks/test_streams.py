"""The readers of benchmarks/ on small files in the layouts of the real ones."""

import gzip
import lzma

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import debtags, streams

XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="warm"></label><label name="b lue"></label></labels>"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(streams.VARIABLE, str(tmp_path))
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
    expected = np.array([[1.5, 0, 1, 0, 1], [-2, 1, 0, 0, 0]], dtype=np.float32)
    np.testing.assert_array_equal(sp.csr_matrix(stream.X).toarray(), expected)
    np.testing.assert_array_equal(stream.Y.toarray(), [[1, 0], [0, 1]])
    assert stream.labels == ["warm", "b lue"]


def test_sparse_arff(folder):
    text = """@relation r
@attribute one {0,1}
@attribute kind {x,y}
@attribute three numeric
@attribute four numeric
@attribute five numeric
@attribute warm {0,1}
@attribute 'b lue' {0,1}
@data
{0 1,2 2.5,6 1}
{1 y, 5 1}
{}
"""
    stream = mulan(folder, "medical", text)
    expected = np.array(
        [[1, 1, 0, 2.5, 0, 0], [0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]], dtype=np.float32
    )
    np.testing.assert_array_equal(stream.X.toarray(), expected)
    np.testing.assert_array_equal(stream.Y.toarray(), [[0, 1], [1, 0], [0, 0]])


def test_a_label_without_an_attribute_is_named(folder):
    with pytest.raises(ValueError, match="b lue, warm"):
        mulan(folder, "scene", "@attribute a numeric\n@data\n1\n")


def test_newsgroups_have_three_header_lines(folder):
    (folder / "newsgroups").mkdir()
    path = folder / "newsgroups" / "20newsgroups-train.tab.xz"
    posts = [f"{'ab'[row % 2]}\tword {['left', 'right'][row % 2]}\n" for row in range(8)]
    with lzma.open(path, "wt") as out:
        out.writelines(["Category\tText\n", "d\tstring\n", "class\t\n", "\n", *posts])
    stream = streams.load("newsgroups")
    assert (stream.rows, stream.features, stream.labels) == (8, 3, ["a", "b"])
    np.testing.assert_array_equal(stream.Y.sum(axis=0), [[4, 4]])


def test_what_is_missing_is_named(folder, monkeypatch):
    with pytest.raises(streams.NoData, match=r"no rcv1/rcv1sub1\.npz"):
        streams.load("rcv1")
    with pytest.raises(streams.NoData, match="there are debtags"):
        streams.load("nothing")
    monkeypatch.delenv(streams.VARIABLE)
    with pytest.raises(streams.NoData, match="set TAGALONG_DATA"):
        streams.load("mediamill")


def dump() -> str:
    short = (
        "Package: p{0}\nVersion: 1\nDescription: the game {1}\nTag: role::{{a,\n b}}, use::{1}\n"
    )
    packages = [short.format(row, "chess" if row % 2 else "go") for row in range(60)]
    packages[0] = "Package: p0\nDescription: short\n rare but\n long\nTag: special::one\n"
    packages.append("Package: untagged\nDescription: the game\n")
    return "\n".join(packages)


def test_debtags_from_a_package_index(monkeypatch, folder):
    monkeypatch.setattr(debtags, "dumpavail", dump)
    stream = streams.load("debtags")
    assert stream.labels == ["role::a", "role::b", "use::chess", "use::go"]
    assert stream.rows == 59
    assert stream.features == 4
    np.testing.assert_array_equal(stream.Y.sum(axis=0), [[59, 59, 30, 29]])
    again = streams.load("debtags")
    np.testing.assert_array_equal(stream.X, again.X)


def test_long_descriptions_are_used():
    fields = next(debtags.paragraphs(dump()))
    assert fields["Description"] == "short\nrare but\nlong"
    fields["Description-en"] = "short\nand longer than what was there"
    assert "longer" in debtags.tagged([fields])["p0"][0]


def test_no_index_says_what_to_run(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(debtags.NoPackageIndex, match="apt-get -o Acquire::Languages=en update"):
        debtags.build()
    with pytest.raises(debtags.NoPackageIndex, match="0 tagged packages"):
        debtags.vectorise({})
