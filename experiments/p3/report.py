"""Shared by Figs. 2 and 3: verdicts, tables, and the plot of three panels.

The paper prints no numbers for these figures; the claims are from its text. It does not give the
values of S and R, the constants of the widths (delta, U, and whether the widths are those of the
theory), the order of ties, the order of the rows, or the S of the left panels. Rankings have a =
1/2, as the paper states for all experiments; a table has a = 1, as in Theorem 5.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from experiments import compare, plots
from experiments.experiment import Figure, Part, Result, Results, Table, Verdict
from experiments.p3.sweep import (
    NARROW,
    THEORY,
    TIME_PANEL_SLOTS,
    Sweep,
    panel_loss,
    relevant_labels,
)

MIN_DECREASE = 0.02
"""Relative decrease of a mean that counts as an improvement."""

PANELS = ("decreasing", "constant", "rank")
"""The losses of the paper's panels, all with a = 1/2."""

CLOSE = 1.1
"""A loss of up to this multiple of OBR's loss counts as close to it."""


def verdicts(sweep: Sweep, exception: bool) -> list[Part]:
    """Check the claims of the paper's text, at the theory's widths and at the best widths."""
    return [
        _over_time(sweep),
        _best_slots(sweep),
        _close_to_obr(sweep),
        _square_beats_logistic(sweep, exception),
    ]


def _verdict_of_both(counts: list[tuple[int, int]]) -> bool | None:
    """Combine the verdicts at both widths; if they differ, the claim holds in part."""
    marks = [compare.holds(*count) for count in counts]
    return marks[0] if marks[0] == marks[1] else None


WIDTHS = (("the widths of the theory", THEORY), ("the best widths", None))


def _over_time(sweep: Sweep) -> Verdict:
    counts, texts = [], []
    for title, width in WIDTHS:
        decreases = []
        for name in sweep.names:
            curve = sweep.of(name, "decreasing", width)[sweep.slots.index(TIME_PANEL_SLOTS)][
                "curve"
            ]
            early = next(value for end, value in curve if end * 10 >= sweep.rounds)
            decreases.append(1 - curve[-1][1] / early)
        counts.append((sum(decrease > MIN_DECREASE for decrease in decreases), len(decreases)))
        texts.append(
            f"with {title} the loss decreases by more than {MIN_DECREASE:.0%} for "
            f"{counts[-1][0]} of {counts[-1][1]} learners ({min(decreases):.0%} to "
            f"{max(decreases):.0%})"
        )
    return Verdict(
        "The average ℓ(a,c) improves over time.",
        f"from the first tenth of the rounds to all rounds, for S = {TIME_PANEL_SLOTS}: "
        f"{'; '.join(texts)}.",
        _verdict_of_both(counts),
    )


def _best_slots(sweep: Sweep) -> Verdict:
    counts, texts = [], []
    inner = sweep.slots[1:-1]
    for title, width in WIDTHS:
        places = {
            (name, played): sweep.slots[_least(sweep.losses(name, played, width))]
            for name in sweep.names
            for played in ("constant", "rank")
        }
        inside = [key for key, place in places.items() if place in inner]
        counts.append((len(inside), len(places)))
        found = {
            played: sorted({place for (_, own), place in places.items() if own == played})
            for played in ("constant", "rank")
        }
        texts.append(
            f"with {title} the lowest loss is inside the range of S in {len(inside)} of "
            f"{len(places)} cases (Hamming: S = {_listed(found['constant'])}; ranking: S = "
            f"{_listed(found['rank'])})"
        )
    return Verdict(
        "The Hamming loss and the ranking loss are lowest at an intermediate S.",
        "; ".join(texts) + ".",
        _verdict_of_both(counts),
    )


