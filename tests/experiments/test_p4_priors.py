"""P4: reversed correlations, and animals without images, on their real table of attributes."""

import os
from pathlib import Path

import numpy as np
import pytest

from experiments.experiment import Results
from experiments.p4 import animals, peers, reversal, sets, table3, zero_shot
from tagalong import ZeroShot, attribute_prior

AWA = Path(os.environ.get("TAGALONG_DATA", ""), "awa", "predicate-matrix-binary.txt")


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.6])
def test_correlations_are_reversed_at_the_same_frequencies(rho):
    Y = reversal.draw_labels(20_000, rho, np.random.default_rng(0))
    np.testing.assert_allclose(Y.mean(axis=0), reversal.FREQUENCY, atol=0.02)
    np.testing.assert_allclose(np.corrcoef(Y.T), reversal.correlation_matrix(rho), atol=0.03)


def test_the_gain_is_that_of_the_best_C_of_each_method():
    loss = {"right 0": [[5.0, 7.0], [4.0, 4.0]], "right 1": [[3.0, 3.0], [9.0, 9.0]]}
    assert reversal.gain({"loss": loss}, "right 1") == (1.0, 0.0)


def test_a_subset_is_shifted_if_it_is_twice_as_far_as_a_random_one():
    def cells(shifted):
        return Results(
            [
                ({"set": "a", "share": table3.SHIFTED}, {"distance": shifted}),
                ({"set": "a", "share": 1.0}, {"distance": 0.1}),
                ({"set": "animals", "share": table3.SHIFTED}, {"distance": 0.1}),
            ]
        )

    assert table3.is_shifted(cells(0.2), "a")
    assert not table3.is_shifted(cells(0.19), "a")
    assert table3.is_shifted(cells(0.1), "animals")


@pytest.mark.skipif(not AWA.is_file(), reason=f"needs TAGALONG_DATA/awa/{AWA.name}")
def test_animals_without_images_are_named_by_their_attributes():
    """The paper's 40 and 10 classes; generated features with less noise than the experiment's."""
    animals.table.cache_clear()
    (A, names, attributes), new = animals.table(), animals.is_test()
    assert A.shape == (50, 85)
    assert len(attributes) == 85
    assert new.sum() == len(animals.TEST) == 10
    X, Y, X_test, Y_test = animals.images(200, 200, seed=0, spread=0.5, noise=1.0)
    classes = [name for name, test in zip(names, new, strict=True) if test]
    truth = zero_shot.class_of(Y_test, A[new], classes)
    assert set(truth) == set(animals.TEST)
    part = sets.Part(sets.with_constant(sets.unit_rows(X)), Y * 1.0)
    model = peers.m3l(part, C=0.3, prior=attribute_prior(A[new]), tol=0.1)
    scores = model.decision_function(sets.with_constant(sets.unit_rows(X_test)))
    recalls = ZeroShot(A[new], classes).accuracy(scores, truth)
    assert set(recalls) == set(animals.TEST)
    assert np.mean(list(recalls.values())) > 0.7
