"""Suggestions as text are those of the encoder of JSON, to the byte."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagalong.server.api.json_forms import suggested
from tagalong.server.api.json_texts import json_bytes
from tagalong.server.api.suggestion_texts import suggestion_bytes
from tagalong.tagger import Suggestion, Suggestions

numbers = st.floats(allow_nan=False, allow_infinity=False)
shares = st.floats(0, 1)
labels = st.text(st.characters(), max_size=20) | st.integers()
one = st.builds(Suggestion, labels, numbers, shares, st.booleans(), st.booleans(), st.booleans())
many = st.builds(
    Suggestions, st.lists(one, max_size=5), shares, st.integers(0), st.booleans(), st.booleans()
)


@given(many)
def test_the_text_is_that_of_the_encoder(found: Suggestions) -> None:
    assert suggestion_bytes(found) == json_bytes(suggested(found))


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_no_number_of_json_is_never_written(wrong: float) -> None:
    found = Suggestions([Suggestion("a", wrong, 0.5, True, False)])
    with pytest.raises(ValueError, match="not JSON compliant"):
        suggestion_bytes(found)