def _close_to_obr(sweep: Sweep) -> Verdict:
    counts, texts = [], []
    for title, width in WIDTHS:
        ratios = [
            ours / theirs
            for played in PANELS
            for name in sweep.names
            for ours, theirs in zip(
                sweep.losses(name, played, width), sweep.losses("OBR", played), strict=True
            )
        ]
        counts.append((sum(ratio <= CLOSE for ratio in ratios), len(ratios)))
        texts.append(
            f"with {title} the loss is at most {CLOSE:g} × OBR's in {counts[-1][0]} of "
            f"{counts[-1][1]} cases (median {median(ratios):.2f} ×, maximum {max(ratios):.1f} ×)"
        )
    return Verdict(
        "The performance is always close to that of OBR, which sees all labels.",
        "; ".join(texts) + ".",
        _verdict_of_both(counts),
    )


def _square_beats_logistic(sweep: Sweep, exception: bool) -> Verdict:
    counts, texts = [], []
    others = [name for name in sweep.names if name != "square"]
    for title, width in WIDTHS:
        parts, as_claimed = [], []
        for played, loss in (
            ("decreasing", "ℓ(a,c)"),
            ("constant", "Hamming"),
            ("rank", "rank"),
        ):
            ours = sweep.losses("square", played, width)
            theirs = zip(*(sweep.losses(name, played, width) for name in others), strict=True)
            won = sum(own < min(other) for own, other in zip(ours, theirs, strict=True))
            parts.append(f"{loss} {won} of {len(ours)}")
            mostly_better = 2 * won > len(ours)
            as_claimed.append(mostly_better != (exception and played == "rank"))
        counts.append((sum(as_claimed), len(as_claimed)))
        texts.append(
            f"with {title} it beats all logistic learners at this many values of S: "
            f"{', '.join(parts)}"
        )
    return Verdict(
        "The square loss often gives better results than the logistic one"
        + (", but not for the ranking loss." if exception else "."),
        "; ".join(texts) + ".",
        _verdict_of_both(counts),
    )


def _least(values: list[float]) -> int:
    return values.index(min(values))


def _listed(values: list[int]) -> str:
    return ", ".join(map(str, values))


def tables(sweep: Sweep) -> list[Part]:
    """Tabulate the final losses by S, at both widths."""
    names = ["OBR", *sweep.names]
    found: list[Part] = []
    for played, what in (
        ("constant", "Hamming loss (constant c)"),
        ("rank", "Ranking loss over S, decreasing c"),
        ("decreasing", "ℓ(a,c), decreasing c"),
        ("ranking", "Ranking loss over S with a = 1: exactly S labels are shown, as in Theorem 5"),
    ):
        head = ["S", "nothing", "OBR"]
        head += [f"{name}, {width}" for name in sweep.names for width in ("theory", "best")]
        rows = []
        for place, slots in enumerate(sweep.slots):
            row = [f"{slots}", f"{sweep.nothing(played):.2f}"]
            for name in names:
                widths = (THEORY,) if name == "OBR" else (THEORY, None)
                row += [f"{sweep.losses(name, played, width)[place]:.2f}" for width in widths]
            rows.append(row)
        best = ", ".join(f"{name}: {sweep.best(name, played):g}" for name in sweep.names)
        text = f"{what}. Best multiples of the theory's widths: {best}."
        found += [text, Table(head, rows)]
    return found


def effect_of_widths(sweep: Sweep) -> str:
    """Describe the effect of the widths on the shown labels."""
    place = sweep.slots.index(TIME_PANEL_SLOTS)
    theory = sweep.of("square", "constant")[place]
    best = sweep.of("square", "constant", None)[place]
    obr = sweep.of("OBR", "constant")[place]
    return (
        f"**Effect of the widths.** At S = {TIME_PANEL_SLOTS} with constant c, the square loss "
        f"with the theory's widths shows {theory['shown']:.1f} labels per round, "
        f"{theory['hits']:.2f} of them relevant. With {sweep.best('square', 'constant'):g} times "
        f"these widths it shows {best['shown']:.1f}, {best['hits']:.2f} of them relevant. OBR "
        f"shows {obr['shown']:.1f}, {obr['hits']:.2f} of them relevant."
    )


