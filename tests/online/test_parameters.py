"""Every invalid parameter is named with its value before anything is learnt."""

from typing import Any

import numpy as np
import pytest

from tagalong import LabelRanker
from tests.contract.bits import assert_same, whole

NOT_A_NAME: list[Any] = ["", "Smooth", None, 1, 2.0, ["smooth"], b"smooth"]
NOT_A_NUMBER: list[Any] = ["1", True, [1.0], 1j, np.nan, np.inf, -np.inf, 10**400]
NOT_POSITIVE: list[Any] = [0, 0.0, -1, -1e-300]

WRONG: dict[str, list[Any]] = {
    "update": [*NOT_A_NAME, "perceptron"],
    "geometry": [*NOT_A_NAME, "hyperbolic"],
    "C": [*NOT_A_NUMBER, *NOT_POSITIVE],
    "margin": [*NOT_A_NUMBER, *NOT_POSITIVE],
    "temperature": [*NOT_A_NUMBER, *NOT_POSITIVE],
    "average": ["yes", "Auto", 2, None, [True]],
    "constant": NOT_A_NUMBER,
    "normalize": ["no", None, 2, [True]],
    "solver": [*NOT_A_NAME, "simplex"],
    "passes": ["1", True, 1.5, 0, -1, None, np.nan],
    "n_features": ["1", True, 1.5, 0, -1, 2**31 + 1, np.nan],
    "dtype": [*NOT_A_NAME, "float16", "double", int],
    "one_label": ["yes", "Auto", 2, None, [True]],
    "probability": ["no", None, 2, [True]],
    "relevance": ["all", "Auto", 2, None, [True]],
    "working_set": ["all", "Auto", 2, None, [True]],
    "race": ["unit", "Auto", 2, True, [], [1], ["fastest"], ["unit", "unit"], ["bayes-idf"]],
}

CONFLICTS: list[tuple[dict[str, Any], list[str]]] = [
    ({"geometry": "entropic", "update": "simopt"}, ["simopt", "entropic"]),
    ({"geometry": "entropic", "average": True}, ["entropic", "average"]),
    ({"solver": "interior-point", "update": "single"}, ["interior-point", "optimal"]),
    ({"solver": "interior-point"}, ["interior-point", "optimal"]),
    ({"geometry": "entropic", "race": ["unit"]}, ["entropic", "race"]),
    ({"geometry": "entropic", "working_set": True}, ["entropic", "working_set"]),
    ({"update": "optimal", "working_set": True}, ["optimal", "working_set"]),
]

each_wrong = pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param(name, value, id=f"{name}={str(value)[:12]!r}")
        for name, values in WRONG.items()
        for value in values
    ],
)


def error_messages(ranker: LabelRanker) -> list[str]:
    """The messages of all calls that can start a ranker; each must leave it unfitted."""
    new, messages = whole(ranker), []
    for begin in (
        lambda: ranker.fit(np.eye(2), np.eye(2)),
        lambda: ranker.partial_fit(np.eye(2), np.eye(2)),
        lambda: ranker.learn_one(([0], [1.0]), "a"),
        lambda: ranker.add_labels(["a"]),
    ):
        with pytest.raises(ValueError) as raised:
            begin()
        messages.append(str(raised.value))
        assert_same(whole(ranker), new)
    return messages


@each_wrong
def test_an_invalid_value_is_named(name: str, value: Any) -> None:
    for message in error_messages(LabelRanker(**{name: value})):
        assert name in message
        assert repr(value)[:100] in message


@pytest.mark.parametrize(("parameters", "words"), CONFLICTS)
def test_invalid_combinations(parameters: dict[str, Any], words: list[str]) -> None:
    for message in error_messages(LabelRanker(**parameters)):
        assert all(word in message for word in words)


def test_every_parameter_has_invalid_values_to_test() -> None:
    assert WRONG.keys() == LabelRanker().get_params().keys()


def test_an_invalid_value_keeps_the_model() -> None:
    ranker = LabelRanker().fit(np.eye(3), np.eye(3))
    ranker.set_params(C=-1)
    before = whole(ranker)
    with pytest.raises(ValueError, match="C must be positive, got -1"):
        ranker.fit(np.eye(2), np.eye(2))
    assert_same(whole(ranker), before)


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": np.float32(2), "margin": np.float64(1), "temperature": np.float32(0.5)},
        {"constant": np.int64(1), "passes": np.int64(2), "n_features": np.int32(3)},
        {"average": np.True_, "normalize": np.False_},
    ],
)
def test_numpy_numbers_are_valid(parameters: dict[str, Any]) -> None:
    plain = {name: value.item() for name, value in parameters.items()}
    found = LabelRanker(**parameters).fit(np.eye(3), np.eye(3))
    expected = LabelRanker(**plain).fit(np.eye(3), np.eye(3))
    assert found.decision_function(np.eye(3)).tobytes() == (
        expected.decision_function(np.eye(3)).tobytes()
    )


def test_the_number_of_columns_must_equal_n_features() -> None:
    ranker = LabelRanker(n_features=4)
    for learn in (ranker.fit, ranker.partial_fit):
        with pytest.raises(ValueError, match="X has 3 columns, but n_features=4"):
            learn(np.eye(3), np.eye(3))
        assert_same(whole(ranker), whole(LabelRanker(n_features=4)))
    ranker.partial_fit(np.eye(4), np.eye(4))
    with pytest.raises(ValueError, match=r"X has 3 (columns|features)"):
        ranker.decision_function(np.eye(3))
