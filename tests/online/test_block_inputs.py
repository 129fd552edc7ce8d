"""Invalid blocks raise a clear error and change nothing; copies continue like the original."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import tagalong
from tagalong import BlockProjection
from tests.contract.bits import assert_same, whole
from tests.online.block_streams import PAIRS, Block, learner, random_stream
from tests.reference.blocks import BlockGeometry, Scheme

GOOD = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 1.0]])

Arguments = dict[str, Any]

REFUSED: list[tuple[Arguments, str]] = [
    ({"y": [1, 0]}, r"y: row 1 is 0; signs must be \+1 or -1"),
    ({"y": [np.nan, 1]}, r"y: row 0 is nan"),
    ({"y": [1]}, r"y must have shape \(2,\).*got \(1,\)"),
    ({"y": [[1, 1]]}, r"y must have shape \(2,\).*got \(1, 2\)"),
    ({"y": 1}, r"y must have shape"),
    ({"y": ["a", "b"]}, "a"),
    ({"X": [[1.0, np.nan, 0.0], [0.0, 1.0, 1.0]]}, "row 0, column 1 is NaN"),
    ({"X": [[1.0, 0.0, 0.0], [0.0, 1.0, -np.inf]]}, "row 1, column 2 is -?infinity"),
    ({"X": sp.csr_array([[1.0, 0.0, np.inf], [0.0, 1.0, 0.0]])}, "row 0, column 2 is infinity"),
    ({"X": [[1e200, 0.0, 0.0], [0.0, 1.0, 0.0]]}, "row 0 is too long"),
    ({"X": np.zeros((0, 3)), "y": []}, "0 sample"),
    ({"X": [1.0, 2.0, 3.0]}, "2D"),
    ({"X": [["a", "b", "c"]] * 2}, "could not convert"),
    ({"weights": [1, 0]}, r"weights: row 1 is 0; weights must be positive"),
    ({"weights": [-1, 1]}, "weights: row 0 is -1"),
    ({"weights": [1, np.nan]}, "weights: row 1 is nan"),
    ({"weights": [1, np.inf]}, "weights: row 1 is inf"),
    ({"weights": [1.0]}, r"weights must have shape \(2,\)"),
    ({"groups": [0]}, r"groups must have shape \(2,\)"),
    ({"groups": [[0, 1]]}, r"groups must have shape \(2,\)"),
]


class TestInvalid:
    @pytest.mark.parametrize(("wrong", "message"), REFUSED)
    @pytest.mark.parametrize("begun", [False, True])
    def test_raises_and_changes_nothing(self, wrong: Arguments, message: str, begun: bool) -> None:
        ours = learner("euclidean", "simproj", 1.0)
        if begun:
            ours.learn_block(GOOD, [1, -1])
        before = whole(ours)
        valid: Arguments = {"X": GOOD, "y": [1, -1]}
        with pytest.raises(ValueError, match=message):
            ours.learn_block(**(valid | wrong))
        assert_same(whole(ours), before)

    def test_another_number_of_columns(self) -> None:
        ours = learner("euclidean", "simproj", 1.0)
        ours.learn_block(GOOD, [1, -1])
        before = whole(ours)
        for X in (GOOD[:, :2], np.ones((2, 4)), sp.csr_array((2, 9))):
            with pytest.raises(ValueError, match="3 features"):
                ours.learn_block(X, [1, -1])
        assert_same(whole(ours), before)

    @pytest.mark.parametrize("groups", [[1, None], ["a", None], [None, "b"]])
    def test_groups_that_cannot_be_sorted(self, groups: list[Any]) -> None:
        ours = learner("euclidean", "simproj", 1.0)
        with pytest.raises(ValueError, match="groups"):
            ours.learn_block(GOOD, [1, -1], groups=groups)

    @pytest.mark.parametrize(
        "scheme", ["simperc", "conproj", "simproj", "simopt", "max", "optimal"]
    )
    @pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e300])
    def test_extreme_weights_raise_or_stay_finite(self, scheme: Scheme, weight: float) -> None:
        ours = learner("euclidean", scheme, 1.0)
        try:
            loss = ours.learn_block(GOOD, [1, -1], weights=[1.0, weight])
        except ValueError as error:
            message = str(error)
        else:
            certificate = ours.certificate_
            assert np.isfinite([loss, certificate.loss, certificate.dual]).all()
            assert np.isfinite(ours.coef_).all()
            return
        assert "weights: row 1" in message

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"update": "sim"}, "update"),
            ({"geometry": "round"}, "geometry"),
            ({"C": 0.0}, "C"),
            ({"C": np.nan}, "C"),
            ({"C": -1.0}, "C"),
            ({"margin": 0.0}, "margin"),
            ({"margin": np.inf}, "margin"),
            ({"dtype": "float16"}, "dtype"),
            ({"update": "simopt", "geometry": "entropic"}, "simopt"),
        ],
    )
    def test_parameters(self, params: Arguments, message: str) -> None:
        ours = BlockProjection(**params)
        with pytest.raises((ValueError, TypeError), match=message):
            ours.learn_block(GOOD, [1, -1])
        assert not hasattr(ours, "n_features_in_")

    def test_before_the_first_block(self) -> None:
        ours = BlockProjection()
        for name in ("coef_", "certificate_"):
            with pytest.raises(AttributeError, match=name):
                getattr(ours, name)
        with pytest.raises(ValueError, match=r"fitted|learnt"):
            ours.decision_function(GOOD)


class TestValid:
    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_scores_are_products_with_the_weights(
        self, geometry: BlockGeometry, scheme: Scheme
    ) -> None:
        ours = learner(geometry, scheme, 0.5)
        for block in random_stream(1, 10):
            ours.learn_block(block.X, block.y)
            before = whole(ours)
            for X in (block.X, sp.csr_array(block.X)):
                np.testing.assert_allclose(
                    ours.decision_function(X), block.X @ ours.coef_, rtol=1e-12, atol=1e-13
                )
            assert_same(whole(ours), before)

    def test_integers_booleans_frames_and_single_precision(self) -> None:
        rows = np.array([[1, 0, 1], [0, 1, 1]])
        expected = learner("euclidean", "optimal", 1.0)
        expected.learn_block(rows.astype(np.float64), [1, -1])
        forms = [rows, rows.astype(bool), rows.astype(np.float32), rows.tolist()]
        forms += [pd.DataFrame(rows, columns=["a", "b", "ß"]), sp.csc_array(rows)]
        for X in forms:
            ours = learner("euclidean", "optimal", 1.0)
            ours.learn_block(X, np.array([1, -1], dtype=np.int8), groups=["ü", "ü"])
            assert ours.coef_.tobytes() == expected.coef_.tobytes()

    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_a_block_of_empty_rows_changes_no_weights(
        self, geometry: BlockGeometry, scheme: Scheme
    ) -> None:
        ours = learner(geometry, scheme, 0.5)
        ours.learn_block(GOOD, [1, -1])
        before = ours.coef_
        margin = ours.certificate_.margin
        for X in (np.zeros((3, 3)), sp.csr_array((3, 3))):
            assert ours.learn_block(X, [1, -1, 1]) == margin
        assert ours.coef_.tobytes() == before.tobytes()
        assert ours.certificate_.mistakes >= 2


def through_a_file(model: BlockProjection, folder: Path) -> Any:
    model.save(folder / "model.tagalong")
    return tagalong.load(folder / "model.tagalong")


def pickled(model: BlockProjection, folder: Path) -> Any:
    return pickle.loads(pickle.dumps(model))


def deep_copied(model: BlockProjection, folder: Path) -> Any:
    return copy.deepcopy(model)


class TestCopies:
    @pytest.mark.parametrize("copied", [through_a_file, pickled, deep_copied])
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @pytest.mark.parametrize(("geometry", "scheme"), PAIRS)
    def test_continue_with_the_same_bits(
        self,
        geometry: BlockGeometry,
        scheme: Scheme,
        dtype: str,
        copied: Callable[[BlockProjection, Path], Any],
        tmp_path: Path,
    ) -> None:
        stream = random_stream(2, 24, sets=True, weighted=True)
        ours = learner(geometry, scheme, 0.7, dtype=dtype)

        def teach(model: BlockProjection, blocks: list[Block]) -> list[float]:
            return [model.learn_block(b.X, b.y, b.groups, b.weights) for b in blocks]

        teach(ours, stream[:12])
        other = copied(ours, tmp_path)
        assert_same(whole(other), whole(ours))
        assert teach(other, stream[12:]) == teach(ours, stream[12:])
        assert_same(whole(other), whole(ours))
        assert other.certificate_ == ours.certificate_

    def test_clone_is_unfitted(self) -> None:
        ours = learner("entropic", "optimal", 0.7)
        ours.learn_block(GOOD, [1, -1])
        fresh = clone(ours)
        assert fresh.get_params() == ours.get_params()
        fresh.learn_block(GOOD, [1, -1])
        assert fresh.coef_.tobytes() == ours.coef_.tobytes()

    def test_settings_are_fixed_at_the_first_block(self) -> None:
        """Parameters changed later do not affect a started learner."""
        ours, other = learner("euclidean", "simproj", 0.7), learner("euclidean", "simproj", 0.7)
        for t, block in enumerate(random_stream(3, 6)):
            if t == 3:
                ours.set_params(C=99.0, update="simperc")
            ours.learn_block(block.X, block.y)
            other.learn_block(block.X, block.y)
        assert ours.coef_.tobytes() == other.coef_.tobytes()
        assert ours.certificate_ == other.certificate_
