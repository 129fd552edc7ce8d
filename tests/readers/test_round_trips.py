"""Round trips through one format, and through pairs of formats."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tagalong.readers import FORMATS, Item, read, write
from tests.readers.in_memory import items, written

letters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
any_text = st.text(letters, max_size=8)
words = st.text(st.sampled_from("abzäß日0-_.%'\"{}"), min_size=1, max_size=5)
names = st.text(st.sampled_from("abcdä日 -,;'\"\\%{}#"), min_size=1, max_size=5).map("f".__add__)
numbers = st.floats(allow_nan=False, allow_infinity=False)
not_zero = numbers.filter(bool)
weights = st.floats(0, 1e9)
labels = st.text(st.sampled_from("lmnä日 ;'\"\\%{}|#:"), max_size=4).map(lambda s: f"l{s}l")
plain_labels = st.text(st.sampled_from('lmnä日;"\\%{}'), max_size=4).map("l".__add__)


def sets_of(label: st.SearchStrategy[str], least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(label, unique=True, min_size=least, max_size=3).map(tuple)


# Items that each format can store, and options of its reader.
anything = st.builds(
    Item,
    any_text,
    any_text | st.dictionaries(any_text, any_text, max_size=3),
    st.dictionaries(any_text, numbers | any_text, max_size=3),
    st.none() | sets_of(labels),
    weights,
)
tables = st.builds(
    Item,
    any_text,
    st.fixed_dictionaries({"": any_text.filter(bool), "subject": any_text.filter(bool)}),
    st.fixed_dictionaries({}, optional={"n 1": numbers, "c,2": words.map("c".__add__)}),
    st.none() | sets_of(labels, 1),
    weights,
)
arff = st.builds(
    Item,
    st.just(""),
    st.fixed_dictionaries({"": any_text.filter(bool), "sub": any_text.filter(bool)}),
    st.fixed_dictionaries({}, optional={"n 1": not_zero, "c'2": any_text.map("c".__add__)}),
    st.none() | sets_of(st.sampled_from(["l 1", "l'2", 'l"3', "l\\4", "l,5"])),
    weights,
)
svmlight = st.builds(
    Item,
    st.just(""),
    st.just(""),
    st.dictionaries(names, numbers, min_size=1, max_size=4),
    sets_of(labels),
)
vw = st.builds(
    Item,
    words,
    st.just(""),
    st.dictionaries(words | words.map("n^".__add__), numbers, max_size=4),
    sets_of(plain_labels, 1),
    weights,
)
fasttext = st.builds(
    Item,
    st.just(""),
    st.lists(words, max_size=4).map(" ".join),
    st.just({}),
    sets_of(plain_labels, 1),
)
TABLE = {"text": ("text", "subject"), "features": ("n 1", "c,2"), "weight": "weight"}
STORABLE: dict[str, tuple[st.SearchStrategy[Item], dict[str, Any]]] = {
    "jsonl": (anything, {}),
    "csv": (tables, TABLE),
    "tsv": (tables, TABLE),
    "parquet": (tables, TABLE),
    "arff": (arff, {}),
    "svmlight": (svmlight, {}),
    "vw": (vw, {}),
    "fasttext": (fasttext, {}),
}


def test_every_writable_format_is_covered() -> None:
    assert STORABLE.keys() == {name for name, found in FORMATS.items() if found.write}


@pytest.mark.parametrize("format", STORABLE)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_round_trip(
    format: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    strategy, options = STORABLE[format]
    made = data.draw(st.lists(strategy, min_size=1, max_size=4))
    if format in ("csv", "tsv", "parquet"):
        # A column is written only if an item needs it.
        first = replace(made[0], features={"n 1": 1.0, "c,2": "x"}, labels=("l",), weight=2.0)
        made = [first, *made]
    if format == "arff":
        made = [replace(made[0], labels=("l 1",)), *made]
    path = tmp_path_factory.getbasetemp() / f"trip{FORMATS[format].extensions[0]}"
    assert write(made, path, format) == len(made)
    seen = list(read(path, **options))
    if format == "arff":  # labels are in the order of the header
        assert [set(item.labels or ()) for item in seen] == [set(i.labels or ()) for i in made]
        seen = [replace(i, labels=item.labels) for i, item in zip(seen, made, strict=True)]
    assert seen == made


SIMPLE = [
    Item("", "", {"1": 2.0, "7": -0.5}, ("a", "b")),
    Item("", "", {"7": 1e-300}, ("a",)),
    Item("", "", {"1": 123456789.125, "2": 1.0}, ("c",)),
]
NUMERIC = ["jsonl", "csv", "tsv", "parquet", "arff", "svmlight", "vw"]


@pytest.mark.parametrize("first, second", [*itertools.permutations(NUMERIC, 2)])
def test_features_through_two_formats(first: str, second: str) -> None:
    def through(format: str, given_items: list[Item]) -> list[Item]:
        columns = {"features": ("1", "2", "7"), "text": (), "labels": ("labels",)}
        options = columns if format in ("csv", "tsv", "parquet") else {}
        return items(written(given_items, format)[0], format, **options)

    assert through(second, through(first, SIMPLE)) == SIMPLE


TEXTS = [Item("", "some text", {}, ("a", "b")), Item("", "more", {}, ("c",))]
TEXTUAL = ["jsonl", "csv", "tsv", "parquet", "arff", "fasttext"]


@pytest.mark.parametrize("first, second", [*itertools.permutations(TEXTUAL, 2)])
def test_texts_through_two_formats(first: str, second: str, tmp_path: Path) -> None:
    write(TEXTS, tmp_path / "a", first)
    write(read(tmp_path / "a", first), tmp_path / "b", second)
    assert list(read(tmp_path / "b", second)) == TEXTS
