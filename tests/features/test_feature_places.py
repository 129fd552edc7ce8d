"""Tests of the places of features: n-grams of words, of characters, of scripts without spaces."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagalong.features import TextFeatures
from tagalong.text.feature_places import feature_places

LETTERS = "abXY éÉßİ Ωσς Жж 09 अक्षर 한국 東京 ひｶﾞ ไทย ﬁ ℀´ — _-',\n😀 e\u0301"
texts = st.text(max_size=30) | st.text(LETTERS, max_size=50)
word_ranges = st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 2), (2, 3)])
char_ranges = st.sampled_from([None, (1, 1), (2, 3), (3, 5)])


@given(texts, word_ranges, char_ranges, st.booleans())
def test_the_names_are_the_features_of_the_text(text, words, chars, lowercase):
    features = TextFeatures(words=words, chars=chars, lowercase=lowercase, buckets=None)
    places = feature_places(text, features)
    assert {name for place in places for name in place.names} == set(features.describe(text))
    assert all(len(set(place.names)) == len(place.names) for place in places)


@given(st.text("abXY éß Ωσς Жж 09 한국 東京 ひ ไทย — _-',\n😀", max_size=50), word_ranges)
@example("a a b b", (2, 2))
def test_with_another_word_in_its_places_a_feature_is_gone(text, words):
    """A feature is named at every place that it needs: the rest of the text does not have it."""
    features = TextFeatures(words=words, buckets=None)
    places = feature_places(text, features)
    for name in features.describe(text):
        rest = text
        for place in reversed(places):
            if name in place.names:
                rest = f"{rest[: place.start]} other {rest[place.end :]}"
        assert name not in features.describe(rest)


@pytest.mark.parametrize(
    "parameters, text, expected",
    [
        ({}, "Pay, pay", [(0, 3, ("pay",)), (5, 8, ("pay",))]),
        (
            {"words": (2, 2)},
            "a b a",
            [(0, 1, ("a b",)), (2, 3, ("a b", "b a")), (4, 5, ("b a",))],
        ),
        ({"words": (1, 2)}, "a 東 b", [(0, 1, ("a",)), (2, 3, ("東",)), (4, 5, ("b",))]),
        ({"chars": (2, 2)}, "aa", [(0, 2, ("aa", "~ a", "~aa", "~a "))]),
        (
            {},
            "日本",
            [(0, 1, ("日", "日本")), (1, 2, ("本", "日本"))],
        ),
    ],
)
def test_places_of_features(parameters, text, expected):
    assert feature_places(text, TextFeatures(**parameters)) == expected
