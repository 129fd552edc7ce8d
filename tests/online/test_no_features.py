"""An example without features is valid, for features by name and by number."""

import pytest

from tagalong import LabelRanker


@pytest.mark.parametrize("x", [{"a": 1.0}, {3: 1.0}, ([3], [1.0])])
def test_an_empty_mapping_fits_features_by_name_and_by_number(x) -> None:
    ranker = LabelRanker().add_labels(["yes", "no"])
    ranker.learn_one({}, ["yes"]).learn_one(x, ["no"]).learn_one({}, ["yes"])
    assert ranker.certificate_.rounds == 3
    assert sorted(ranker.rank_one({})) == ["no", "yes"]
