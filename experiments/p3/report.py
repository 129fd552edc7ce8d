"""What Figs. 2 and 3 share: verdicts, tables and the picture of three panels.

The paper prints no numbers of these figures; its claims are those of its text. It leaves open the
values of S and R, the constants of the widths (delta, U, whether they are used as in the theory),
how ties are broken, the order of the rows, the S of the left panels, and whether the rankings were
made with a = 1/2, as said of all experiments, or with a near 1, as in Theorem 5.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from experiments import compare, plots
from experiments.experiment import Figure, Part, Results, Table, Verdict
from experiments.p3.sweep import LEFT, THEORY, Sweep, shown_loss

FALL = 0.02
"""By how much a mean must have fallen to count as better."""

CLOSE = 1.1
"""Up to this multiple of OBR's loss counts as close to it."""


def verdicts(sweep: Sweep, exception: bool) -> list[Part]:
    """The claims of the paper's text, at the theory's widths and at the best ones."""
    return [
        _over_time(sweep),
        _best_slots(sweep),
        _close(sweep),
        _square(sweep, exception),
    ]


def _both(counts: list[tuple[int, int]]) -> bool | None:
    """A claim holds where it holds at both widths, and in part where it does at one."""
    marks = [compare.holds(*count) for count in counts]
    return marks[0] if marks[0] == marks[1] else None


WAYS = (("the widths of the theory", THEORY), ("the best widths", None))


def _over_time(sweep: Sweep) -> Verdict:
    counts, texts = [], []
    for said, width in WAYS:
        falls = []
        for name in sweep.names:
            curve = sweep.of(name, "decreasing", width)[sweep.slots.index(LEFT)]["curve"]
            early = next(value for end, value in curve if end * 10 >= sweep.rounds)
            falls.append(1 - curve[-1][1] / early)
        counts.append((sum(fall > FALL for fall in falls), len(falls)))
        texts.append(
            f"with {said} it falls by more than {FALL:.0%} for {counts[-1][0]} of "
            f"{counts[-1][1]} learners ({min(falls):.0%} to {max(falls):.0%})"
        )
    return Verdict(
        "The average ℓ(a,c) improves over time.",
        f"from a tenth of the rounds to all of them, S = {LEFT}: {'; '.join(texts)}.",
        _both(counts),
    )


def _best_slots(sweep: Sweep) -> Verdict:
    counts, texts = [], []
    inner = sweep.slots[1:-1]
    for said, width in WAYS:
        places = {
            (name, played): sweep.slots[_least(sweep.losses(name, played, width))]
            for name in sweep.names
            for played in ("constant", "ranking")
        }
        inside = [key for key, place in places.items() if place in inner]
        counts.append((len(inside), len(places)))
        found = {
            played: sorted({place for (_, own), place in places.items() if own == played})
            for played in ("constant", "ranking")
        }
        texts.append(
            f"with {said} the least loss lies inside the range of S in {len(inside)} of "
            f"{len(places)} cases (Hamming: S = {_listed(found['constant'])}; ranking: S = "
            f"{_listed(found['ranking'])})"
        )
    return Verdict(
        "There is a best S, between few labels and many, for the Hamming and the ranking loss.",
        "; ".join(texts) + ".",
        _both(counts),
    )


def _close(sweep: Sweep) -> Verdict:
    counts, texts = [], []
    for said, width in WAYS:
        ratios = [
            ours / theirs
            for played in ("decreasing", "constant", "ranking")
            for name in sweep.names
            for ours, theirs in zip(
                sweep.losses(name, played, width), sweep.losses("OBR", played), strict=True
            )
        ]
        counts.append((sum(ratio <= CLOSE for ratio in ratios), len(ratios)))
        texts.append(
            f"with {said} the loss is at most {CLOSE:g} × OBR's in {counts[-1][0]} of "
            f"{counts[-1][1]} cases, {median(ratios):.2f} × in the median and {max(ratios):.1f} × "
            "at most"
        )
    return Verdict(
        "The performance is always pretty close to that of OBR, which sees all labels.",
        "; ".join(texts) + ".",
        _both(counts),
    )


def _square(sweep: Sweep, exception: bool) -> Verdict:
    counts, texts = [], []
    others = [name for name in sweep.names if name != "square"]
    for said, width in WAYS:
        parts, right = [], []
        for played, what in (
            ("decreasing", "ℓ(a,c)"),
            ("constant", "Hamming"),
            ("ranking", "rank"),
        ):
            ours = sweep.losses("square", played, width)
            theirs = zip(*(sweep.losses(name, played, width) for name in others), strict=True)
            won = sum(own < min(other) for own, other in zip(ours, theirs, strict=True))
            parts.append(f"{what} {won} of {len(ours)}")
            as_said = 2 * won > len(ours)
            right.append(as_said != (exception and played == "ranking"))
        counts.append((sum(right), len(right)))
        texts.append(f"with {said} it beats every logistic one at {', '.join(parts)} values of S")
    return Verdict(
        "The square loss often gives better results than the logistic one"
        + (", but not for the ranking loss." if exception else "."),
        "; ".join(texts) + ".",
        _both(counts),
    )


def _least(values: list[float]) -> int:
    return values.index(min(values))


def _listed(values: list[int]) -> str:
    return ", ".join(map(str, values))


