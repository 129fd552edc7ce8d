"""Losses of the family of Theorem 2: the check, the table, and rankers with such losses."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from tagalong import PartialFeedbackRanker, load
from tagalong.evaluate import LabelModel
from tagalong.losses import (
    ExponentialLoss,
    LogisticLoss,
    LossConstants,
    SquareLoss,
    check_loss,
)
from tagalong.losses.protocol import probabilities
from tagalong.losses.table import TabulatedLoss, tabulated
from tests.online.partial_streams import sparse_rows, true_stream
from tests.reference.partial import NaivePartial
from tests.weights import dense_coef


class CubicLoss:
    """L = (2 - m)^3 / 3, a loss that is not in the library; R must be below 2."""

    def value(self, m: Any) -> Any:
        return (2 - m) ** 3 / 3

    def slope(self, m: Any) -> Any:
        return -((2 - m) ** 2)

    def curvature(self, m: Any) -> Any:
        return 2 * (2 - m)

    def constants(self, radius: float) -> LossConstants:
        # The slope of p is 2 (4 - m^2) / (4 + m^2)^2, largest at 0, where it is 1/2.
        return LossConstants(0.5, (2 + radius) ** 4, 2 * (2 - radius))


class Sloped(CubicLoss):
    """CubicLoss with another method."""

    def __init__(self, **methods: Any) -> None:
        self.__dict__.update(methods)


LOSSES = [
    (SquareLoss(), 1.0),
    (SquareLoss(), 0.3),
    (LogisticLoss(), 1.0),
    (LogisticLoss(), 5.0),
    (ExponentialLoss(), 1.0),
    (ExponentialLoss(), 3.0),
    (CubicLoss(), 0.5),
    (CubicLoss(), 1.5),
]
every_loss = pytest.mark.parametrize(("loss", "radius"), LOSSES)


class TestCheck:
    @every_loss
    def test_accepts_valid_losses(self, loss: Any, radius: float) -> None:
        check_loss(loss, radius)

    @every_loss
    def test_the_constants_are_tight(self, loss: Any, radius: float) -> None:
        """Constants that are 1 % better than the true ones raise."""
        found = loss.constants(radius)
        tight = {
            "probability_slope": 0.99 * found.probability_slope,
            "squared_slope": 0.99 * found.squared_slope,
            "curvature": 1.01 * found.curvature,
        }
        if isinstance(loss, LogisticLoss):
            del tight["squared_slope"]  # the paper's constant is 1, for every R
        for name, value in tight.items():
            values = {**found.__dict__, name: value}
            loss.constants = lambda radius, values=values: LossConstants(**values)
            try:
                with pytest.raises(ValueError, match=f"the constant {name} = "):
                    check_loss(loss, radius)
            finally:
                del loss.constants

    @pytest.mark.parametrize(
        ("methods", "message"),
        [
            (
                {"value": lambda m: (2 - m) ** 3 / 3 - 1},
                r"Sloped.value is -0.000519037 at margin 0.558",
            ),
            ({"slope": lambda m: -m}, r"Sloped.slope is 1 at margin -1; it must be 0 or less"),
            (
                {"constants": lambda radius: LossConstants(0.5, 80, 2)},
                r"square of Sloped.slope is 81 at margin -1; .* the constant squared_slope = 80",
            ),
            (
                {"slope": lambda m: -0.98 * (2 - m) ** 2},
                r"Sloped.slope must be the derivative of Sloped.value: at margin -1 it is -8.8",
            ),
            (
                {"constants": lambda radius: LossConstants(0.45, 81, 2)},
                r"probability is 0.45.* at margin -0.375; .* the constant probability_slope",
            ),
            (
                {"curvature": lambda m: 2 * (2 - m) + 0.3 * m**2},
                r"Sloped.curvature must be the derivative of Sloped.slope",
            ),
            ({"curvature": lambda m: 1.5}, "derivative of Sloped.slope: at margin -1 it is 1.5,"),
            (
                {"constants": lambda radius: LossConstants(0.5, 81, 2.5)},
                "curvature is 2.498 at margin 0.751; it must be at least the constant curvature",
            ),
            ({"value": lambda m: np.log(m)}, r"Sloped.value is nan at margin -1"),
            ({"slope": lambda m: [1.0, 2.0]}, r"of the shape of its margins, \(2001,\)"),
            ({"slope": lambda m: "steep"}, "Sloped.slope must return numbers"),
            ({"constants": lambda radius: (1, 2, 3)}, "must return LossConstants, got"),
            ({"constants": lambda radius: LossConstants(0.5, 81, 0)}, "curvature must be positive"),
        ],
    )
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_names_what_is_wrong(self, methods: Any, message: str) -> None:
        loss = Sloped(**methods)
        with pytest.raises(ValueError, match=message):
            check_loss(loss)
        ranker = PartialFeedbackRanker(loss=loss)
        with pytest.raises(ValueError, match=message):
            ranker.add_labels(["a", "b"])
        assert not ranker.is_started

    def test_a_flat_loss_has_no_curvature(self) -> None:
        flat = Sloped(
            value=lambda m: 1.0,
            slope=lambda m: 0.0,
            curvature=lambda m: 0.0,
            constants=lambda radius: LossConstants(1, 1, 1e-300),
        )
        with pytest.raises(ValueError, match=r"curvature is 0 at margin -1; it must be at least"):
            check_loss(flat)

    @pytest.mark.parametrize("loss", [3, None, "hinge", CubicLoss, object()])
    def test_only_losses_are_losses(self, loss: Any) -> None:
        with pytest.raises(ValueError, match="loss must be"):
            PartialFeedbackRanker(loss=loss).add_labels(["a", "b"])

    def test_the_square_loss_needs_a_small_radius(self) -> None:
        for loss in ("square", SquareLoss()):
            with pytest.raises(ValueError, match="radius must be at most 1 for loss='square'"):
                PartialFeedbackRanker(loss=loss, radius=1.5).add_labels(["a", "b"])
        with pytest.raises(ValueError, match=r"SquareLoss.slope is 0.001 at margin 1.001"):
            check_loss(SquareLoss(), 1.001)


class TestTable:
    @every_loss
    def test_interpolates_the_loss(self, loss: Any, radius: float) -> None:
        table = TabulatedLoss(radius, tabulated(loss, radius))
        margins = np.random.default_rng(0).uniform(-radius, radius, 1000)
        for method, tolerance in (("value", 1e-9), ("slope", 1e-9), ("curvature", 1e-5)):
            exact = np.broadcast_to(getattr(loss, method)(margins), margins.shape)
            scale = np.abs(exact).max()
            np.testing.assert_allclose(
                getattr(table, method)(margins), exact, atol=tolerance * scale
            )
        check_loss(table, radius)
        assert table.constants(radius) == loss.constants(radius)
        assert tabulated(table, radius) == table.numbers

    def test_rough_losses_are_refused(self) -> None:
        """A slope that oscillates faster than the finest table."""
        fine = Sloped(slope=lambda m: m - 3 + 1e-8 * np.sin(1e5 * m), curvature=lambda m: 1.0)
        with pytest.raises(ValueError, match="Sloped is not smooth enough"):
            tabulated(Sloped(slope=lambda m: -3 - np.sin(1e5 * m), curvature=lambda m: 1.0), 1.0)
        assert len(tabulated(fine, 1.0)[1]) == 4097

    def test_is_for_one_radius(self) -> None:
        table = TabulatedLoss(1.0, tabulated(CubicLoss(), 1.0))
        with pytest.raises(ValueError, match=r"a model file for radius=1, got radius=0\.5"):
            PartialFeedbackRanker(loss=table, radius=0.5).add_labels(["a", "b"])

    @pytest.mark.parametrize(
        "numbers",
        [
            [],
            [[1.0], [1.0], [1.0]],
            [[1.0] * 4, [1.0] * 3, [1.0] * 2],
            [[1.0] * 4, [1.0], [1.0]],
            [[1.0] * 4, [np.nan] * 3, [1.0] * 3],
            [[1.0] * 4, ["a"] * 3, [1.0] * 3],
            [[-1.0] * 4, [1.0] * 3, [1.0] * 3],
        ],
    )
    def test_damaged_numbers_raise(self, numbers: Any) -> None:
        with pytest.raises(ValueError, match=r"the table of the loss must|must be positive"):
            TabulatedLoss(1.0, numbers)


@pytest.mark.parametrize(("loss", "radius"), [(ExponentialLoss(), 1.0), (CubicLoss(), 0.8)])
@pytest.mark.parametrize("stream", [true_stream(3, 120, 6, 9), sparse_rows(5, 120, 11, 7)])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_every_round_matches_the_formulas(
    loss: Any, radius: float, stream: Any, covariance: str
) -> None:
    settings: dict[str, Any] = {
        "loss": loss,
        "radius": radius,
        "covariance": covariance,
        "max_labels": 3,
        "exploration": 0.02,
    }
    ours = PartialFeedbackRanker(normalize=False, **settings)
    naive = NaivePartial(stream.X.shape[1], stream.Y.shape[1], **settings)
    ours.add_labels(range(naive.labels))
    for x, y in zip(stream.X, stream.Y, strict=True):
        (offer,) = ours.suggest(x[None])
        capped, _ = naive.widths(x)
        best = naive.p(naive.margins(x) + capped)
        np.testing.assert_allclose(offer.optimistic, best[offer.labels], atol=1e-8)
        assert ours.play(x[None], y[None]).shown == [naive.play(x, y)] == [offer.labels]
        np.testing.assert_allclose(dense_coef(ours), naive.w, atol=1e-8)


@pytest.mark.parametrize("name", ["square", "logistic"])
def test_losses_with_a_name_have_the_same_bits_as_objects(name: str) -> None:
    stream = true_stream(4, 60, 5, 6)
    loss = SquareLoss() if name == "square" else LogisticLoss()
    named, given = (PartialFeedbackRanker(one).fit(stream.X, stream.Y) for one in (name, loss))
    assert dense_coef(named).tobytes() == dense_coef(given).tobytes()


@pytest.mark.parametrize("name", ["square", "logistic"])
def test_a_table_of_a_named_loss_plays_the_same_game(name: str) -> None:
    """Tables and formulas are two ways to compute the same loss."""
    stream = true_stream(4, 200, 5, 6)
    loss = SquareLoss() if name == "square" else LogisticLoss()
    table = TabulatedLoss(1.0, tabulated(loss, 1.0))
    settings: dict[str, Any] = {"max_labels": 2, "exploration": 0.05}
    rankers = [PartialFeedbackRanker(one, **settings) for one in (name, table)]
    first, second = (ranker.play(stream.X, stream.Y) for ranker in rankers)
    assert first.shown == second.shown
    np.testing.assert_allclose(dense_coef(rankers[0]), dense_coef(rankers[1]), atol=1e-9)


def test_the_exponential_loss_has_a_name(tmp_path: Path) -> None:
    stream = true_stream(6, 80, 5, 6)
    settings: dict[str, Any] = {"max_labels": 2, "exploration": 0.05, "radius": 0.7}
    named = PartialFeedbackRanker("exponential", **settings).fit(stream.X, stream.Y)
    given = PartialFeedbackRanker(ExponentialLoss(), **settings).fit(stream.X, stream.Y)
    assert dense_coef(named).tobytes() == dense_coef(given).tobytes()
    assert named.certificate_ == given.certificate_
    named.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.get_params() == named.get_params()
    named.set_params(loss="logistic").save(tmp_path / "model")
    assert isinstance(load(tmp_path / "model").loss, TabulatedLoss)


def test_files_have_the_loss_as_numbers(tmp_path: Path) -> None:
    stream = true_stream(6, 80, 5, 6)
    settings: dict[str, Any] = {"max_labels": 2, "exploration": 0.05, "radius": 0.7}
    whole = PartialFeedbackRanker(CubicLoss(), **settings).fit(stream.X, stream.Y)
    ranker = PartialFeedbackRanker(CubicLoss(), **settings).partial_fit(
        stream.X[:50], stream.Y[:50]
    )
    ranker.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded.loss, TabulatedLoss)
    assert repr(loaded.loss) == "TabulatedLoss(radius=0.7)"
    for again in (loaded, pickle.loads(pickle.dumps(ranker)), pickle.loads(pickle.dumps(loaded))):
        again.partial_fit(stream.X[50:], stream.Y[50:])
        assert dense_coef(again).tobytes() == dense_coef(whole).tobytes()
        assert again.certificate_ == whole.certificate_
    loaded.save(tmp_path / "again")
    assert load(tmp_path / "again").loss == loaded.loss
    fresh = clone(loaded).fit(stream.X, stream.Y)
    assert dense_coef(fresh).tobytes() == dense_coef(whole).tobytes()


def test_a_model_can_be_saved_after_its_parameters_were_changed(tmp_path: Path) -> None:
    stream = true_stream(7, 40, 5, 6)
    ranker = PartialFeedbackRanker(CubicLoss(), radius=0.7).fit(stream.X, stream.Y)
    ranker.set_params(loss="square", radius=1.0)
    ranker.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert dense_coef(loaded).tobytes() == dense_coef(ranker).tobytes()
    assert (loaded.loss.radius, loaded.radius) == (0.7, 0.7)


@pytest.mark.parametrize(("loss", "radius"), [(ExponentialLoss(), 1.0), (CubicLoss(), 1.0)])
def test_the_bound_holds_for_other_losses(loss: Any, radius: float) -> None:
    rng = np.random.default_rng(1)
    model = LabelModel.random(rng, 6, 4, loss=loss)
    X = model.rows(rng, 1500)
    np.testing.assert_allclose(
        model.probabilities(X), probabilities(loss, X @ model.weights.T), atol=1e-12
    )
    ranker = PartialFeedbackRanker(loss, radius, norm_bound=1.0, max_labels=3, width="determinant")
    shown = ranker.play(X, model.draw(rng, X)).shown
    bound = ranker.certificate_
    assert bound.proven
    assert 0 < model.regret(X, shown, max_labels=3).sum() <= bound.regret


def test_a_model_of_labels_refuses_what_is_no_loss() -> None:
    with pytest.raises(ValueError, match="loss must be"):
        LabelModel([[1.0]], loss=3)  # type: ignore[arg-type]
