"""Tests of texts of items with visible signs."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import Environment

from tagalong.server.page.rendered_templates import FILTERS
from tagalong.server.page.visible_text import visible, visible_line

ANY = st.characters(exclude_categories=())
HOSTILE = (
    "\x00\x07\x1b\x7f\x85\r\n\t\xad\u200b\u200d\u200e\u202e\u2028\u2066\ufeff\ud800\udfff\ue000"
)
texts = st.text(ANY) | st.text(HOSTILE + "ab é")


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain text, é 東京 😀", "plain text, é 東京 😀"),
        ("a\tb\nc\r\nd", "a\tb\nc\r\nd"),
        ("over\rwritten\r", "over␍written␍"),
        ("\x00\x07\x08\x1b[2J\x7f", "␀␇␈␛[2J␡"),
        ("\x85\x9b31m", "��31m"),
        ("user\u202egnp.exe", "user▫gnp.exe"),
        ("\u2066isolated\u2069", "▫isolated▫"),
        ("zero\u200bwidth\ufeff\u2060\xad", "zero▫width▫▫▫"),
        ("line\u2028paragraph\u2029", "line▫paragraph▫"),
        ("\ud83d lone \udc00", "� lone �"),
        ("private \ue000, unassigned \u0378", "private �, unassigned �"),
        ("tags \U000e0041", "tags ▫"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("new emoji \U0001fadf", "new emoji \U0001fadf"),
        ("שלום עולם", "שלום עולם"),
        ("", ""),
    ],
)
def test_signs(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(texts)
def test_places_stay_and_nothing_is_left_that_cannot_be_seen(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert visible(shown) == shown
    shown.encode()
    kept = "\t\n\r\u200c\u200d"
    for before, after in zip(text, shown, strict=True):
        kind = unicodedata.category(after)
        assert after in kept or kind not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        if before.isprintable():
            assert after == before


@given(texts)
def test_a_return_stays_only_before_the_end_of_its_line(text: str) -> None:
    assert "\r" not in visible(text).replace("\r\n", "")


def test_templates_have_it_and_escape_its_result() -> None:
    """The text of an item is no markup, and can be sent."""
    environment = Environment(autoescape=True)
    environment.filters |= FILTERS
    template = environment.from_string("<p>{{ text|visible }}</p>")
    page = template.render(text="<script>alert(1)</script>\u202e\ud800")
    assert page == "<p>&lt;script&gt;alert(1)&lt;/script&gt;▫�</p>"


def test_titles_are_one_line_with_the_same_signs() -> None:
    assert (
        visible_line(" two\r\nlines\t\u202egnp \x1b[0m 👩\u200d🔬")
        == "two lines ▫gnp ␛[0m 👩\u200d🔬"
    )
