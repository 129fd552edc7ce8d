"""Tests of the search of labels, with typing errors."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagalong.server.page.edit_distances import MOST_COMPARED, NameTable
from tagalong.server.page.folded_names import folded
from tagalong.server.page.label_search import LabelSearch

NAMES = """
alt.atheism comp.graphics comp.os.ms-windows.misc comp.sys.ibm.pc.hardware comp.sys.mac.hardware
comp.windows.x misc.forsale rec.autos rec.motorcycles rec.sport.baseball rec.sport.hockey sci.crypt
sci.electronics sci.med sci.space soc.religion.christian talk.politics.guns talk.politics.mideast
travel/flight travel/hotel travel/train travel/insurance travel/visa invoice invoice/paid
invoice/open invoice_reminder receipt contract contract/rent contract/work insurance/car
insurance/health insurance/home taxes/2022 taxes/2023 taxes/2024 tax-office bank bank/statement
bank/card school school/homework school/holidays kindergarten doctor dentist pharmacy recipe
recipe/cake recipe/soup newsletter newsletter/python newsletter/garden advertising spam family
family/birthday family/photos friends garden garage bicycle football music concert theatre cinema
book library museum job application application/rejected interview salary payslip meeting minutes
project project/alpha project/beta deadline review bug bug/confirmed bug/duplicate feature-request
enhancement documentation question wontfix help-wanted good-first-issue performance security
regression testing typing packaging installation build windows macos linux asyncio email http
json logging multiprocessing pathlib sqlite3 subprocess threading tkinter unittest urllib zipfile
München Köln Genève Zürich Ñandú Übersetzung 東京 Москва Αθήνα privé façade naïveté
"""
LABELS = NAMES.split()
SEARCH = LabelSearch(LABELS)

small_texts = st.text("abcé /-1", max_size=9)
any_texts = st.text(st.characters(exclude_categories=()), max_size=12)
letters = st.text("abc", max_size=8)


def naive_distance(a: str, b: str) -> int:
    """Return the optimal string alignment distance by recursion over the last characters."""
    known: dict[tuple[int, int], int] = {}

    def distance(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        if (i, j) not in known:
            found = [
                distance(i - 1, j) + 1,
                distance(i, j - 1) + 1,
                distance(i - 1, j - 1) + (a[i - 1] != b[j - 1]),
            ]
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                found.append(distance(i - 2, j - 2) + 1)
            known[i, j] = min(found)
        return known[i, j]

    return distance(len(a), len(b))


def naive_nearest(text: str, name: str) -> int:
    """Return the distance to the nearest part of a name that begins with a word."""
    form = folded(name)
    starts = [at for at, sign in enumerate(form.starts) if sign == "1"] or [0]
    return min(
        naive_distance(text, form.letters[start:end])
        for start in starts
        for end in range(start, len(form.letters) + 1)
    )


@given(letters, st.lists(small_texts, max_size=5), st.integers(0, 4))
def test_distances_are_those_of_the_naive_twin(text, names, most):
    table = NameTable([folded(name) for name in names])
    nearest = [naive_nearest(text, name) for name in names]
    whole = [naive_distance(text, folded(name).letters) for name in names]
    expected = [number for number in range(len(names)) if nearest[number] <= most]
    near = table.near(text, most)
    assert near.numbers.tolist() == expected
    assert near.nearest.tolist() == [nearest[number] for number in expected]
    assert near.whole.tolist() == [whole[number] for number in expected]
    near = table.near(text, most, only_whole=True)
    assert near.numbers.tolist() == [n for n in range(len(names)) if whole[n] <= most]


@pytest.mark.parametrize(
    "text, name, distance",
    [
        ("invoice", "invoice", 0),
        ("invioce", "invoice", 1),
        ("invoce", "invoice", 1),
        ("invoicee", "invoice", 1),
        ("inwoice", "invoice", 1),
        ("nivioce", "invoice", 2),
        ("ca", "abc", 3),
        ("", "abc", 3),
        ("東景", "東京", 1),
    ],
)
def test_distances_of_known_pairs(text, name, distance):
    near = NameTable([folded(name)]).near(text, 9, only_whole=True)
    assert near.whole.tolist() == [distance]


def test_only_the_beginnings_of_long_texts_are_compared():
    long = "ab" * MOST_COMPARED
    table = NameTable([folded(long), folded("ab" * 4)])
    assert table.near(f"x{long}", 1).numbers.tolist() == [0]
    assert table.near(f"{long}x", 0).nearest.tolist() == [0]
    assert NameTable([]).near("abc", 3).numbers.dtype == np.intp


@given(st.lists(any_texts, min_size=1, max_size=8) | st.permutations(LABELS), st.data())
def test_every_label_is_found_first_by_its_own_name(labels, data):
    label = data.draw(st.sampled_from(labels))
    assert LabelSearch(labels).search(label)[0] == label


@given(st.lists(any_texts | small_texts, max_size=8), any_texts | small_texts, st.integers(-1, 9))
def test_results_are_labels_without_repetition(labels, query, count):
    found = LabelSearch(labels).search(query, count)
    assert len(found) == len(set(found)) <= max(0, count)
    assert set(found) <= set(labels)
    assert LabelSearch(labels).search(query, 99)[: max(0, count)] == found
    similar = LabelSearch(labels).similar(query, count)
    assert len(similar) == len(set(similar)) <= max(0, count)
    assert set(similar) <= set(labels) - {query}


def inserted(name: str, at: int, letter: str) -> str:
    return name[:at] + letter + name[at:]


def deleted(name: str, at: int, letter: str) -> str:
    return name[:at] + name[at + 1 :]


def replaced(name: str, at: int, letter: str) -> str:
    return name[:at] + letter + name[at + 1 :]


def exchanged(name: str, at: int, letter: str) -> str:
    return name[:at] + name[at : at + 2][::-1] + name[at + 2 :]


ERRORS = (inserted, deleted, replaced, exchanged)
Error = Callable[[str, int, str], str]
errors = st.sampled_from(ERRORS)
long_labels = st.sampled_from([label for label in LABELS if len(label) >= 5])
typed_letters = st.sampled_from("aeinrstxyq0é-")


@given(long_labels, errors, st.integers(0, 30), typed_letters)
def test_one_typing_error_still_finds_the_label(label: str, error: Error, at: int, letter: str):
    assert label in SEARCH.search(error(label, at % len(label), letter))


@settings(max_examples=50)
@given(long_labels, errors, st.integers(0, 30), typed_letters, st.sampled_from(LABELS))
def test_a_typing_error_while_typing_leaves_the_label_in_sight(label, error, at, letter, other):
    """The first five letters, one of them wrong, are near a label with that beginning."""
    beginning = folded(label).letters[:5]
    typed = error(beginning, at % len(beginning), letter)
    assert len(typed) < 4 or label in LabelSearch([label, other]).search(typed)


@given(small_texts, st.lists(small_texts, max_size=6))
def test_case_accents_and_separators_do_not_count(query, labels):
    search = LabelSearch(labels)
    for other in (query.upper(), query.replace("é", "e\u0301"), query.replace("/", "_")):
        if query not in labels and other not in labels:
            assert search.search(other) == search.search(query)


@pytest.mark.parametrize(
    "query, found",
    [
        ("invoice", ["invoice", "invoice/paid", "invoice/open", "invoice_reminder"]),
        ("Invoice Reminder", ["invoice_reminder"]),
        ("hotel", ["travel/hotel"]),
        ("paid inv", ["invoice/paid"]),
        ("zurich", ["Zürich"]),
        ("MUNCHEN", ["München"]),
        ("facade", ["façade"]),
        ("москва", ["Москва"]),
        ("αθηνα", ["Αθήνα"]),
        ("東", ["東京"]),
        ("firstissue", ["good-first-issue"]),
        ("kndrgrtn", ["kindergarten"]),
        ("documnetaiton", ["documentation"]),
        ("zzzz", []),
    ],
)
def test_what_is_found_first(query, found):
    assert SEARCH.search(query)[: len(found) or None] == found


def test_the_order_of_kinds():
    labels = [
        "rpoject",
        "subproject",
        "new/project",
        "projects",
        "p-r-o/ject",
        "project",
        "pipe-roof-object",
        "porjetc",
        "new/porjetc",
    ]
    assert LabelSearch(labels).search("project") == [
        "project",
        "p-r-o/ject",
        "projects",
        "new/project",
        "subproject",
        "rpoject",
        "porjetc",
        "pipe-roof-object",
    ]
    assert LabelSearch(labels).search("project", 9)[8:] == ["new/porjetc"]


def test_an_empty_text_gives_the_first_labels():
    for query in ("", "  ", "-/"):
        assert SEARCH.search(query) == LABELS[:8]
    assert SEARCH.search("", 3) == LABELS[:3]
    assert LabelSearch([]).search("") == LabelSearch([]).search("abc") == []


def test_the_first_of_equal_labels_comes_first():
    assert LabelSearch(["b-1", "b-2"]).search("b") == ["b-1", "b-2"]
    assert LabelSearch(["b-2", "b-1"]).search("b") == ["b-2", "b-1"]
    assert LabelSearch(["A", "a"]).search("a") == ["a", "A"]


@pytest.mark.parametrize(
    "name, similar",
    [
        ("Invoice", ["invoice"]),
        ("invioce", ["invoice"]),
        ("invoices", ["invoice"]),
        ("hotel/travel", ["travel/hotel"]),
        ("feature request", ["feature-request"]),
        ("documnetaiton", ["documentation"]),
        ("Zurich", ["Zürich"]),
        ("invoice", []),
        ("taxes/2025", []),
        ("texas/2024", ["taxes/2024"]),
        ("boo", []),
        ("gardener", ["garden"]),
        ("politics", []),
        ("-", []),
        ("", []),
    ],
)
def test_misspelt_names(name, similar):
    assert SEARCH.similar(name) == similar


@given(long_labels, errors, st.integers(0, 30), st.sampled_from("aeinrstxyq"))
def test_a_name_with_one_error_is_similar(label, error, at, letter):
    name = error(label, at % len(label), letter)
    same_digits = [c for c in name if c.isdigit()] == [c for c in label if c.isdigit()]
    if len(folded(name).letters) >= 4 and name not in LABELS and same_digits:
        assert label in SEARCH.similar(name, 9)


@given(long_labels, st.sampled_from(LABELS))
def test_similar_names_have_few_errors(label, other):
    for found in LabelSearch([other]).similar(label + "x"):
        distance = naive_distance(folded(label + "x").letters, folded(found).letters)
        assert distance <= 2
        assert distance <= 1 or len(label) >= 7


def test_a_long_name_is_similar_only_to_the_same_letters():
    long = "very-long-name/" * 20
    search = LabelSearch([long + "a"])
    assert search.similar(long + "b") == []
    assert search.similar(long.upper() + "A") == [long + "a"]
    assert search.search(long + "b") == [long + "a"]
