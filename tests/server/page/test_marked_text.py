"""Tests of texts in pieces with contributions, also against a naive twin."""

import math
import re
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagalong import Item, Tagger
from tagalong.features import TextFeatures
from tagalong.learning.feature_items import FeatureItem
from tagalong.server.page import marked_text as module
from tagalong.server.page.marked_text import MarkedText, Piece, marked_text
from tagalong.server.page.shown_lengths import shown_lengths
from tagalong.server.page.visible_text import visible
from tagalong.tagger.suggestions import Explanation

ANY = st.characters(exclude_categories=())
LETTERS = (
    "ab XY éÉßİ Ωσ 09 अक्षर 한국 東京 ひｶﾞ ไทย ﬁ ℀´ שלום عربي — _-'<&>|=:\n\r\t😀 e\u0301"
    "\x00\x1b\u200b\u200d\u202e\u2066\u2028\ufeff\ud83d\ude00\udc00"
)
texts = st.text(ANY, max_size=30) | st.text(LETTERS, max_size=60)
field_names = st.sampled_from(["", "title", "body", "a | b", "x:y"]) | st.text(ANY, max_size=5)
value_names = st.sampled_from(["size", "a", "a | b", "title:a", "ab=09 | a"]) | texts
items = st.builds(
    lambda text, features: Item(text=text, features=features),
    texts | st.dictionaries(field_names, texts, max_size=3),
    st.dictionaries(value_names, st.sampled_from([1, -2.5, "a", "b | a", ["a", "b"]]), max_size=2),
)
settings = st.fixed_dictionaries(
    {
        "words": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
        "chars": st.sampled_from([None, (2, 3)]),
        "backoff": st.booleans(),
        "lowercase": st.booleans(),
        "buckets": st.sampled_from([None, 2, 16, 2**20]),
    }
)
Mark = tuple[str, str, int, float, dict[str, float]]
limits = st.integers(0, 80) | st.just(20_000)


def explained(item: Item, features: TextFeatures) -> Explanation:
    """Return an explanation with all features of an item, and contributions 1, 2, 3, ..."""
    names = features.describe(item, match=True)
    parts = [(name, float(value)) for value, name in enumerate(names, 1)]
    return Explanation("label", 0.0, 0.0, tuple(reversed(parts)))


def all_pieces(marked: MarkedText) -> list[Piece]:
    return [piece for field in marked.fields for piece in field.pieces]


def texts_of(item: Item) -> dict[str, str]:
    if isinstance(item.text, str):
        return {"": item.text} if item.text else {}
    return dict(item.text)


@given(items, settings, limits)
@example(Item(text="x" * 100_000), {}, 20_000)
@example(Item(text="a" + "\u0301" * 5000), {}, 100)
def test_the_pieces_are_the_shown_text(item, parameters, limit):
    features = TextFeatures(**parameters)
    marked = marked_text(item, explained(item, features), features, limit)
    whole = texts_of(item)
    lengths = shown_lengths(whole, limit)
    assert [field.name for field in marked.fields] == list(whole)
    for field in marked.fields:
        assert field.text == whole[field.name][: lengths[field.name]]
        assert field.left_out == len(whole[field.name]) - len(field.text)
        assert all(piece.text for piece in field.pieces)
        unmarked = [piece.value is None for piece in field.pieces]
        assert not any(a and b for a, b in pairwise(unmarked))
    assert marked.left_out == sum(map(len, whole.values())) - sum(lengths.values())
    assert sum(lengths.values()) <= limit


@given(items, settings, limits)
def test_every_part_has_a_place_or_is_a_value_or_hidden(item, parameters, limit):
    features = TextFeatures(**parameters)
    explanation = explained(item, features)
    with patch.object(module, "LEAST_SHARE", 0.0):
        marked = marked_text(item, explanation, features, limit)
    placed = {part for piece in all_pieces(marked) for part in piece.parts}
    rest = [*marked.values, *marked.hidden]
    assert placed.isdisjoint(rest)
    assert placed | set(rest) == set(explanation.parts)
    assert len(placed) + len(rest) == len(explanation.parts)
    if marked.left_out == 0:
        assert not marked.hidden


@given(items, settings)
def test_without_named_values_every_part_has_a_place(item, parameters):
    item = Item(text=item.text)
    features = TextFeatures(**parameters)
    with patch.object(module, "LEAST_SHARE", 0.0):
        marked = marked_text(item, explained(item, features), features)
    signs_in_names = any(" | " in field for field in texts_of(item))
    assert not marked.hidden
    assert signs_in_names or not marked.values


