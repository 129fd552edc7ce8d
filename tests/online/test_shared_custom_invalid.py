"""Invalid custom features are named in the error, and nothing is learnt from them."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tagalong import SharedLabelRanker
from tagalong.online.shared_ranker.custom_features import CustomFeaturesRanker
from tests.contract.bits import assert_same, whole
from tests.online.custom_features import Affinity, Broken, Kesler, Table


def with_value(value: float, form: Any = np.asarray) -> Any:
    def answer(labels: int) -> Any:
        rows = np.zeros((labels, 3))
        rows[1, 2] = value
        return form(rows)

    return answer


def malformed(labels: int) -> sp.csr_array:
    rows = sp.csr_array(np.ones((labels, 3)))
    rows.indices[0] = 7
    return rows


BAD: dict[str, tuple[Any, str]] = {
    "nan": (with_value(np.nan), r"label 'b', feature 2 is NaN; values must be finite"),
    "inf": (with_value(np.inf, sp.csr_array), r"label 'b', feature 2 is infinity"),
    "-inf": (with_value(-np.inf, np.float32), r"label 'b', feature 2 is -infinity"),
    "beyond float32": (with_value(1e39), r"the row of label 'b' is too long.*scale"),
    "squares beyond float32": (with_value(1.2e19), r"the row of label 'b' is too long"),
    "too few rows": (
        lambda k: np.zeros((k - 1, 3)),
        r"shape is \(2, 3\); it must be \(3, n\), one row",
    ),
    "transposed": (lambda k: np.zeros((4, k)), r"shape is \(4, 3\)"),
    "one-dimensional": (lambda k: np.zeros(k), r"shape is \(3,\)"),
    "none": (lambda k: None, r"array or a sparse matrix of numbers, got NoneType"),
    "text": (lambda k: np.full((k, 2), "a"), r"got ndarray of type <U1"),
    "complex": (lambda k: np.ones((k, 2)) * 1j, r"got ndarray of type complex128"),
    "ragged": (lambda k: [[1], [1, 2], [3]], r"not an array"),
    "column out of range": (malformed, r"row 0 has column 7; columns must be from 0 to 2"),
}
X = np.arange(1.0, 7.0).reshape(6, 1)
Y = [["a"], ["b"], ["c"], ["a"], ["b"], ["c"]]


def trained(phi: Any) -> SharedLabelRanker:
    """A ranker that has learnt three rows; the features are invalid from the fourth on."""
    return SharedLabelRanker(phi).partial_fit(X[:3], Y[:3], ["a", "b", "c"])


@pytest.mark.parametrize("bad", BAD)
def test_invalid_features_are_named_and_nothing_is_learnt(bad: str) -> None:
    answer, message = BAD[bad]
    ranker = trained(Broken(answer, after=4))
    before = whole(ranker)
    with pytest.raises(ValueError, match=rf"^Broken\.rows, row 1: .*{message}"):
        ranker.partial_fit(X[3:], Y[3:])
    with pytest.raises(ValueError, match=rf"^Broken\.rows, x: .*{message}"):
        ranker.learn_one(([0], [5.0]), "a")
    with pytest.raises(ValueError, match=rf"^Broken\.rows, row 1: .*{message}"):
        ranker.predict(X[3:])
    with pytest.raises(ValueError, match=rf"^Broken\.rows, x: .*{message}"):
        ranker.explain_one(([0], [5.0]), "a")
    asked = {place for place in before if "asked" in place or "_block_cache" in place}
    after = whole(ranker)
    assert_same(
        {k: v for k, v in after.items() if k not in asked},
        {k: v for k, v in before.items() if k not in asked},
    )
    ranker.partial_fit(X[:1], Y[:1])  # learning continues


def test_rows_up_to_the_length_limit_are_accepted() -> None:
    """The difference of two rows is at most twice as long."""
    fits = float(np.sqrt(np.finfo(np.float32).max) / 2 * (1 - 1e-6))
    SharedLabelRanker(Table(np.array([[fits], [-fits]]))).fit([[1.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="label 0 is too long"):
        SharedLabelRanker(Table(np.array([[fits * 1.001], [0.0]]))).fit([[1.0], [1.0]], [0, 1])
    wide = SharedLabelRanker(Table(np.array([[1e150], [-1e150]])), dtype="float64")
    assert np.isfinite(wide.fit([[1.0], [1.0]], [0, 1]).coef_).all()


def test_a_declared_number_of_features_is_enforced() -> None:
    phi = Broken(lambda k: np.zeros((k, 4)), after=1)
    phi.n_features = 3  # type: ignore[attr-defined]
    ranker = SharedLabelRanker(phi).add_labels(["a", "b", "c"]).learn_one(([0], [1.0]), "a")
    with pytest.raises(ValueError, match=r"the shape is \(3, 4\); it must be \(3, 3\)"):
        ranker.learn_one(([0], [2.0]), "a")


def test_a_failed_first_call_leaves_the_ranker_unfitted() -> None:
    phi = Broken(with_value(np.nan), after=2)
    ranker = SharedLabelRanker(phi)
    for learn in (
        lambda: ranker.fit(X, Y),
        lambda: ranker.partial_fit(X, Y, ["a", "b", "c"]),
        lambda: ranker.partial_fit(X, Y, "grow"),
        lambda: ranker.learn_one(([0], [5.0]), ["a", "b"]),
    ):
        with pytest.raises(ValueError, match="label 'b', feature 2 is NaN"):
            learn()
        assert not hasattr(ranker, "classes_")
        assert not hasattr(ranker, "n_features_in_")


def test_a_failed_fit_keeps_the_model() -> None:
    ranker = trained(Broken(with_value(np.nan), after=4))
    before = ranker.decision_function(X[:3])
    with pytest.raises(ValueError, match="row 4: label 'b'"):
        ranker.fit(X, Y)
    assert ranker.certificate_.rounds == 3
    assert np.array_equal(ranker.decision_function(X[:3]), before)


class CustomError(KeyError):
    pass


@pytest.mark.parametrize("learns", [False, True])
def test_exceptions_of_the_features_have_a_note_with_the_row(learns: bool) -> None:
    ranker = SharedLabelRanker(Broken(CustomError("no such product"), after=4, learns=learns))
    ranker.learn_one(([0], [1.0]), "a")
    with pytest.raises(CustomError) as raised:
        ranker.learn_one(([0], [5.0]), "new")
    assert raised.value.__notes__ == ["raised by Broken.rows, x"]
    assert ranker.classes_.tolist() == ["a"]
    assert ranker.certificate_.rounds == 1
    ranker.learn_one(([0], [2.0]), "other")
    assert ranker.classes_.tolist() == ["a", "other"]


def test_features_that_learn_are_validated_row_by_row() -> None:
    """The features of a row depend on the rows learnt before it."""
    ranker = SharedLabelRanker(Broken(with_value(np.nan), after=4, learns=True))
    with pytest.raises(ValueError, match="row 4: label 'b', feature 2 is NaN"):
        ranker.partial_fit(X, Y, ["a", "b", "c"])
    assert ranker.certificate_.rounds == 4


class FailsToLearn(Affinity):
    def learn(self, x: Any, labels: Any) -> None:
        if x[1][0] > 4:
            raise RuntimeError("full")
        super().learn(x, labels)


def test_an_exception_in_learn_keeps_the_weights() -> None:
    ranker = SharedLabelRanker(FailsToLearn()).partial_fit(X[:4], Y[:4], "grow")
    before = whole(ranker)
    with pytest.raises(RuntimeError, match="full") as raised:
        ranker.learn_one(([0], [5.0]), "new")
    assert raised.value.__notes__ == ["raised by FailsToLearn.learn, x"]
    assert_same(whole(ranker), before)


def test_features_of_a_batch_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Validated blocks are cached for learning; only those beyond the cache are made again."""
    ranker = trained(Broken(None, after=10))
    assert isinstance(ranker.features, Broken)
    assert ranker.features.asked == 3
    monkeypatch.setattr("tagalong.online.shared_ranker.custom_features.BLOCK_CACHE_BYTES", 100)
    small = trained(Broken(None, after=10))
    assert isinstance(small.features, Broken)
    assert small.features.asked == 4  # a block of 3 labels and 3 features takes 48 bytes
    assert np.array_equal(small.coef_, ranker.coef_)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (3, r"an object with rows\(x, labels\), or None, got 3"),
        (Kesler, r"an object with rows\(x, labels\), or None, got <class"),
        (lambda x, labels: None, r"an object with rows\(x, labels\)"),
    ],
)
def test_invalid_feature_objects_raise(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SharedLabelRanker(features).learn_one(([1], [1.0]), ["a"])


@pytest.mark.parametrize("count", [0, -1, 2.0, "3", 2**31 + 1])
def test_an_invalid_n_features_raises(count: Any) -> None:
    phi = Kesler()
    phi.n_features = count  # type: ignore[attr-defined]
    with pytest.raises(
        ValueError, match=r"Kesler\.n_features must be an integer from 1 to 2\*\*31"
    ):
        SharedLabelRanker(phi).learn_one(([1], [1.0]), ["a"])


def test_an_interrupt_after_the_round_keeps_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels and weights stay consistent whenever Ctrl-C is pressed."""
    ranker = SharedLabelRanker(Kesler()).learn_one(([1], [1.0]), "a")
    assert isinstance(ranker._native, CustomFeaturesRanker)
    learn = ranker._native._round

    def interrupted(*arguments: Any) -> None:
        learn(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(ranker._native, "_round", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ranker.learn_one(([1], [1.0]), "b")
    assert ranker.rank_one(([1], [1.0])) == ["b", "a"]
