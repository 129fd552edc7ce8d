"""Regret on synthetic models: it grows sublinearly and stays below the bound."""

from typing import Any

import numpy as np
import pytest

from tagalong import PartialFeedbackRanker
from tagalong.evaluate import LabelModel


def played(
    seed: int, rounds: int, labels: int = 8, every: int = 1, **settings: Any
) -> tuple[Any, Any]:
    """A ranker after a game, and the regret of all or some of its rounds."""
    rng = np.random.default_rng(seed)
    norm = settings.get("norm_bound") or 1.0
    model = LabelModel.random(rng, labels, 4, norm, settings.get("loss", "square"))
    X = model.rows(rng, rounds)
    ranker = PartialFeedbackRanker(**settings)
    shown = ranker.play(X, model.draw(rng, X)).shown
    game = {
        name: settings[name]
        for name in ("miss_weight", "slot_cost", "max_labels")
        if name in settings
    }
    return ranker, model.regret(X[::every], shown[::every], **game)


@pytest.mark.parametrize("exploration", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("loss", ["square", "logistic"])
def test_small_widths_find_the_best_lists_early(exploration: float, loss: str) -> None:
    radius = 1.0 if loss == "square" else 1.2
    _, regret = played(
        1, 8000, max_labels=3, exploration=exploration, norm_bound=1.0, loss=loss, radius=radius
    )
    first, last = regret[:1000].mean(), regret[-1000:].mean()
    assert (regret >= -1e-12).all()
    assert last < 0.35 * first


@pytest.mark.parametrize("settings", [{"norm_bound": 1.0}, {"norm_bound": None}])
def test_the_widths_of_the_theory_learn_slowly(settings: dict[str, Any]) -> None:
    """Regret per round decreases, slowly, since widths are some ten times the errors."""
    _, regret = played(2, 60_000, every=20, max_labels=3, width="determinant", **settings)
    parts = regret.reshape(6, -1).mean(axis=1)
    assert parts[-1] < 0.75 * parts[0]
    assert parts[-1] < parts[2]


@pytest.mark.long
def test_the_widths_of_the_theory_over_many_rounds() -> None:
    _, regret = played(3, 400_000, every=50, max_labels=3, norm_bound=1.0)
    parts = regret.reshape(8, -1).mean(axis=1)
    assert parts[-1] < 0.5 * parts[0]


@pytest.mark.parametrize("width", ["dimension", "determinant"])
@pytest.mark.parametrize(
    "settings", [{"max_labels": 3}, {"miss_weight": 0.2}, {"slot_cost": "constant"}]
)
def test_the_running_bound_holds(width: str, settings: dict[str, Any]) -> None:
    ranker, regret = played(4, 3000, norm_bound=1.0, width=width, **settings)
    bound = ranker.certificate_
    assert bound.proven
    assert 0 < regret.sum() <= bound.regret


def test_the_widths_contain_the_true_margins() -> None:
    rng = np.random.default_rng(5)
    model = LabelModel.random(rng, 6, 4)
    X = model.rows(rng, 3000)
    ranker = PartialFeedbackRanker(norm_bound=1.0, miss_weight=1.0)
    for start in range(0, 3000, 500):
        rows = X[start : start + 500]
        for x, offer in zip(rows, ranker.suggest(rows) if start else [], strict=False):
            margins = ranker.decision_function(x[None])[0][offer.labels]
            true = x @ model.weights[offer.labels].T
            assert (np.abs(np.clip(margins, -1, 1) - true) <= offer.widths).all()
        ranker.play(rows, model.draw(rng, rows))


def test_full_information_beats_partial_feedback_with_few_slots() -> None:
    _, partial = played(6, 3000, labels=20, max_labels=2, exploration=0.1)
    _, full = played(6, 3000, labels=20, max_labels=2, update="full")
    assert full.sum() < partial.sum()


def test_margins_that_are_no_probabilities_raise() -> None:
    model = LabelModel([[2.0, 0.0]])
    with pytest.raises(ValueError, match="margins must be from -1 to 1"):
        model.probabilities([[1.0, 0.0]])
    assert LabelModel([[2.0]], loss="logistic").probabilities([[1.0]])[0, 0] == pytest.approx(
        1 / (1 + np.exp(-2.0))
    )