@given(items, settings, limits)
def test_numbers_of_a_piece(item, parameters, limit):
    features = TextFeatures(**parameters)
    explanation = explained(item, features)
    marked = marked_text(item, explanation, features, limit)
    pieces = [piece for piece in all_pieces(marked) if piece.value is not None]
    largest = max((abs(piece.value or 0.0) for piece in pieces), default=0.0)
    for piece in pieces:
        assert piece.value == math.fsum(value for _, value in piece.parts)
        sizes = [abs(value) for _, value in piece.parts]
        assert sizes == sorted(sizes, reverse=True)
        assert len(set(piece.names)) == len(piece.names)
        assert piece.strength == max(1, math.ceil(3 * abs(piece.value) / largest))
        assert piece.places >= 1
    assert all(
        (piece.parts, piece.strength, piece.places) == ((), 0, 0)
        for piece in all_pieces(marked)
        if piece.value is None
    )


@given(items, limits)
def test_the_shown_text_can_be_sent(item, limit):
    features = TextFeatures()
    for field in marked_text(item, explained(item, features), features, limit).fields:
        shown = "".join(visible(piece.text) for piece in field.pieces)
        assert len(shown) == len(field.text)
        shown.encode()


def naive_names(words: list[str], parameters: dict[str, Any]) -> list[set[str]]:
    """Return the features that each word of a plain English text is part of, without the field."""
    found: list[set[str]] = [set() for _ in words]
    least, most = parameters["words"]
    for first in range(len(words)):
        for n in range(least, most + 1):
            if first + n <= len(words):
                for at in range(first, first + n):
                    found[at].add(" ".join(words[first : first + n]))
    if parameters["chars"]:
        least, most = parameters["chars"]
        for at, word in enumerate(words):
            padded = f" {word} "
            for n in range(least, most + 1):
                found[at] |= {f"~{padded[i : i + n]}" for i in range(len(padded) - n + 1)}
    return found


def naive_marks(item: Item, explanation: Explanation, parameters: dict[str, Any]) -> list[Mark]:
    """Return the marked words of an English item as (field, text, start, value, features)."""
    contributions = dict(explanation.parts)
    marks = []
    for field, text in texts_of(item).items():
        matches = list(re.finditer("[a-z0-9]+", text.lower()))
        all_names = naive_names([match[0] for match in matches], parameters)
        for match, names in zip(matches, all_names, strict=True):
            full = {f"{field}:{name}" for name in names}
            if parameters["backoff"]:
                full |= names
            mine = {name: contributions[name] for name in full if name in contributions}
            if mine:
                marks.append((field, match[0], match.start(), math.fsum(mine.values()), mine))
    least = 0.05 * max((abs(mark[3]) for mark in marks), default=0.0)
    return [mark for mark in marks if mark[3] != 0 and abs(mark[3]) >= least]


def marks_of(marked: MarkedText) -> list[Mark]:
    found = []
    for field in marked.fields:
        start = 0
        for piece in field.pieces:
            if piece.value is not None:
                parts = dict(piece.parts)
                found.append((field.name, piece.text.lower(), start, piece.value, parts))
            start += len(piece.text)
    return found


WORDS = ("invoice", "paid", "flight", "hotel", "May", "June", "2024", "please", "the", "Bank")
english = st.lists(st.sampled_from(WORDS), max_size=12).map(", ".join)
mails = st.fixed_dictionaries({"subject": english, "body": english}).map(lambda t: Item(text=t))


LEARNT_FIELDS = Item(text={"subject": "the invoice", "body": "please pay the invoice"})


@given(
    st.lists(st.tuples(mails, st.sampled_from(["money", "travel", "home"])), max_size=4),
    mails,
    st.fixed_dictionaries(
        {
            "words": st.sampled_from([(1, 1), (1, 2), (2, 3)]),
            "chars": st.sampled_from([None, (2, 3)]),
            "backoff": st.booleans(),
        }
    ),
)
def test_marked_words_are_those_of_the_explanation(learnt, item, parameters):
    """A learnt model gives the same marks as a naive twin, in the same places."""
    tagger = Tagger(features=TextFeatures(buckets=None, **parameters))
    tagger.learn(LEARNT_FIELDS, ["money"])
    for each, label in learnt:
        tagger.learn(each, [label])
    explanation = tagger.explain(item, "money")
    marked = marked_text(item, explanation, tagger.features)
    expected = naive_marks(item, explanation, parameters)
    assert [mark[:3] for mark in marks_of(marked)] == [mark[:3] for mark in expected]
    for found, naive in zip(marks_of(marked), expected, strict=True):
        assert found[3] == pytest.approx(naive[3], abs=1e-12)
        assert found[4] == naive[4]
    assert marked.values == marked.hidden == ()


def test_a_word_in_several_places_counts_once():
    features = TextFeatures(words=(1, 2))
    explanation = Explanation("a", 3.0, 0.0, (("pay", 2.0), ("bill pay", 1.0)))
    (field,) = marked_text("Pay bill pay", explanation, features).fields
    assert field.pieces == (
        Piece("Pay", 2.0, (("pay", 2.0),), 2, 2),
        Piece(" "),
        Piece("bill", 1.0, (("bill pay", 1.0),), 1, 2),
        Piece(" "),
        Piece("pay", 3.0, (("pay", 2.0), ("bill pay", 1.0)), 3, 2),
    )


