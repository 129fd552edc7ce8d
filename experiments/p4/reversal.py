"""P4, Section 7.2: label correlations that are reversed in the test set, at fixed frequencies.

The subsets of Table 3 are hardly shifted. Here the shift is known: labels come in pairs, whose
correlation is rho in the training set and -rho in the test set, while every label keeps its
frequency. The features are the signs of all labels, mixed by a random matrix, and noise. The right
prior R holds the correlations of the test set, the wrong one those of the training set. One setting
varies at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments import compare, plots
from experiments.experiment import (
    Cell,
    Experiment,
    Figure,
    Form,
    Part,
    Result,
    Results,
    Settings,
    Table,
    Verdict,
    cell,
)
from experiments.p4 import peers, sets

LABELS, FEATURES, FREQUENCY = 10, 50, 0.4
TEST_ROWS = 2_000
CS = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0]
STRENGTHS = [0.0, 0.25, 0.5, 0.75, 1.0]
"""Shares s of R in the prior (1 - s) I + s R; 0 is one-vs-rest."""
BASE = {"rows": 100, "noise": 4.0, "rho": 0.6}
VARIED: dict[str, list[float]] = {
    "noise": [1.0, 2.0, 4.0, 8.0, 16.0],
    "rows": [25, 50, 100, 200, 400, 800],
    "rho": [0.0, 0.2, 0.4, 0.6],
}
NAMES = {"noise": "noise of the features", "rows": "training rows", "rho": "correlation rho"}


def cells(form: Form) -> list[Cell]:
    found = {
        (name, value): cell(run, **{**BASE, name: value}, repetitions=form.pick(10, 50))
        for name, values in VARIED.items()
        for value in values
    }
    return list({each.key: each for each in found.values()}.values())


def draw_labels(rows: int, rho: float, rng: np.random.Generator) -> Any:
    """Return labels of 0 and 1 with the same frequency, in pairs with the correlation rho."""
    p = FREQUENCY
    both = p * p + rho * p * (1 - p)
    first = rng.random((rows, LABELS // 2)) < p
    chance = np.where(first, both / p, (p - both) / (1 - p))
    second = rng.random(first.shape) < chance
    return np.stack([first, second], axis=2).reshape(rows, LABELS).astype(np.float64)


def correlation_matrix(rho: float) -> Any:
    """Return the correlations of all labels."""
    return np.kron(np.eye(LABELS // 2), np.array([[1.0, rho], [rho, 1.0]]))


def run(settings: Settings) -> Result:
    """Return the percentages of wrong labels: by prior, C and repetition."""
    rows, noise, rho = (settings[name] for name in ("rows", "noise", "rho"))
    right, wrong = correlation_matrix(-rho), correlation_matrix(rho)
    priors = {f"right {s:g}": _mixed(right, s) for s in STRENGTHS}
    priors["wrong"] = wrong
    out: dict[str, list[list[float]]] = {name: [[] for _ in CS] for name in (*priors, "matched")}
    for repetition in range(settings["repetitions"]):
        rng = np.random.default_rng([repetition, 4])
        mix = rng.normal(size=(LABELS, FEATURES)) / np.sqrt(LABELS)
        train, test, matched = (
            _part(draw_labels(count, correlation, rng), mix, noise, rng)
            for count, correlation in ((rows, rho), (TEST_ROWS, -rho), (rows, -rho))
        )
        for place, C in enumerate(CS):
            for name, R in priors.items():
                out[name][place].append(_loss(train, test, C, R))
            out["matched"][place].append(_loss(matched, test, C, None))
    return {"loss": out}


def _mixed(R: Any, strength: float) -> Any:
    return None if strength == 0 else (1 - strength) * np.eye(LABELS) + strength * R


def _part(Y: Any, mix: Any, noise: float, rng: np.random.Generator) -> sets.Part:
    X = (2 * Y - 1) @ mix + noise / np.sqrt(FEATURES) * rng.normal(size=(len(Y), FEATURES))
    return sets.Part(sets.with_constant(sets.unit_rows(X)), Y)


def _loss(train: sets.Part, test: sets.Part, C: float, R: Any) -> float:
    model = peers.m3l(train, C=C, prior=R, tol=0.01)
    return round(100 * float(np.mean(model.predict(test.X) != test.Y)), 3)


def best(result: Result, name: str) -> Any:
    """Return the losses per repetition, at the C that is best on average."""
    found = np.array(result["loss"][name])
    return found[found.mean(axis=1).argmin()]


def gain(result: Result, name: str) -> tuple[float, float]:
    """Return the mean gain over one-vs-rest in points and its standard error, at the best C."""
    return compare.mean_and_error(list(best(result, "right 0") - best(result, name)))


def report(results: Results) -> list[Part]:
    shifted = [(own, result) for own, result in results.cells if own["rho"] > 0]
    gains = [(own, *gain(result, "right 1")) for own, result in shifted]
    clear = [(own, mean) for own, mean, error in gains if mean > 2 * error]
    harm = [(own, mean) for own, mean, error in gains if mean < -2 * error]
    ((_, base),) = results.where(**BASE)
    wrong = [gain(result, "wrong") for _, result in shifted]
    worse = sum(mean < -2 * error for mean, error in wrong)
    at_base = {name: best(base, name).mean() for name in ("right 0", "right 1", "matched")}
    largest = max(gains, key=lambda each: each[1])
    return [
        Verdict(
            "Under a shift of label correlations, M3L with the right prior beats independent "
            "training.",
            f"here correlations are reversed. The right prior is better by more than two standard "
            f"errors in {len(clear)} of {len(gains)} settings and worse in {len(harm)}; the gain "
            f"is {min(mean for _, mean, _ in gains):+.2f} to {largest[1]:+.2f} points, largest at "
            f"{_described(largest[0])}.",
            compare.holds(len(clear), len(gains)),
        ),
        Verdict(
            "A prior that forces labels to be correlated the wrong way does harm.",
            f"R with the correlations of the training set is worse than none by more than two "
            f"standard errors in {worse} of {len(wrong)} settings (difference "
            f"{min(mean for mean, _ in wrong):+.2f} to {max(mean for mean, _ in wrong):+.2f} "
            "points).",
            compare.holds(worse, len(wrong)),
        ),
        f"Not an experiment of the paper. {LABELS} labels in pairs; each label is relevant for "
        f"{FREQUENCY:.0%} of the rows, in training and test. {FEATURES} generated features, rows "
        f"of unit length, a constant feature, {TEST_ROWS:,} test rows. Unless varied: "
        f"{_described(BASE)}. Noise is the length of the noise vector, where that of the signal is "
        f"about {np.sqrt(FEATURES):.0f}. Every method has the best of {len(CS)} values of C in "
        f"hindsight, which an application could not choose on its training rows. At these values "
        f"one-vs-rest has {at_base['right 0']:.2f}%, the right prior {at_base['right 1']:.2f}%, "
        f"and one-vs-rest trained on as many rows with the test set's correlations "
        f"{at_base['matched']:.2f}%: the most that a prior could be expected to recover. "
        f"{_when(results)} Gain over one-vs-rest in points, means of "
        f"{len(best(base, 'wrong'))} repetitions:",
        Table(
            [
                *("setting", "one-vs-rest, %", *(f"R, s = {s:g}" for s in STRENGTHS[1:])),
                *("wrong R", "matched training"),
            ],
            [_row(results, name, value) for name in VARIED for value in VARIED[name]],
        ),
        Figure(
            "p4-reversal",
            lambda: _figure(results),
            "Gain of the right, the weaker and the wrong prior, by noise, rows and correlation",
        ),
    ]


def _when(results: Results) -> str:
    """Say by how much the right prior closes the gap to matched training, by setting."""
    shifted = [result for own, result in results.cells if own["rho"] > 0]
    shares = []
    for result in shifted:
        possible, error = gain(result, "matched")
        if possible > 2 * error:
            shares.append(gain(result, "right 1")[0] / possible)
    by_strength = [[gain(result, f"right {s:g}")[0] for s in STRENGTHS] for result in shifted]
    full_best = sum(max(gains) == gains[-1] for gains in by_strength)
    costlier = sum(gain(result, "wrong")[0] < -gain(result, "right 1")[0] for result in shifted)
    ends = []
    for name in VARIED:
        found = [
            gain(results.where(**{**BASE, name: value})[0][1], "right 1")[0]
            for value in (VARIED[name][0], VARIED[name][-1])
        ]
        ends.append(
            f"{found[0]:+.2f} points at {NAMES[name]} {VARIED[name][0]:g} and {found[1]:+.2f} at "
            f"{VARIED[name][-1]:g}"
        )
    return (
        f"**When the right prior helps:** its gain is {'; '.join(ends)}. Where matched training is "
        f"clearly better than one-vs-rest ({len(shares)} settings), it recovers {min(shares):.0%} "
        f"to {max(shares):.0%} of the difference. Full strength is best or equal in {full_best} of "
        f"{len(shifted)} settings. The wrong prior costs more than the right one gains in "
        f"{costlier} of {len(shifted)}."
    )


def _described(own: Settings) -> str:
    return f"{own['rows']:g} rows, noise {own['noise']:g}, rho = {own['rho']:g}"


def _row(results: Results, name: str, value: float) -> list[str]:
    ((_, result),) = results.where(**{**BASE, name: value})
    shown = [
        f"{mean:+.2f} ± {error:.2f}"
        for mean, error in (
            gain(result, each)
            for each in (*(f"right {s:g}" for s in STRENGTHS[1:]), "wrong", "matched")
        )
    ]
    return [f"{NAMES[name]} {value:g}", f"{best(result, 'right 0').mean():.2f}", *shown]


def _figure(results: Results) -> Any:
    panels = []
    shown = {
        "right 1": "right prior",
        "right 0.5": "right prior, half strength",
        "wrong": "wrong prior",
        "matched": "training with the test set's correlations",
    }
    for name, values in VARIED.items():
        lines = []
        for colour, (method, label) in enumerate(shown.items()):
            found = [gain(results.where(**{**BASE, name: value})[0][1], method) for value in values]
            lines.append(
                plots.Line(
                    label,
                    values,
                    [mean for mean, _ in found],
                    [error for _, error in found],
                    colour=colour,
                    dashed=method == "matched",
                )
            )
        panels.append(
            plots.Panel(
                f"By {NAMES[name]}",
                lines,
                NAMES[name],
                "gain over one-vs-rest, points",
                log_x=name != "rho",
                zero_line=True,
                ticks=values,
            )
        )
    return plots.lines(panels)


def covers(form: Form) -> str:
    return f"{form.pick(10, 50)} repetitions per setting"


EXPERIMENT = Experiment(
    "p4/reversal", "P4, Section 7.2: reversed correlations", cells, report, covers
)
