"""Tests of the places of words: they give the features that `TextFeatures` gives."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagalong.features import TextFeatures
from tagalong.text.word_places import tokens

LETTERS = (
    "abXY éÉßİ Ωσς Жж 09٣ अक्षर 한국 \u1100\u1161\u11a8 東京 ひｶﾞ ไทยำ ﬁ ２ ℀´ — _-',\n😀"
    "e\u0301\u0345"
)
HALVES = "\ud83d\ude00\udc00"
texts = st.text(max_size=40) | st.text(LETTERS + HALVES, max_size=60)


def names(text: str, lowercase: bool) -> set[str]:
    found = set()
    for token in tokens(text, lowercase):
        if token.is_run:
            size = len(token.text)
            found |= {token.text[i : i + n] for n in (1, 2, 3) for i in range(size - n + 1)}
        else:
            found.add(token.text)
    return found


@given(texts, st.booleans())
@example("\u1100\u1161\u11a8x" + "é" * 70, True)
@example("x" * 63 + "東" + "é" * 40, True)
@example("ｶ\uff9e a\u0345b \u0345", False)
def test_the_words_are_the_features_of_the_text(text, lowercase):
    features = TextFeatures(buckets=None, lowercase=lowercase)
    assert names(text, lowercase) == set(features.describe(text))


@given(texts, st.booleans())
def test_places_ascend_within_the_text(text, lowercase):
    places = [place for token in tokens(text, lowercase) for place in token.places]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)


@given(texts)
def test_a_place_has_the_characters_of_its_word(text):
    for token in tokens(text):
        if token.is_run:
            assert len(token.places) == len(token.text)
            continue
        ((start, end),) = token.places
        assert token.text in " ".join(TextFeatures(buckets=None).describe(text[start:end]))


def test_every_character_has_the_kind_of_the_native_core():
    """Each between digits, which compose with nothing; few of the Han characters."""
    characters = [chr(point) for point in [*range(0x3500), *range(0xA000, 0xAC10)]]
    text = " ".join(f"0{c}0" for c in characters if unicodedata.category(c) not in ("Cn", "Co"))
    assert names(text, True) == set(TextFeatures(buckets=None).describe(text))


def test_every_composed_character_is_read_from_its_parts():
    points = [*range(0x3400), *range(0xAC00, 0xAD00), *range(0xF900, 0x12000)]
    composed = [chr(point) for point in points]
    parts = [unicodedata.normalize("NFD", c) for c in composed]
    text = " ".join(part for part in parts if len(part) > 1)
    assert names(text, False) == set(TextFeatures(buckets=None, lowercase=False).describe(text))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Pay the BILL", [("pay", 0, 3), ("the", 4, 7), ("bill", 8, 12)]),
        ("ﬁne", [("fine", 0, 3)]),
        ("x℀y", [("xa", 0, 2), ("cy", 1, 3)]),
        ("cafe\u0301s", [("cafés", 0, 6)]),
        ("a´b", [("a", 0, 1), ("\u0301b", 1, 3)]),
        ("", []),
    ],
)
def test_places_of_words(text, expected):
    assert [(token.text, *token.places[0]) for token in tokens(text)] == expected


def test_letters_of_scripts_without_spaces_have_one_place_each():
    (run,) = tokens("東京。")
    assert run == ("東京", True, ((0, 1), (1, 2)))