def test_small_and_cancelled_values_are_not_marked():
    parts = (("large", -1.0), ("up", 0.5), ("up down", -0.5), ("least", 0.05), ("less", 0.049))
    features = TextFeatures(words=(1, 2))
    (field,) = marked_text("large, up, less, least", Explanation("a", 0, 0, parts), features).fields
    assert [(p.text, p.value, p.strength) for p in field.pieces if p.value is not None] == [
        ("large", -1.0, 3),
        ("up", 0.5, 2),
        ("least", 0.05, 1),
    ]
    (field,) = marked_text("large up down", Explanation("a", 0, 0, parts), features).fields
    assert [p.text for p in field.pieces if p.value is not None] == ["large", "down"]


def test_words_of_fields_values_and_what_is_not_shown():
    item = Item(
        text={"subject": "Rent", "body": "the rent is due " + "x " * 50 + "soon"},
        features={"size": 3, "kind": "letter"},
    )
    features = TextFeatures()
    parts = (
        ("subject:rent", 4.0),
        ("rent", 3.0),
        ("soon", 2.0),
        ("size", 1.0),
        ("kind=letter", -1.0),
    )
    marked = marked_text(item, Explanation("home", 9.0, 0.0, parts), features, 30)
    subject, body = marked.fields
    assert subject.pieces == (Piece("Rent", 7.0, (("subject:rent", 4.0), ("rent", 3.0)), 3, 1),)
    assert [piece.text for piece in body.pieces] == ["the ", "rent", " is due x x x x x "]
    assert body.pieces[1].names == ("rent",)
    assert body.pieces[1].places == 2
    assert marked.values == (("size", 1.0), ("kind=letter", -1.0))
    assert marked.hidden == (("soon", 2.0),)
    assert marked.left_out == body.left_out == len(texts_of(item)["body"]) - 26


def test_a_value_whose_name_looks_like_joined_words_marks_no_word():
    item = Item(text={"a | b": "pay the bill"}, features={"kind": "x | bill"})
    parts = (("kind=x | bill", 2.0), ("a | b:pay", 1.0), ("the | other", 1.0))
    marked = marked_text(item, Explanation("a", 0, 0, parts), TextFeatures())
    assert [p.text for p in all_pieces(marked) if p.value is not None] == ["pay", "the"]
    assert marked.values == (("kind=x | bill", 2.0),)


def test_the_last_shown_word_is_read_whole():
    parts = (("invoices", 1.0),)
    (field,) = marked_text("invoices", Explanation("a", 0, 0, parts), TextFeatures(), 4).fields
    assert field.pieces == (Piece("invo", 1.0, parts, 3, 1),)


def test_words_of_a_field_that_is_read_as_another():
    features = TextFeatures(backoff=False).fit([Item(text={"body": "pay the bill"})])
    item = Item(text={"content": "pay now"})
    assert features.matches(item) == {"content": "body"}
    marked = marked_text(item, explained(item, features), features)
    assert [(p.text, p.names) for p in all_pieces(marked) if p.value is not None] == [
        ("pay", ("body:pay",)),
        ("now", ("body:now",)),
    ]


def test_letters_of_scripts_without_spaces():
    parts = (("東京", 2.0), ("京", 1.0))
    (field,) = marked_text("東京都", Explanation("a", 0, 0, parts), TextFeatures()).fields
    assert [(p.text, p.value) for p in field.pieces] == [("東", 2.0), ("京", 3.0), ("都", None)]


def test_items_without_words():
    parts = (("size", 1.0),)
    explanation = Explanation("a", 0, 0, parts)
    numbered = FeatureItem(numbers=np.array([7], np.int32), values=np.array([1.0]))
    for item in (numbered, {"size": 3}, Item(), ""):
        marked = marked_text(item, explanation, TextFeatures())
        assert marked.values == parts
        assert all_pieces(marked) == []


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "invoice " * 125_000,
        "a" + "\u0301" * 1_000_000,
        "שלום " * 200_000,
        "\u202e" * 1_000_000,
        "東京" * 50_000,
        "<b>&amp;" * 125_000,
    ],
    ids=["one word", "one line", "marks", "right to left", "overrides", "no spaces", "markup"],
)
def test_of_a_long_line_the_beginning_is_shown(text):
    features = TextFeatures()
    parts = tuple((name, 1.0) for name in features.describe(text[:100]))
    (field,) = marked_text(text, Explanation("a", 0, 0, parts), features).fields
    assert field.text == text[: len(field.text)]
    assert len(field.text) == 20_000
    assert field.left_out == len(text) - 20_000
