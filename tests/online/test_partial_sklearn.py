"""PartialFeedbackRanker as a scikit-learn estimator."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from tagalong import PartialFeedbackRanker

ONLINE = "learns row by row: a row of weight 2 is one step, not two rows"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": ONLINE,
    "check_sample_weight_equivalence_on_sparse_data": ONLINE,
}


@parametrize_with_checks(
    [
        PartialFeedbackRanker(),
        PartialFeedbackRanker(covariance="diagonal", exploration=0.1, dtype="float32"),
    ],
    expected_failed_checks=lambda ranker: (
        EXPECTED_FAILURES if ranker.covariance == "diagonal" else {}
    ),
)
def test_scikit_learn_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)
