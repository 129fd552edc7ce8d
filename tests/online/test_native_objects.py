"""Results of native learners are objects with the same attributes in both precisions."""

from typing import Any

import numpy as np
import pytest

from tagalong import (
    BlockProjection,
    LabelRanker,
    PartialFeedbackRanker,
    Predtron,
    SharedLabelRanker,
)
from tagalong import _native as core
from tagalong.online.native import NativeRanker
from tests.contract.bits import native_of

X, Y = np.eye(4), [0, 1, 2, 0]
KINDS = {
    LabelRanker: core.LabelCertificate,
    SharedLabelRanker: core.SharedCertificate,
    PartialFeedbackRanker: core.PartialCertificate,
    Predtron: core.PredtronCertificate,
}
EVERY = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])
OFFERS = [name for name in vars(NativeRanker) if not name.startswith("_")]


@EVERY
@DTYPES
def test_a_certificate_is_read_only(kind: Any, dtype: str) -> None:
    certificate: Any = native_of(kind(dtype=dtype).fit(X, Y)).certificate()
    assert certificate.rounds == len(X)
    assert isinstance(certificate.cutoff, float)
    with pytest.raises(AttributeError):
        certificate.rounds = 0
    assert type(certificate) is KINDS[kind]


@EVERY
@DTYPES
def test_every_native_ranker_has_the_whole_interface(kind: Any, dtype: str) -> None:
    native = native_of(kind(dtype=dtype).fit(X, Y))
    assert len(OFFERS) > 15
    assert [name for name in OFFERS if not hasattr(native, name)] == []


def test_counts_equal_those_of_the_state() -> None:
    native = LabelRanker(race=None).fit(X, Y)._native
    certificate, numbers = native.certificate(), native.state()["numbers"]
    names = set(numbers) - {"labels"}
    reported = {name: getattr(certificate, name) for name in names if hasattr(certificate, name)}
    assert {"rounds", "mistakes", "loss", "gain", "curvature", "least_weight"} <= set(reported)
    assert reported == {name: numbers[name] for name in reported}


@DTYPES
def test_weights_have_the_precision_of_the_learner(dtype: Any) -> None:
    found = LabelRanker(dtype=dtype).fit(X, Y)._native.weights()
    assert isinstance(found, core.FeatureWeights)
    assert found.features.dtype == np.int32
    assert found.weights.dtype == dtype
    assert found.weights.shape == (len(found.features), 3)
    unseen = LabelRanker(dtype=dtype, race=None).fit(X, Y)._native.weights().unseen
    assert unseen is not None
    assert unseen.shape == (3,)


def test_weights_outlive_their_learner() -> None:
    learner = BlockProjection()
    learner.learn_block([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    expected = learner.coef_.copy()
    weights = learner._native.weights().weights
    del learner
    np.testing.assert_array_equal(np.sort(weights), np.sort(expected))


@EVERY
def test_weights_by_feature_is_a_dict_of_arrays(kind: Any) -> None:
    found = kind().fit(X, Y).weights_by_feature()
    unseen = {"unseen"} if kind is PartialFeedbackRanker else set()
    assert set(found) == {"features", "weights"} | unseen


def test_restoring_does_not_change_the_given_state() -> None:
    state = native_of(LabelRanker().fit(X, Y)).state()
    before = dict(state["numbers"])
    empty = native_of(LabelRanker().add_labels([]))
    empty.restore(state)
    assert state["numbers"] == before
