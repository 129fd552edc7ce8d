"""`PartialFeedbackRanker` agrees with the naive twin, round by round."""

from typing import Any

import numpy as np
import pytest

from tagalong import PartialFeedbackRanker
from tagalong.losses import ExponentialLoss
from tests.online.partial_streams import sparse_rows, true_stream
from tests.reference.partial import NaiveKernelPartial, NaivePartial
from tests.weights import dense_coef

SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "five slots": {"max_labels": 5},
    "few, greedy": {"max_labels": 3, "exploration": 0.0},
    "small widths": {"max_labels": 3, "exploration": 0.05},
    "misses only": {"miss_weight": 1.0, "max_labels": 4, "exploration": 0.1},
    "wrong ones only": {"miss_weight": 0.0, "exploration": 0.1},
    "constant costs": {"slot_cost": "constant", "exploration": 0.1, "miss_weight": 0.4},
    "known norm": {"norm_bound": 1.0, "max_labels": 3},
    "determinant": {"width": "determinant", "max_labels": 3, "exploration": 0.1},
    "determinant, known norm": {"width": "determinant", "norm_bound": 1.0, "exploration": 0.2},
    "ties by index": {"ties": "index", "max_labels": 3},
    "logistic": {"loss": "logistic", "radius": 2.0, "max_labels": 4, "exploration": 0.02},
    "narrow": {"radius": 0.2, "max_labels": 4, "exploration": 0.05},
    "diagonal": {"covariance": "diagonal", "max_labels": 3, "exploration": 0.1},
    "diagonal, determinant": {
        "covariance": "diagonal",
        "width": "determinant",
        "exploration": 0.1,
        "max_labels": 4,
    },
    "full information": {"update": "full", "max_labels": 3},
}
every_setting = pytest.mark.parametrize("name", SETTINGS)


@every_setting
@pytest.mark.parametrize("stream", [true_stream(3, 120, 6, 9), sparse_rows(5, 120, 11, 7)])
def test_every_round_matches_the_formulas(name: str, stream: Any) -> None:
    settings = SETTINGS[name]
    ours = PartialFeedbackRanker(normalize=False, **settings)
    naive = NaivePartial(stream.X.shape[1], stream.Y.shape[1], **settings)
    ours.add_labels(range(naive.labels))
    for x, y in zip(stream.X, stream.Y, strict=True):
        (offer,) = ours.suggest(x[None])
        capped, _ = naive.widths(x)
        margins = naive.margins(x)
        np.testing.assert_allclose(offer.widths, capped[offer.labels], atol=1e-9)
        np.testing.assert_allclose(offer.probabilities, naive.p(margins)[offer.labels], atol=1e-9)
        best = naive.p(margins + capped)
        np.testing.assert_allclose(offer.optimistic, best[offer.labels], atol=1e-9)
        played = ours.play(x[None], y[None])
        assert played.shown == [naive.play(x, y)] == [offer.labels]
        np.testing.assert_allclose(dense_coef(ours), naive.w, atol=1e-9)
    assert ours.certificate_.rounds == len(stream.X)


def test_rows_are_scaled_to_unit_length() -> None:
    stream = true_stream(1, 40, 5, 6)
    scaled = stream.X * np.random.default_rng(0).uniform(0.1, 9.0, size=(40, 1))
    ours = PartialFeedbackRanker(max_labels=2).fit(scaled, stream.Y)
    naive = NaivePartial(5, 6, max_labels=2)
    for x, y in zip(stream.X, stream.Y, strict=True):
        naive.play(x, y)
    np.testing.assert_allclose(dense_coef(ours), naive.w, atol=1e-9)


@every_setting
def test_single_precision_plays_the_same_game(name: str) -> None:
    """If both precisions show the same lists, weights agree to float32 precision."""
    stream = true_stream(8, 60, 20, 9)
    wide = PartialFeedbackRanker(**SETTINGS[name])
    narrow = PartialFeedbackRanker(**SETTINGS[name], dtype="float32")
    wide.add_labels(range(9)), narrow.add_labels(range(9))
    for x, y in zip(stream.X, stream.Y, strict=True):
        (shown,) = wide.suggest(x[None])
        accepted = [label for label in shown if y[label]]
        wide.feedback(x[None], [shown], [accepted])
        narrow.feedback(x[None], [shown], [accepted])
        np.testing.assert_allclose(
            narrow.decision_function(x[None]), wide.decision_function(x[None]), atol=1e-5
        )
    assert dense_coef(narrow).dtype == np.float32


