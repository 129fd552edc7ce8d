"""An example without features is fine, whether features come by name or by number."""

import pytest

from tagalong import LabelRanker


@pytest.mark.parametrize("x", [{"a": 1.0}, {3: 1.0}, ([3], [1.0])])
def test_an_empty_mapping_says_nothing_about_names(x) -> None:
    ranker = LabelRanker().add_labels(["yes", "no"])
    ranker.learn_one({}, ["yes"]).learn_one(x, ["no"]).learn_one({}, ["yes"])
    assert ranker.certificate_.rounds == 3
    assert sorted(ranker.rank_one({})) == ["no", "yes"]
