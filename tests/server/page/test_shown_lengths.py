"""Tests of how much of long texts is shown."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tagalong.server.page.shown_lengths import shown_lengths


@given(
    st.dictionaries(st.text(max_size=3), st.text("a\u0301\u200d\r\n😀", max_size=50), max_size=4),
    st.integers(0, 80),
)
@example({"a": "xe\u0301\u0301\u0301", "b": "aaaaaa"}, 10)
@example({"a": "aaaaa", "b": "aaaaa"}, 9)
def test_shown_lengths(texts_by_field, limit):
    lengths = shown_lengths(texts_by_field, limit)
    assert lengths.keys() == texts_by_field.keys()
    assert sum(lengths.values()) <= limit
    if sum(map(len, texts_by_field.values())) <= limit:
        assert lengths == {name: len(text) for name, text in texts_by_field.items()}
    whole = [text for name, text in texts_by_field.items() if lengths[name] == len(text)]
    cut = [text for name, text in texts_by_field.items() if lengths[name] < len(text)]
    assert all(len(short) <= len(long) for short in whole for long in cut)


@pytest.mark.parametrize(
    "text, limit, shown",
    [
        ("cafe\u0301s", 4, "caf"),
        ("a\r\nb", 2, "a"),
        ("ab👩\u200d🔬", 4, "ab"),
        ("a" + "\u0301" * 100, 50, "a" + "\u0301" * 49),
        ("abc", -1, ""),
    ],
)
def test_what_belongs_together_is_not_cut(text, limit, shown):
    assert text[: shown_lengths({"": text}, limit)[""]] == shown