def cost_of_narrow_widths(sweep: Sweep) -> str:
    """Describe how often the most common label is shown, with narrow widths."""
    played = sweep.of("square", "constant", None)
    shares = ", ".join(
        f"{one['common']:.0%} (S = {slots})" for slots, one in zip(sweep.slots, played, strict=True)
    )
    obr = sweep.of("OBR", "constant")[sweep.slots.index(TIME_PANEL_SLOTS)]["common"]
    return (
        "**Cost of narrow widths.** With constant c, a label is shown only if the upper bound of "
        "its probability is above 1/2. A label below that gets no feedback, until its width, which "
        "grows with the logarithm of the rounds, raises the bound. The most common label is "
        f"relevant in {sweep.obr['likely']:.0%} of the rounds; the square loss at its best width "
        f"shows it in {shares} of the rounds, OBR in {obr:.0%}."
    )


def yardstick(sweep: Sweep) -> str:
    """Describe in how many cases lists cost less than showing nothing."""
    texts = []
    for title, name, width in (
        ("OBR", "OBR", THEORY),
        ("the learners with the widths of the theory", None, THEORY),
        ("the learners with the best widths", None, None),
    ):
        names = sweep.names if name is None else [name]
        below = [
            loss < sweep.nothing(played)
            for played in PANELS
            for own in names
            for loss in sweep.losses(own, played, width)
        ]
        texts.append(f"{title} in {sum(below)} of {len(below)} cases")
    return (
        "**Showing nothing as a yardstick.** An empty list costs "
        f"{sweep.nothing('decreasing'):.2f} in ℓ(a,c) and {sweep.nothing('constant'):.2f} in the "
        f"Hamming loss and in the ranking loss over S. The lists cost less for {'; '.join(texts)}. "
        f"{_where_nothing_wins(sweep)}"
    )


def _where_nothing_wins(sweep: Sweep) -> str:
    """Say for which S showing nothing beats all learners with partial feedback, and why."""
    found = []
    for panel, title in (
        ("decreasing", "ℓ(a,c)"),
        ("constant", "Hamming loss"),
        ("rank", "ranking loss"),
    ):
        best = zip(*(sweep.losses(name, panel, None) for name in sweep.names), strict=True)
        lost = [
            slots
            for slots, losses in zip(sweep.slots, best, strict=True)
            if min(losses) >= sweep.nothing(panel)
        ]
        if lost:
            found.append(f"{title} at S = {_listed(lost)}")
    if not found:
        return "At its best width, some learner beats showing nothing at every S in all losses."
    place = sweep.slots.index(TIME_PANEL_SLOTS)
    ours, obr = (sweep.of(name, "constant", None)[place] for name in ("square", "OBR"))
    shares = [one["hits"] / one["shown"] if one["shown"] else 0.0 for one in (ours, obr)]
    return (
        "**Showing nothing beats every learner with partial feedback**, each at its best width, "
        f"in {'; '.join(found)}. The reason: a list pays in the Hamming loss only if more than "
        "half of its labels are relevant, but a learner with partial feedback must show labels of "
        "unknown relevance to learn about them, and it pays for each that is not relevant. At S = "
        f"{TIME_PANEL_SLOTS} with constant c, {shares[0]:.0%} of the labels that the square loss "
        f"shows at its best width are relevant; of those that OBR shows, which learns about all "
        f"labels without showing them, {shares[1]:.0%}."
    )


