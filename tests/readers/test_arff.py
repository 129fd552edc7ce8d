"""ARFF: dense and sparse rows, choice of labels, errors, writing."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from tagalong.readers import Item, ReadError, read, write
from tests.readers.in_memory import error, found, items, written

DATA = os.environ.get("TAGALONG_DATA")
SETS = {
    "yeast/yeast": ((1500, 917), 103, 14),
    "scene/scene": ((1211, 1196), 294, 6),
    "emotions/emotions": ((391, 202), 72, 6),
    "flags/flags": ((129, 65), 19, 7),
    "medical/medical": ((333, 645), 1449, 45),
    "bibtex/bibtex": ((4880, 2515), 1836, 159),
    "tmc2007/tmc2007-500": ((21519, 7077), 500, 22),
}
HEADER = """% a comment
@RELATION 'a set'
@attribute "the size" numeric
@attribute colour {red, 'dark blue', "it's"}
@attribute on {0,1}
@Attribute\tnote string
@attribute 'label a' {0,1}
@attribute labelb {1,0}

@data
"""


def test_dense_rows() -> None:
    rows = "1.5,'dark blue',1,'a, b\\n\\'c\\'',0,1\n% x\n0,?,0,?,1,0\n?, red ,1,\"?\",?,1,{2.5}\n"
    assert items(HEADER + rows, "arff", labels=2) == [
        Item("", "a, b\n'c'", {"the size": 1.5, "colour": "dark blue", "on": 1.0}, ("labelb",)),
        Item("", "", {}, ("label a",)),
        Item("", "?", {"colour": "red", "on": 1.0}, None, 2.5),
    ]


def test_omitted_cells_of_sparse_rows() -> None:
    rows = "{0 2, 1 \"it's\",3 'some text'}\n{}\n{ 5 0 , 4 1 }, {0.5}\n{1 ?,5 ?}\n"
    assert items(HEADER + rows, "arff", labels=2) == [
        Item("", "some text", {"the size": 2.0, "colour": "it's"}, ("labelb",)),
        Item("", "", {"colour": "red"}, ("labelb",)),
        Item("", "", {"colour": "red"}, ("label a",), 0.5),
        Item("", "", {}, None),
    ]


def test_choice_of_label_attributes(tmp_path: Path) -> None:
    rows = "@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n1,1,1\n"
    plain, meka = "@relation x\n" + rows, "@relation 'x: -C 1'\n" + rows
    assert items(plain, "arff", labels=1)[0].labels == ("c",)
    assert items(plain, "arff", labels=-2)[0].labels == ("a", "b")
    assert items(plain, "arff", labels=0)[0].labels is None
    assert items(meka, "arff")[0].labels == ("a",)
    assert items(meka.replace("-C 1", "-C -2"), "arff")[0].labels == ("b", "c")
    assert items(meka, "arff", labels=1)[0].labels == ("c",)
    assert "does not say which attributes are labels" in error(plain, "arff")
    assert "4 labels are requested, but there are 3" in error(plain, "arff", labels=4)
    (tmp_path / "set-train.arff").write_text(meka)
    (tmp_path / "set.xml").write_text('<labels xmlns="urn:x"><label name="b"/></labels>')
    assert next(read(tmp_path / "set-train.arff")).labels == ("b",)
    other = tmp_path / "other"
    other.write_text('<labels><label name="a"><label name="c"/></label></labels>')
    assert next(read(tmp_path / "set-train.arff", xml=str(other))).labels == ("a", "c")
    other.write_text("<labels>\n  <label>\n</labels>")
    with pytest.raises(ReadError, match=r"other:3: .*mismatched tag at column 3$"):
        next(read(tmp_path / "set-train.arff", xml=str(other)))
    for text in ("<labels/>", "<labels>", "", '<labels><label name="z"/></labels>'):
        other.write_text(text)
        with pytest.raises(ReadError, match="other"):
            next(read(tmp_path / "set-train.arff", xml=str(other)))


@pytest.mark.parametrize(
    "row, problem",
    [
        ("1,red,1", "3 values, but there are 6"),
        ("x,red,1,a,0,0", "'the size' must be a number, not 'x'"),
        ("inf,red,1,a,0,0", "inf"),
        ("1,green,1,a,0,0", "'green' is not a value of the attribute 'colour'"),
        ("1,red,2,a,0,0", "'2' is not a value"),
        ("1,red,1,'a,0,0", "quote"),
        ("1,red,1,'a'b,0,0", "quote"),
        ("{0 1", "must end with"),
        ("{9 1}", "no attribute 9"),
        ("{x 1}", "'x 1'"),
        ("{0}", "'0'"),
        ("{0 1,}", "''"),
        ("{0 1}, {x}", "weight"),
        ("1,red,1,a,0,0,{-1}", "weight"),
    ],
)
def test_error_names_the_line_and_reading_continues(row: str, problem: str) -> None:
    seen = found(f"{HEADER}{{0 1}}\n{row}\n{{0 2}}\n", "arff", labels=2)
    assert [each.place for each in seen if isinstance(each, Item)] == ["f:11", "f:13"]
    assert str(seen[1]).startswith("f:12: ")
    assert problem in str(seen[1])


@pytest.mark.parametrize(
    "header, problem",
    [
        ("", "f:0: the file ends before @data"),
        ("@relation x\n", "f:1: the file ends before @data"),
        ("@relation x\n@data\n", "f:2: @data comes before"),
        ("@relation x\nhello\n", "f:2: expected @relation, @attribute or @data"),
        ("@attribute x\n", "f:1: expected '@attribute NAME TYPE', not '@attribute x'"),
        ("@attribute x {a,b\n", "f:1: attribute 'x': the list of values must end"),
        ("@attribute x {}\n", "f:1: attribute 'x': the list of values is empty"),
        ("@attribute x relational\n", "f:1: attribute 'x' has the type 'relational'"),
        ("@attribute x string\n@data\n", "f:2: the label 'x' must have the type"),
    ],
)
def test_invalid_header(header: str, problem: str) -> None:
    assert error(header, "arff", labels=1).startswith(problem)


def test_long_lines_of_spaces_and_quotes_are_fast() -> None:
    row = "'a'" + " " * 1_000_000 + "x"
    assert "quote" in error(f"@attribute a string\n@data\n{row}\n", "arff", labels=0)
    row = "{" + " " * 1_000_000 + "'"
    assert "must end" in error(f"@attribute a string\n@data\n{row}\n", "arff", labels=0)


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6).filter(bool), st.sampled_from("abc"), st.sampled_from("01")),
        min_size=1,
        max_size=5,
    )
)
def test_agrees_with_scipy(rows: list[tuple[float, str, str]]) -> None:
    text = "@relation x\n@attribute n numeric\n@attribute c {a,b,c}\n@attribute y {0,1}\n@data\n"
    text += "".join(f"{n!r},{c},{y}\n" for n, c, y in rows)
    theirs, _ = scipy_arff.loadarff(io.StringIO(text))
    ours = items(text, "arff", labels=1)
    assert [(i.features["n"], i.features["c"]) for i in ours] == [
        (float(row["n"]), row["c"].decode()) for row in theirs
    ]
    assert [i.labels for i in ours] == [("y",) if row["y"] == b"1" else () for row in theirs]


@pytest.mark.skipif(DATA is None, reason="TAGALONG_DATA is not set")
@pytest.mark.parametrize("name", SETS)
def test_mulan_data_sets(name: str) -> None:
    counts, n_features, n_labels = SETS[name]
    features: set[str] = set()
    labels: set[str] = set()
    parts = ("test", "train")[: 1 if counts[0] > 4000 else 2]  # large sets take seconds
    for part, count in zip(parts, counts[::-1], strict=False):
        seen = list(read(f"{DATA}/mulan/{name}-{part}.arff.gz"))
        assert len(seen) == count
        assert all(item.labels is not None for item in seen)
        features.update(*(item.features for item in seen))
        labels.update(*(item.labels or () for item in seen))
    # A few features and labels occur in no row of a part.
    assert 0.99 * n_features <= len(features) <= n_features
    assert len(labels) == n_labels


@pytest.mark.parametrize(
    "given_items, problem",
    [
        ([Item("", "", {"a": 1.0}, ("a",))], "distinct names"),
        ([Item("", "", {"a": 1.0}), Item("", "", {"a": "x"})], "item 2 .*'a'"),
        ([Item("", "", {"a": "x"}), Item("", "", {"a": 1.0})], "item 2 .*'a'"),
        ([Item("", "", {"a": "1"})], "numbers"),
        ([Item("", "", {"": 1.0})], "empty name"),
    ],
)
def test_unwritable_items_raise(given_items: list[Item], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        written(given_items, "arff")


def test_written_files_need_no_side_file(tmp_path: Path) -> None:
    given_items = [
        Item("", {"": "it's\n100% \\ {x}, {2}", "s": "a"}, {"n": 2.0, "c": "?"}, ("x y", "'")),
        Item("", {"s": "?"}, {"c": "red"}, None, 3.0),
        Item("", {}, {}, ()),
    ]
    write(given_items, tmp_path / "a.arff.xz")
    assert [file.name for file in tmp_path.iterdir()] == ["a.arff.xz"]
    seen = list(read(tmp_path / "a.arff.xz"))
    assert seen[0].text == {"": "it's\n100% \\ {x}, {2}", "s": "a"}
    assert [(i.features, i.labels, i.weight) for i in seen] == [
        (i.features, i.labels, i.weight) for i in given_items
    ]