@pytest.mark.parametrize("kernel", [None, "linear"])
@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("norm_bound", [None, 1.0])
def test_the_linear_kernel_equals_the_full_matrix_with_the_determinant_width(
    kernel: str | None, loss: str, norm_bound: float | None
) -> None:
    stream = sparse_rows(11, 150, 9, 8)
    settings: dict[str, Any] = {
        "loss": loss,
        "norm_bound": norm_bound,
        "max_labels": 3,
        "exploration": 0.1,
        "radius": 0.3,
    }
    dual = PartialFeedbackRanker(covariance="kernel", kernel=kernel, **settings)
    full = PartialFeedbackRanker(width="determinant", **settings)
    weights = np.random.default_rng(1).choice([0.5, 1.0, 3.0], len(stream.X))
    played = [ranker.play(stream.X, stream.Y, sample_weight=weights) for ranker in (dual, full)]
    assert played[0].shown == played[1].shown
    np.testing.assert_allclose(dense_coef(dual), dense_coef(full), atol=1e-9)
    X = true_stream(12, 20, 9, 8).X
    np.testing.assert_allclose(dual.decision_function(X), full.decision_function(X), atol=1e-9)
    for ours, theirs in zip(dual.suggest(X), full.suggest(X), strict=True):
        assert ours.labels == theirs.labels
        np.testing.assert_allclose(ours.widths, theirs.widths, atol=1e-9)


def test_the_rbf_kernel_equals_a_full_matrix_over_kernel_features() -> None:
    """On finitely many rows, the kernel matrix's square root has explicit features as rows."""
    stream = true_stream(2, 50, 3, 5)
    distances = ((stream.X[:, None] - stream.X[None]) ** 2).sum(axis=2)
    values, vectors = np.linalg.eigh(np.exp(-0.7 * distances))
    features = vectors * np.sqrt(np.maximum(values, 0))
    dual = PartialFeedbackRanker(
        covariance="kernel", kernel="rbf", gamma=0.7, max_labels=2, exploration=0.1
    )
    full = PartialFeedbackRanker(
        width="determinant", max_labels=2, exploration=0.1, normalize=False
    )
    played = dual.play(stream.X, stream.Y), full.play(features, stream.Y)
    assert played[0].shown == played[1].shown
    np.testing.assert_allclose(
        dual.decision_function(stream.X), full.decision_function(features), atol=1e-6
    )
    assert not hasattr(dual, "coef_")


@pytest.mark.parametrize("gamma", [0.3, 2.0])
@pytest.mark.parametrize(
    "settings",
    [
        {"exploration": 0.1},
        {"exploration": 0.05, "norm_bound": 1.0},
        {"exploration": 0.02, "loss": "logistic", "radius": 2.0},
        {"exploration": 0.1, "radius": 0.2},
        {"exploration": 0.1, "loss": ExponentialLoss()},
        {"exploration": 0.1, "miss_weight": 1.0},
    ],
)
@pytest.mark.parametrize("repeated", [False, True])
def test_every_round_with_the_rbf_kernel_matches_the_formulas(
    gamma: float, settings: dict[str, Any], repeated: bool
) -> None:
    """Repeated rows are the same point of the feature space: updates for it accumulate."""
    stream = true_stream(9, 70, 4, 6)
    X = stream.X[np.arange(70) % 23] if repeated else stream.X
    G = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    ours = PartialFeedbackRanker(
        covariance="kernel", kernel="rbf", gamma=gamma, max_labels=2, **settings
    ).add_labels(range(6))
    naive = NaiveKernelPartial(G, 6, max_labels=2, **settings)
    for t, y in enumerate(stream.Y):
        (offer,) = ours.suggest(X[t : t + 1])
        capped, _ = naive.widths(t)  # type: ignore[arg-type]
        np.testing.assert_allclose(offer.widths, capped[offer.labels], atol=1e-8)
        expected = naive.p(naive.margins(t))[offer.labels]
        np.testing.assert_allclose(offer.probabilities, expected, atol=1e-8)
        played = ours.play(X[t : t + 1], y[None])
        assert played.shown == [naive.play(t, y)] == [offer.labels]  # type: ignore[arg-type]
    np.testing.assert_allclose(ours.decision_function(X), G @ naive.w.T, atol=1e-8)