def variants(results: Results) -> Table:
    """Tabulate the effect of the other open choices, beside the losses of showing nothing."""
    found: dict[str, dict[tuple[str, float], Result]] = {}
    for own, result in results.cells:
        if "variant" in own:
            key = own["game"], own["learner"]["exploration"]
            found.setdefault(own["variant"], {})[key] = result["slots"][0]
    head = ["square loss"]
    head += [
        f"{title}, {what}"
        for title in ("ℓ(a,c)", "Hamming")
        for what in ("nothing", "theory", f"{NARROW:g}")
    ]
    rows = []
    for name, played in found.items():
        # Another order of the rows has other rows in the quick form, so another loss of nothing.
        missed = relevant_labels(played["constant", THEORY])
        row = [name]
        for game, nothing in (("decreasing", missed / 2), ("constant", missed)):
            losses = [panel_loss(played[game, width], game) for width in (THEORY, NARROW)]
            row += [f"{value:.2f}" for value in (nothing, *losses)]
        rows.append(row)
    return Table(head, rows)


def figure(name: str, sweep: Sweep, alt: str) -> Figure:
    """Return the paper's three panels: theory's widths in the top row, best widths below."""

    def draw() -> Any:
        panels = []
        for title, width in (("theory's widths", THEORY), ("best widths", None)):
            panels += [
                plots.Panel(
                    f"ℓ(a,c) over time, {title}",
                    [_curve(sweep, own, width) for own in ["OBR", *sweep.names]]
                    + [_nothing(sweep, "decreasing", [sweep.rounds // 50, sweep.rounds])],
                    f"rounds (S = {TIME_PANEL_SLOTS})",
                    "running mean",
                ),
                *(
                    plots.Panel(
                        f"{what}, {title}",
                        [
                            plots.Line(
                                own,
                                sweep.slots,
                                sweep.losses(own, played, width),
                                colour=_colour(sweep, own),
                                dashed=own == "OBR",
                            )
                            for own in ["OBR", *sweep.names]
                        ]
                        + [_nothing(sweep, played, sweep.slots)],
                        "S",
                        "mean over the rounds",
                        log_x=True,
                        log_y=True,
                        ticks=sweep.slots,
                    )
                    for played, what in (
                        ("constant", "Hamming loss"),
                        ("rank", "ranking loss / S"),
                    )
                ),
            ]
        return plots.lines(panels)

    return Figure(name, draw, alt)


def _curve(sweep: Sweep, name: str, width: float | None) -> plots.Line:
    curve = sweep.of(name, "decreasing", width)[sweep.slots.index(TIME_PANEL_SLOTS)]["curve"]
    # The first rounds are similar for all learners and would dominate the scale.
    kept = [(end, value) for end, value in curve if end * 50 >= sweep.rounds]
    ends, values = zip(*kept, strict=True)
    return plots.Line(
        name,
        ends,
        values,
        colour=_colour(sweep, name),
        dashed=name == "OBR",
        markers=False,
    )


def _nothing(sweep: Sweep, panel: str, places: list[int]) -> plots.Line:
    values = [sweep.nothing(panel)] * len(places)
    return plots.Line("nothing", places, values, colour=6, dashed=True, markers=False)


def _colour(sweep: Sweep, name: str) -> int:
    return ["OBR", *sweep.names].index(name) if name != "OBR" else 5


def describe_setup(sweep: Sweep) -> str:
    """Describe the runs and the choices that the paper leaves open."""
    widths = _listed_numbers(sweep.widths)
    return (
        f"{sweep.rounds:,} rounds, {sweep.labels} labels, rows of unit length in stream order, one "
        "pass; losses are means over the rounds. The paper's text makes claims, but prints no "
        "numbers for the figures. It does not give the values of S and R, δ, U, the order of ties, "
        "the order of the rows, or the S of the panels over time. Here U is unknown (Remark 1, "
        "with the minimum in place of the printed maximum), δ = 0.05, ties of probabilities are "
        f"ordered by width, and S = {TIME_PANEL_SLOTS} over time. Widths are multiplied by "
        f"{widths}; 1 is the theory, and the best multiple is chosen in hindsight, per learner and "
        "game. The paper states a = 1/2 for all experiments, and so do the panels and verdicts; "
        "its theory of rankings has a near 1, for which the last of the tables of losses is."
    )


def _listed_numbers(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
