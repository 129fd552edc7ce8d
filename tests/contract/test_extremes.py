"""Extreme examples, weights and parameters for every learner and every update rule.

A learner either refuses an example with a clear error and stays as it was, or learns it: then all
its numbers stay finite, its dual value is what its weights say, and it can be saved and loaded.
"""

import faulthandler
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.exceptions import ConvergenceWarning

import tagalong
from tagalong import LabelRanker, SharedLabelRanker
from tagalong.learning.certificates.mistake_bound import Certificate
from tagalong.learning.update_rules import BLOCK_RULES, LABEL_RULES
from tests.contract.bits import assert_same, native_of, whole
from tests.contract.learners import LABEL_RANKER, LEARNERS, SHARED_RANKER, LearnerCase, marks_for
from tests.timeouts import TIMEOUT

Array = npt.NDArray[Any]
K, N = 5, 24  # the learners of the contract declare 24 features
RNG = np.random.default_rng(5)


@dataclass(frozen=True)
class Extreme:
    """Rows that a learner may refuse, with their labels and weights."""

    name: str
    X: Array
    Y: Array
    weights: Array | None = None


def rows(values: Any, count: int = 6) -> Array:
    """Return rows in which every third feature has one of the values."""
    X = np.zeros((count, N))
    X[:, ::3] = np.resize(np.asarray(values, dtype=np.float64), (count, len(range(0, N, 3))))
    return X


PLAIN = RNG.integers(-4, 16, (6, N)) / 8 * (RNG.random((6, N)) < 0.4)
TWO = np.eye(K)[[0, 1, 2, 0, 1, 2]] + np.eye(K)[[3, 4, 3, 4, 3, 4]]

EXTREMES = [
    *(Extreme(f"values of {v:g}", rows(v), TWO) for v in (1e-300, 1e-30, 1e18, 1e150, 1e300)),
    Extreme("denormal values", rows([5e-324, -1e-310, 2e-308]), TWO),
    Extreme("values of any magnitude", rows([1e-300, 1.0, -1e18, 1e-18, 3e150]), TWO),
    Extreme("values of many magnitudes", rows([1e-12, 1.0, -1e12, 1e-6, 3e6]), TWO),
    Extreme("both signs of the largest number", rows([1.7e308, -1.7e308]), TWO),
    Extreme("no features", np.zeros((6, N)), TWO),
    Extreme("all labels relevant", PLAIN, np.ones((6, K))),
    Extreme("no label relevant", PLAIN, np.zeros((6, K))),
    Extreme("all labels unknown", PLAIN, np.full((6, K), np.nan)),
    Extreme("two labels", PLAIN, np.eye(2)[[0, 1, 0, 1, 1, 0]]),
    *(Extreme(f"weights of {w:g}", PLAIN, TWO, np.full(6, w)) for w in (1e-300, 1e-12, 1e12)),
    Extreme("weights of any magnitude", PLAIN, TWO, np.array([1e-12, 1, 1e6, 0, 1e-6, 1e12])),
    Extreme("huge values and weights", rows(1e18 * np.linspace(0.5, 1, 8)), TWO, np.full(6, 1e6)),
    Extreme("the same row very often", np.repeat(PLAIN[:1], 300, 0), np.repeat(TWO[:1], 300, 0)),
    Extreme(
        "a row and its opposite",
        np.tile(PLAIN[:1], (40, 1)),
        np.tile([TWO[0], 1 - TWO[0]], (20, 1)),
    ),
]

PLAIN_ROWS: dict[str, Any] = {"n_features": N, "normalize": False, "dtype": "float64"}

RULES = [
    *(
        LearnerCase(
            f"ranker-{geometry}-{update}-plain",
            partial(LabelRanker, update, geometry, **PLAIN_ROWS),
            LABEL_RANKER,
        )
        for update, rule in LABEL_RULES.items()
        for geometry in ("euclidean", "adaptive", "entropic")
        if geometry != "entropic" or rule.entropic
    ),
    *(
        LearnerCase(
            f"ranker-{geometry}-interior-point-plain",
            partial(
                LabelRanker,
                "optimal",
                geometry,
                solver="interior-point",
                **PLAIN_ROWS,
            ),
            LABEL_RANKER,
        )
        for geometry in ("euclidean", "adaptive", "entropic")
    ),
    *(
        LearnerCase(
            f"shared-{geometry}-{update}",
            partial(SharedLabelRanker, update=update, geometry=geometry, n_features=N),
            SHARED_RANKER,
        )
        for update, rule in BLOCK_RULES.items()
        for geometry in ("euclidean", "entropic")
        if geometry != "entropic" or rule.entropic
    ),
]

