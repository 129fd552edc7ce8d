"""Regret on synthetic models: it grows sublinearly and stays below the bound."""

from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tagalong import PartialFeedbackRanker, load
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


class TestRankings:
    """The bound of Theorem 5, in the ranking mode: a = 1 and strictly decreasing costs."""

    @pytest.mark.parametrize("width", ["dimension", "determinant"])
    @pytest.mark.parametrize("varying", [False, True])
    def test_the_bound_holds(self, width: str, varying: bool) -> None:
        rng = np.random.default_rng(7)
        model = LabelModel.random(rng, 8, 4)
        X = model.rows(rng, 2000)
        slots = rng.integers(1, 9, 2000) if varying else 3
        ranker = PartialFeedbackRanker(miss_weight=1.0, norm_bound=1.0, width=width)
        played = ranker.play(X, model.draw(rng, X), max_labels=slots)
        bound, regret = ranker.certificate_, model.ranking_regret(X, played.shown, slots)
        assert bound.proven
        assert (regret >= -1e-12).all()
        assert bound.ranking_regret is not None
        assert 0 < regret.sum() <= bound.ranking_regret
        assert f"as rankings of independent labels at most {bound.ranking_regret:.6g}" in str(bound)

    def test_the_bound_is_the_sum_over_the_rounds_of_its_definition(self) -> None:
        """Lemma 9 with every sum written out, from the bounds of the suggested probabilities."""
        rng = np.random.default_rng(8)
        model = LabelModel.random(rng, 6, 4)
        X = model.rows(rng, 150)
        Y = model.draw(rng, X)
        ranker = PartialFeedbackRanker(miss_weight=1.0, exploration=0.1).add_labels(range(6))
        total = 0.0
        for t, (x, y) in enumerate(zip(X, Y, strict=True)):
            S = 1 + t % 6
            (offer,) = ranker.suggest(x[None], max_labels=S)
            margins = 2 * offer.probabilities - 1
            most = (1 + np.clip(margins + offer.widths, -1, 1)) / 2
            least = (1 + np.clip(margins - offer.widths, -1, 1)) / 2
            for p, sign in ((most, 1), (least, -1)):
                total += sign * sum((S - j) * p[j] for j in range(S))
                total += sign * sum(p[i] * p[j] for j in range(S) for i in range(j))
            ranker.play(x[None], y[None], max_labels=[S])
            assert ranker.certificate_.ranking_regret == pytest.approx(total, rel=1e-9)

    def test_feedback_counts_like_a_game(self) -> None:
        rng = np.random.default_rng(9)
        model = LabelModel.random(rng, 6, 4)
        X = model.rows(rng, 50)
        Y = model.draw(rng, X)
        settings: dict[str, Any] = {"miss_weight": 1.0, "max_labels": 3, "norm_bound": 1.0}
        played = PartialFeedbackRanker(**settings).fit(X, Y)
        asked = PartialFeedbackRanker(**settings).add_labels(range(6))
        for x, y in zip(X, Y, strict=True):
            (offer,) = asked.suggest(x[None])
            asked.feedback(x[None], [offer], [[label for label in offer if y[label]]])
        assert asked.certificate_ == played.certificate_

    @pytest.mark.parametrize("settings", [{}, {"miss_weight": 1.0, "slot_cost": "constant"}])
    def test_there_is_none_in_other_modes(self, settings: dict[str, Any]) -> None:
        ranker, _ = played(1, 30, norm_bound=1.0, **settings)
        assert ranker.certificate_.ranking_regret is None
        assert "rankings" not in str(ranker.certificate_)

    def test_it_is_saved(self, tmp_path: Path) -> None:
        ranker, _ = played(2, 30, miss_weight=1.0, max_labels=2)
        ranker.save(tmp_path / "model")
        assert load(tmp_path / "model").certificate_ == ranker.certificate_
        assert ranker.certificate_.ranking_regret > 0

    def test_files_from_before_the_bound_have_none(self) -> None:
        ranker, _ = played(3, 30, miss_weight=1.0, max_labels=2)
        header, arrays = ranker.to_parts()
        del header["numbers"]["ranking_regret"]
        old = PartialFeedbackRanker.from_parts(header, arrays)
        assert old.certificate_.ranking_regret is None
        assert old.certificate_.regret == ranker.certificate_.regret
        header, _ = old.to_parts()
        assert "ranking_regret" not in header["numbers"]

    def test_the_best_ranking_by_brute_force(self) -> None:
        """Expected partial rank losses over all outcomes, of all lists with at most S labels."""
        rng = np.random.default_rng(4)
        model = LabelModel.random(rng, 4, 3)
        X = model.rows(rng, 3)
        for x, p in zip(X, model.probabilities(X), strict=True):
            for S in (1, 2, 4):
                costs = {
                    shown: expected_rank_loss(shown, p, S)
                    for size in range(S + 1)
                    for shown in permutations(range(4), size)
                }
                for shown, cost in costs.items():
                    (regret,) = model.ranking_regret(x[None], [shown], S)
                    assert regret == pytest.approx(cost - min(costs.values()), abs=1e-12)


def expected_rank_loss(shown: tuple[int, ...], p: Any, S: int) -> float:
    total = 0.0
    for y in product([0, 1], repeat=len(p)):
        chance = float(np.prod(np.where(y, p, 1 - p)))
        wrong = sum(y[b] > y[a] for j, b in enumerate(shown) for a in shown[:j])
        missed = sum(y) - sum(y[label] for label in shown)
        total += chance * (wrong + S * missed)
    return total


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
