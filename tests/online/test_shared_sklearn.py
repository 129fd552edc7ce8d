"""SharedLabelRanker as a scikit-learn estimator."""

from typing import Any

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from tagalong import SharedLabelRanker
from tagalong.features import FolderAffinity
from tests.online.custom_features import Kesler

ONLINE = "learns row by row: a row of weight 2 is one step, not two rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
}


@parametrize_with_checks(
    [
        SharedLabelRanker(),
        SharedLabelRanker(update="max", dtype="float64"),
        SharedLabelRanker(Kesler(), update="optimal"),
    ],
    expected_failed_checks=lambda ranker: EXPECTED_FAILURES,
)
def test_scikit_learn_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_parameters_of_the_features_can_be_searched() -> None:
    ranker = SharedLabelRanker(features=FolderAffinity())
    ranker.set_params(features__often=0.4)
    assert clone(ranker).features.often == 0.4
    with pytest.raises(ValueError, match="Invalid parameter 'usual'"):
        ranker.set_params(features__usual=1)