every_learner = pytest.mark.parametrize(
    "learner",
    [pytest.param(one, id=one.name, marks=marks_for(one)) for one in [*LEARNERS, *RULES]],
)
every_extreme = pytest.mark.parametrize("extreme", EXTREMES, ids=lambda one: one.name)


@pytest.fixture(autouse=True)
def ends() -> Iterator[None]:
    """End the process if a test does not end."""
    faulthandler.dump_traceback_later(TIMEOUT, exit=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
    faulthandler.cancel_dump_traceback_later()


def assert_sound(model: Any, X: Array, tmp_path: Path) -> None:
    """Check everything that a user can see of a model."""
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert len(model.rank(X)) == len(X)
    assert len(model.predict(X)) == len(X)
    coef = getattr(model, "coef_", None)  # a learner with a kernel has none
    if coef is not None:
        assert np.isfinite(coef if isinstance(coef, np.ndarray) else coef.data).all()
    if hasattr(model, "cutoff_"):
        assert not np.isnan(model.cutoff_)
    assert_certified(model)
    model.save(tmp_path / "model")
    own = getattr(model, "features", None)
    loaded = tagalong.load(tmp_path / "model", **({"features": own} if own else {}))
    np.testing.assert_array_equal(loaded.decision_function(X), scores)


def assert_certified(model: Any) -> None:
    """Check the certificate: finite numbers, and the dual value that the weights say."""
    certificate, native = model.certificate_, native_of(model)
    assert all(map(np.isfinite, native.state()["numbers"].values()))
    if not isinstance(certificate, Certificate):
        return
    dual, recomputed = certificate.dual, native.recompute_dual()
    assert np.isfinite(dual)
    # The promise is relative to the numbers whose difference the dual value is.
    numbers = native.state()["numbers"]
    gains = [abs(value) for name, value in numbers.items() if name.endswith("gain")]
    size = max(1.0, abs(dual), *gains)
    promise = 1e-9 if model.dtype == "float64" else 1e-4
    assert dual <= recomputed + promise * size


@every_learner
@every_extreme
def test_it_learns_the_rows_or_refuses_them(
    learner: LearnerCase, extreme: Extreme, tmp_path: Path
) -> None:
    model = learner.make()
    labels = extreme.Y.shape[1]
    model.partial_fit(PLAIN, [[i % labels] for i in range(6)], classes=range(labels))
    before = whole(model)
    try:
        model.partial_fit(extreme.X, extreme.Y, sample_weight=extreme.weights)
    except ValueError:
        assert_same(whole(model), before)
    probes = np.concatenate([PLAIN, rows([1e-3, 2.0])])
    assert_sound(model, probes, tmp_path)


@every_learner
def test_one_label(learner: LearnerCase, tmp_path: Path) -> None:
    """There is nothing to rank."""
    model = learner.make()
    model.partial_fit(PLAIN, [["only"], []] * 3, classes=["only"])
    assert_sound(model, PLAIN, tmp_path)
    assert model.rank(PLAIN).tolist() == [["only"]] * 6


PARAMETERS: list[dict[str, float]] = [
    *({"C": value} for value in (1e-12, 1e12)),
    *({"margin": value} for value in (0.0, 1e-12, 1e12)),
    {"C": 1e12, "margin": 1e-12},
    {"C": 1e-12, "margin": 1e12},
]


@every_learner
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_extreme_parameters(
    learner: LearnerCase, parameters: dict[str, float], tmp_path: Path
) -> None:
    """They work or are refused; a margin of 0 is always refused."""
    model = learner.make()
    if not set(parameters) <= set(model.get_params(deep=False)):
        pytest.skip("the learner does not have these parameters")
    model.set_params(**parameters)
    try:
        model.partial_fit(PLAIN, TWO)
    except ValueError as error:
        refused = str(error)
        assert any(name in refused for name in parameters)
        return
    assert 0.0 not in parameters.values()
    assert_sound(model, PLAIN, tmp_path)