def tables(sweep: Sweep) -> list[Part]:
    """The final losses by S, at both widths."""
    names = ["OBR", *sweep.names]
    found: list[Part] = []
    for played, what in (
        ("constant", "Hamming loss (constant c)"),
        ("ranking", "Ranking loss over S (a = 1: exactly S labels are shown)"),
        ("decreasing", "ℓ(a,c), decreasing c"),
    ):
        head = ["S", "OBR"]
        head += [f"{name}, {way}" for name in sweep.names for way in ("theory", "best")]
        rows = []
        for place, slots in enumerate(sweep.slots):
            row = [f"{slots}"]
            for name in names:
                ways = (THEORY,) if name == "OBR" else (THEORY, None)
                row += [f"{sweep.losses(name, played, way)[place]:.2f}" for way in ways]
            rows.append(row)
        best = ", ".join(f"{name}: {sweep.best(name, played):g}" for name in sweep.names)
        found += [f"{what}. The best multiples of the theory's widths: {best}.", Table(head, rows)]
    return found


def what_is_shown(sweep: Sweep) -> str:
    """What the widths do, in one sentence."""
    place = sweep.slots.index(LEFT)
    theory = sweep.of("square", "constant")[place]
    best = sweep.of("square", "constant", None)[place]
    obr = sweep.of("OBR", "constant")[place]
    return (
        f"**What the widths do.** At S = {LEFT} with constant c, the square loss with the theory's "
        f"widths shows {theory['shown']:.1f} labels a round, of which {theory['hits']:.2f} are "
        f"right; with {sweep.best('square', 'constant'):g} of them {best['shown']:.1f}, of which "
        f"{best['hits']:.2f} are right; OBR {obr['shown']:.1f}, of which {obr['hits']:.2f} are."
    )


def what_is_lost(sweep: Sweep) -> str:
    """How often the label that is relevant most often is shown, with narrow widths."""
    played = sweep.of("square", "constant", None)
    shares = ", ".join(
        f"{one['common']:.0%} (S = {slots})" for slots, one in zip(sweep.slots, played, strict=True)
    )
    obr = sweep.of("OBR", "constant")[sweep.slots.index(LEFT)]["common"]
    return (
        "**What narrow widths lose.** With constant c a label is shown only where it may be "
        "likelier than not. Where it falls below that, nothing more is learnt of it until its "
        "width, which grows with the logarithm of the rounds, brings it back. The most common "
        f"label is relevant in {sweep.obr['likely']:.0%} of the rounds; the square loss at its "
        f"best width shows it in {shares}, OBR in {obr:.0%}."
    )


def literal_ranking(sweep: Sweep) -> Part:
    """The ranking loss if a = 1/2 is taken at its word."""
    rows = []
    for name in ["OBR", *sweep.names]:
        for said, width in WAYS[: 1 if name == "OBR" else 2]:
            values = [one["rank"] for one in sweep.of(name, "decreasing", width)]
            label = name if name == "OBR" else f"{name}, {said.removeprefix('the ')}"
            rows.append([label, *(f"{value:.2f}" for value in values)])
    return Table(["ranking loss over S, a = 1/2", *(f"S = {s}" for s in sweep.slots)], rows)


def variants(results: Results) -> Table:
    """What the other open choices do."""
    found: dict[str, list[float]] = {}
    for own, result in results.cells:
        if "variant" in own:
            found.setdefault(own["variant"], []).append(shown_loss(result["slots"][0], own["game"]))
    head = ["square loss", "ℓ(a,c), theory", "Hamming, theory", "ℓ(a,c), 0.01", "Hamming, 0.01"]
    return Table(
        head, [[name, *(f"{value:.2f}" for value in values)] for name, values in found.items()]
    )


def figure(name: str, sweep: Sweep, alt: str) -> Figure:
    """Three panels as in the paper, above with the theory's widths, below with the best."""

    def draw() -> Any:
        panels = []
        for said, width in (("theory's widths", THEORY), ("best widths", None)):
            panels += [
                plots.Panel(
                    f"ℓ(a,c) over time, {said}",
                    [_curve(sweep, own, width) for own in ["OBR", *sweep.names]],
                    f"rounds (S = {LEFT})",
                    "mean so far",
                ),
                *(
                    plots.Panel(
                        f"{what}, {said}",
                        [
                            plots.Line(
                                own,
                                sweep.slots,
                                sweep.losses(own, played, width),
                                colour=_colour(sweep, own),
                                dashed=own == "OBR",
                            )
                            for own in ["OBR", *sweep.names]
                        ],
                        "S",
                        "mean over the rounds",
                        log_x=True,
                        log_y=True,
                        ticks=sweep.slots,
                    )
                    for played, what in (
                        ("constant", "Hamming loss"),
                        ("ranking", "ranking loss / S"),
                    )
                ),
            ]
        return plots.lines(panels)

    return Figure(name, draw, alt)


def _curve(sweep: Sweep, name: str, width: float | None) -> plots.Line:
    curve = sweep.of(name, "decreasing", width)[sweep.slots.index(LEFT)]["curve"]
    # The first rounds are much the same for all, and would set the scale.
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


def _colour(sweep: Sweep, name: str) -> int:
    return ["OBR", *sweep.names].index(name) if name != "OBR" else 5


def opening(sweep: Sweep) -> str:
    """What was run, and what the paper leaves open."""
    widths = _listed_numbers(sweep.widths)
    return (
        f"{sweep.rounds:,} rounds, {sweep.labels} labels, rows of unit length in their order, one "
        "pass; losses are means over the rounds. The paper's text has the claims, but prints no "
        "numbers of the figures. It does not give the values of S and R, δ, U, how ties are "
        "broken, the order of the rows, or the S of the panels over time. Here U is unknown "
        "(Remark 1, with the minimum for the printed maximum), δ = 0.05, equal probabilities are "
        f"ordered by width, and S = {LEFT} over time. Widths are multiplied by {widths}; 1 is the "
        "theory, and the best is chosen with hindsight, a value a learner and game. All "
        "experiments have a = 1/2, it says, while its theory of rankings has a near 1: the panel "
        "has a = 1, and a table below a = 1/2."
    )


def _listed_numbers(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
