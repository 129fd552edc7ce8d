"""The cells of a stream, and their results by learner, game, width and S."""

from __future__ import annotations

from statistics import mean
from typing import Any

from experiments.experiment import Cell, Form, Result, Results, cell
from experiments.p3 import game

THEORY = 1.0
NARROW = 0.01
"""The other multiple of the theory's widths at which open choices are varied."""

TIME_PANEL_SLOTS = 10
"""S in the panels over time (the left panels of the paper)."""

WIDTHS = [THEORY, 0.3, 0.1, 0.03, NARROW]
"""Multiples of the theory's widths in the full form."""

GAME_OF = {"rank": "decreasing"}
"""The game of a panel, if it has another name. The paper states a = 1/2 for all experiments, so the
ranking loss is that of the lists of decreasing c; the game "ranking" has a = 1 instead."""

VARIANTS: dict[str, dict[str, Any]] = {
    "as in the panels": {},
    "ties by number, as printed": {"learner": {"ties": "index"}},
    "U = 1 instead of unknown": {"learner": {"norm_bound": 1.0}},
    "δ = 0.001 instead of 0.05": {"learner": {"delta": 0.001}},
    "widths by determinant": {"learner": {"width": "determinant"}},
    "diagonal matrices": {"learner": {"covariance": "diagonal"}},
    "rows in random order": {"shuffled": True},
}


def learners(form: Form) -> dict[str, dict[str, Any]]:
    radii = form.pick([1.0, 3.0], [1.0, 2.0, 5.0])
    return {
        "square": {"loss": "square"},
        **{f"logistic, R = {R:g}": {"loss": "logistic", "radius": R} for R in radii},
    }


def stream_cells(
    form: Form, stream: str, rows: int, slots: list[int], variants: dict[str, Any]
) -> list[Cell]:
    """Return the cells of one stream; the quick form has ``rows`` rows and three widths."""
    shared = {"stream": stream, "rows": form.pick(rows, 0)}
    widths = form.pick(WIDTHS[::2], WIDTHS)
    found = [cell(game.obr, **shared, slots=slots)]
    found += [
        cell(
            game.play,
            **shared,
            game=name,
            slots=slots,
            learner={**learner, "exploration": width},
            name=own,
        )
        for own, learner in learners(form).items()
        for width in widths
        for name in game.GAMES
    ]
    for name, change in variants.items():
        for width in (THEORY, NARROW):
            learner = {"loss": "square", "exploration": width, **change.get("learner", {})}
            rest = {key: value for key, value in change.items() if key != "learner"}
            found += [
                cell(
                    game.play,
                    **shared,
                    **rest,
                    game=own,
                    slots=[TIME_PANEL_SLOTS],
                    learner=learner,
                    variant=name,
                )
                for own in ("decreasing", "constant")
            ]
    return found


def describe_cells(form: Form, rows: int) -> str:
    """Return what the cells of a stream cover."""
    return form.pick(
        f"the first {rows:,} rows; 3 widths, 2 radii R", "all rows; 5 widths, 3 radii R"
    )


class Sweep:
    """The results of one stream, by learner, game, width and S."""

    def __init__(self, results: Results):
        self._cells: dict[tuple[str, str, float], list[Result]] = {
            (own["name"], own["game"], own["learner"]["exploration"]): result["slots"]
            for own, result in results.cells
            if "name" in own
        }
        ((own, self.obr),) = [(own, result) for own, result in results.cells if "games" in result]
        self.slots: list[int] = own["slots"]
        self.rounds, self.labels = self.obr["rounds"], self.obr["labels"]
        self.names = list(dict.fromkeys(name for name, _, _ in self._cells))
        self.widths: list[float] = list(dict.fromkeys(width for _, _, width in self._cells))

    def of(self, name: str, panel: str, width: float | None = THEORY) -> list[Result]:
        """Return the outcome for each S; if ``width`` is None, at the best width in hindsight."""
        played = GAME_OF.get(panel, panel)
        if name == "OBR":
            return list(self.obr["games"][played])
        return self._cells[name, played, self.best(name, panel) if width is None else width]

    def best(self, name: str, panel: str) -> float:
        """Return the multiple of the theory's widths with the lowest mean loss over S."""
        means = {width: mean(self.losses(name, panel, width)) for width in self.widths}
        return min(means, key=means.__getitem__)

    def losses(self, name: str, panel: str, width: float | None = THEORY) -> list[float]:
        return [panel_loss(one, panel) for one in self.of(name, panel, width)]

    def nothing(self, panel: str) -> float:
        """Return the loss of showing nothing: all relevant labels are missed, for any S."""
        one = self.of("OBR", "constant")[0]
        return relevant_labels(one) * (0.5 if panel == "decreasing" else 1)


def relevant_labels(one: Result) -> float:
    """Return the mean number of relevant labels, from an outcome with constant c."""
    # Twice the loss counts missed labels and shown ones that are not relevant.
    return float(2 * one["loss"] + 2 * one["hits"] - one["shown"])


def panel_loss(one: Result, panel: str) -> float:
    """Return the loss that a panel shows: Hamming loss, ranking loss / S, or loss of the game."""
    if panel in ("rank", "ranking"):
        return float(one["rank"])
    return float(one["loss"] * (1 + (panel == "constant")))
