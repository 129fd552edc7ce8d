"""``coef_`` and ``intercept_`` explain the scores of every learner that has them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from tagalong import SharedLabelRanker
from tests.contract.learners import CUTOFF, GROW, LEARNERS, RACE, LearnerCase, for_learners_with
from tests.contract.stream import N_FEATURES, N_LABELS, Stream, make_stream
from tests.online.custom_features import Affinity
from tests.weights import dense_coef

Array = npt.NDArray[Any]

with_coef = [
    learner
    for learner in LEARNERS
    # A learner with a kernel has no weights, and those of a race are approximate.
    if "kernel" not in learner.name and RACE not in learner.capabilities
]


def narrow_stream(rows: slice) -> Stream:
    """Return rows of a stream in which the last six features are always 0."""
    stream = make_stream().part(rows)
    X = stream.X.toarray()
    X[:, -6:] = 0
    return Stream(sp.csr_array(X), stream.Y)


def probe_rows() -> Array:
    """Return rows that also have the features never seen, and a row without any."""
    X = make_stream(seed=7, rows=12).X.toarray()
    X[0] = 0
    X[1], X[1, -3:] = 0, 1
    return X


def normalized(model: Any, X: Array) -> Array:
    """Return the rows as the model normalises them."""
    if not getattr(model, "normalize", False):
        return X
    largest = "entropic" in vars(model).values() or getattr(model, "norm", "l2") in ("l1", "group")
    lengths = np.abs(X).max(axis=1) if largest else np.linalg.norm(X, axis=1)
    return X / np.where(lengths == 0, 1, lengths)[:, None]


def products_with_coef(model: Any, X: Array, learnt: list[Stream]) -> Array:
    """Return the scores of rows, computed from the weights and the documented features."""
    weights = dense_coef(model)
    if not isinstance(model, SharedLabelRanker):
        return normalized(model, X) @ weights.T + getattr(model, "intercept_", 0.0)
    features: Any = model.features or Affinity(
        rare=0.0 if model.geometry == "entropic" else -1.0,
        common=1.0 if model.geometry == "entropic" else 2.0,
    )
    names = list(range(N_LABELS))
    if isinstance(features, Affinity):
        features = Affinity(features.often, features.seldom, features.common, features.rare)
        for stream in learnt:
            for pair, labels in zip(stream.pairs(), stream.numbers(), strict=True):
                features.learn(pair, labels)
    out = np.zeros((len(X), N_LABELS))
    for i, row in enumerate(X):
        (present,) = np.nonzero(row)
        found = features.rows((present.astype(np.int32), row[present]), names)
        columns = found.indices
        known = columns < len(weights)  # beyond coef_ a feature has no weight
        values = np.zeros(len(columns))
        values[known] = found.data[known] * weights[columns[known]]
        ends = zip(found.indptr[:-1], found.indptr[1:], strict=True)
        out[i] = [values[start:end].sum() for start, end in ends]
    return out


def assert_explained(model: Any, learnt: list[Stream]) -> None:
    X = probe_rows()
    tolerance = 1e-9 if model.dtype == "float64" else 1e-4
    scores = model.decision_function(X)
    expected = products_with_coef(model, X, learnt)
    np.testing.assert_allclose(scores, expected, rtol=tolerance, atol=tolerance)


@for_learners_with(among=with_coef)
@pytest.mark.parametrize("rows", [1, 3, 60])
def test_coef_explains_the_scores(learner: LearnerCase, rows: int) -> None:
    """After few rows and after many, also of features that no row had."""
    model = learner.make()
    stream = narrow_stream(slice(0, rows))
    model.partial_fit(stream.X, stream.Y)
    assert_explained(model, [stream])


@for_learners_with(among=with_coef)
def test_coef_explains_the_scores_of_features_that_came_later(learner: LearnerCase) -> None:
    model = learner.make()
    first, second = narrow_stream(slice(0, 30)), make_stream().part(slice(30, 60))
    model.partial_fit(first.X, first.Y)
    model.partial_fit(second.X, second.Y)
    assert_explained(model, [first, second])


@for_learners_with(GROW, CUTOFF, among=with_coef)
def test_coef_explains_the_scores_after_changes_of_labels(learner: LearnerCase) -> None:
    """Labels without weights, and the certificate counted anew."""
    model = learner.make()
    stream = narrow_stream(slice(0, 40))
    model.add_labels(range(N_LABELS))
    for x, labels in zip(stream.pairs(), stream.numbers(), strict=True):
        model.learn_one(x, labels)
    model.forget_labels([])
    model.partial_fit(stream.X[:1], stream.Y[:1])
    assert_explained(model, [stream, stream.part(slice(0, 1))])


def test_every_declared_feature_of_the_simplex_has_a_weight() -> None:
    ranker = SharedLabelRanker(geometry="entropic", n_features=N_FEATURES)
    stream = narrow_stream(slice(0, 40))
    ranker.partial_fit(stream.X, stream.Y)
    weights = ranker.coef_
    assert weights.shape == (N_FEATURES,)
    assert (weights > 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-5)
